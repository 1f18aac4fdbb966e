"""Rows that losses and metrics take together, by the values of a column."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from polyrec.data.grouping import NO_VALUE, group_ids


def ids(values: Any) -> np.ndarray:
    array = values if isinstance(values, pa.Array) else pa.array(values)
    found = group_ids(pa.record_batch({"user": array}), "user")
    assert found.dtype == np.int64
    return found


def together(values: Any) -> list[int]:
    """Of each row the first that it goes with."""
    found = ids(values).tolist()
    return [found.index(value) for value in found]


@pytest.mark.parametrize(
    "values",
    [
        ["ann", "bob", "ann", "bob"],
        [7, -1, 7, -1],
        [0.5, 2.0, 0.5, 2.0],
        [True, False, True, False],
        [2**63 - 1, -(2**63), 2**63 - 1, -(2**63)],
        [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)] * 2,
        [b"ann", b"bob", b"ann", b"bob"],
        pa.array(["ann", "bob", "ann", "bob"]).dictionary_encode(),
    ],
)
def test_rows_of_equal_values_go_together_whatever_their_type(values: Sequence[Any]) -> None:
    assert together(values) == [0, 1, 0, 1]


def test_the_first_of_several_values_counts_and_none_is_a_group_too() -> None:
    assert together([["a", "b"], ["a"], ["b", "a"], [], None, [None, "b"]]) == [0, 0, 2, 3, 3, 2]
    assert together(["a", None, "b", None]) == [0, 1, 2, 1]
    assert ids([None, 3])[0] == NO_VALUE


def test_numbers_are_the_same_in_every_batch_file_and_process() -> None:
    """So they depend on nothing but the value: murmur64 of its text, modulo 2**63 - 1."""
    assert ids(["12", "x"])[0] == ids([12])[0] == ids(pa.array([12], pa.int8()))[0] == ids([12.0])[0]
    assert ids(pa.array(["b", "a"]).dictionary_encode())[1] == ids(["a"])[0]


def test_many_values_stay_apart() -> None:
    assert len(np.unique(ids(np.arange(100_000)))) == 100_000

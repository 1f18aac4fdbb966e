"""Numbers of a row made one, by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from polyrec.data.columns import RowError
from polyrec.features.operators.combine import Combine


def combined(column: Any, **fields: Any) -> list[float | None]:
    operator = Combine(**{"column": "c", "combiner": "sum", "separator": "|", **fields})
    return operator.apply(pa.record_batch({"c": column})).to_pylist()


@pytest.mark.parametrize(
    ("combiner", "wanted"),
    [
        ("sum", [8.5, 7, -3]),
        ("mean", [8.5 / 3, 7, -1.5]),
        ("min", [1, 7, -2]),
        ("max", [5, 7, -1]),
        ("count", [3, 1, 2]),
        ("gap_min", [2.5, None, 1]),
        ("gap_max", [4, None, 1]),
    ],
)
def test_each_combiner(combiner: str, wanted: list[float | None]) -> None:
    rows = ["1|5|2.5", "", None, "7", "-1|-2"]
    every = [wanted[0], None, None, wanted[1], wanted[2]]
    assert combined(rows, combiner=combiner) == every
    lists = pa.array([[1, 5, 2.5], [], None, [7], [-1, -2]], pa.list_(pa.float32()))
    assert combined(lists, combiner=combiner) == every
    assert combined(lists.slice(3), combiner=combiner) == every[3:]
    assert combined(pa.array([[1, None, 5, float("nan"), 2.5]]), combiner=combiner) == wanted[:1]


def test_a_map_from_texts_to_numbers() -> None:
    numbers = {"click": 1.5, "buy": 5.0, "7": 0.25}
    assert combined(["click|buy", "click|view", "view", "7", None], value_map=numbers) == [6.5, 1.5, None, 0.25, None]
    assert combined(pa.array([[7, 8], [8]]), value_map=numbers) == [0.25, None]
    assert combined(pa.array(["buy", "view", "click"]).dictionary_encode(), value_map=numbers) == [5, None, 1.5]


def test_whole_numbers_are_cut_towards_zero() -> None:
    assert combined(["1|1.9", "-0.5|-1", None], truncate=True) == [2, -1, None]
    operator = Combine(column="c", combiner="mean", truncate=True)
    assert operator.apply(pa.record_batch({"c": [3.99]})).type == pa.int64()


def test_what_is_no_number_is_an_error_in_its_row() -> None:
    with pytest.raises(RowError, match="column c: row 1: cannot read 'x' as a number"):
        combined(["1|2", "3|x"])


def test_a_sum_is_that_of_the_row_alone() -> None:
    row = [0.1] * 10
    alone = combined(pa.array([row]))
    assert combined(pa.array([[1e16] * 7, row, [1e-9] * 3]))[1:2] == alone


def test_vectors_are_combined_place_by_place() -> None:
    rows = ["1,2;3,5", "", None, "7,-1"]
    form = {"separator": ";", "size": 2}
    assert combined(rows, **form) == [[4, 7], [], [], [7, -1]]
    assert combined(rows, combiner="max", **form) == [[3, 5], [], [], [7, -1]]
    assert combined(["1|2;3|5"], combiner="mean", value_separator="|", **form) == [[2, 3.5]]
    lists = pa.array([[[1.0, 2.0], [3.0, 5.0]], [], None])
    assert combined(lists, combiner="min", **form) == [[1, 2], [], []]
    with pytest.raises(RowError, match="row 1: a value of 3 numbers, where 2 are needed"):
        combined(["1,2", "1,2;1,2,3"], **form)
    with pytest.raises(ValueError, match="vectors have no value_map"):
        Combine(column="c", combiner="sum", size=2, truncate=True)

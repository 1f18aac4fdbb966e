"""Values as lists, by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from polyrec.errors import DataError
from polyrec.features.operators.listed import Listed


def listed(column: Any, **fields: Any) -> list[list[str]]:
    return Listed(column="c", **fields).apply(pa.record_batch({"c": column})).to_pylist()


@pytest.mark.parametrize(
    "column",
    [
        ["a|b|c", "", None, "d", "|e"],
        pa.array([["a", "b", "c"], [], None, ["d"], ["", "e"]]),
        pa.array([["a|b", "c"], [""], [], ["d", None], ["|e"]]),
        pa.array(["a|b|c", "", None, "d", "|e"]).dictionary_encode(),
    ],
)
def test_texts_and_lists_of_texts_are_divided(column: Any) -> None:
    assert listed(column, separator="|") == [["a", "b", "c"], [], [], ["d"], ["e"]]
    assert listed(column, separator="|", default="z") == [["a", "b", "c"], ["z"], ["z"], ["d"], ["e"]]
    assert listed(column, separator="|", most=2) == [["a", "b"], [], [], ["d"], ["e"]]


def test_numbers_become_texts() -> None:
    assert listed([3, None, 12], default="0") == [["3"], ["0"], ["12"]]
    assert listed(pa.array([[1.0, 0.5], []]), separator="|") == [["1", "0.5"], []]


def test_without_a_separator_a_text_is_one_value() -> None:
    assert listed(["a|b", None]) == [["a|b"], []]


def test_lists_of_lists_are_refused() -> None:
    with pytest.raises(DataError, match="column c"):
        listed(pa.array([[[1]]]))

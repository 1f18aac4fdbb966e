"""Values where a mask is true, by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from polyrec.data.columns import RowError
from polyrec.features.operators.bool_mask import BoolMask


def masked(values: Any, mask: Any, separator: str | None = ",") -> list[Any]:
    operator = BoolMask(values="v", mask="m", separator=separator)
    return operator.apply(pa.record_batch({"v": values, "m": mask})).to_pylist()


@pytest.mark.parametrize(
    ("values", "mask", "wanted"),
    [
        ("123,456,90,80", "true,false,true,false", ["123", "90"]),
        ("123,456,90,80", [1, 0, 1, 0], ["123", "90"]),
        ([1, 2, 3, 4], [1, 0, 1, 0], [1, 3]),
        ([1, 2, 3, 4], "true,false,true,false", [1, 3]),
        ([1.5, 2.5], [True, False], [1.5]),
        (["a", None, "b"], [True, True, None], ["a", None]),
        ("a,b,c,d,e,f", "TRUE, True ,0.0,2,,-1", ["a", "b", "d", "f"]),
        ([[1, 2], [3]], [False, True], [[3]]),
        ("a", "true", ["a"]),
        (7, True, [7]),
        (7, 0, []),
    ],
)
def test_known_masks(values: Any, mask: Any, wanted: list[Any]) -> None:
    assert masked([values], [mask]) == [wanted]


def test_a_row_without_a_mask_or_without_values_keeps_nothing() -> None:
    assert masked(["a,b", "", None, "c"], ["", "true", None, "true"]) == [[], [], [], ["c"]]
    assert masked(pa.array([["a", "b"], ["c"]]).slice(1), pa.array([None, [1]])[1:]) == [["c"]]


def test_as_many_truths_as_values() -> None:
    with pytest.raises(RowError, match="column m: row 1: 1 truths for the 2 values of column v"):
        masked(["a", "a,b"], ["1", "1"])


def test_what_is_neither_true_nor_false_is_an_error() -> None:
    with pytest.raises(RowError, match="column m: row 1: cannot read 'yes' as a number; write true or false"):
        masked(["a", "a,b"], ["1", "0,yes"])


def test_without_a_separator_a_text_is_one_value() -> None:
    assert masked(["a,b", "c"], ["true", "false"], separator=None) == [["a,b"], []]

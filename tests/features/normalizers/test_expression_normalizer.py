from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.data.columns import RowError
from polyrec.features._values import ElementError
from polyrec.features.normalizers.expression import Expression
from polyrec.features.raw import RawFeature


def test_a_formula_of_x() -> None:
    out = Expression(text="x > 0 ? log10(x) : -1").apply(np.array([[1, 100], [0, -5]], np.float32))
    assert out.tolist() == [[0, 2], [-1, -1]]
    assert out.dtype == np.float32


def test_it_is_computed_in_float64() -> None:
    out = Expression(text="(x + 100000000) - 100000000").apply(np.array([1], np.float32))
    assert out.tolist() == [1]


def test_a_formula_without_x_is_the_same_everywhere() -> None:
    assert Expression(text="2").apply(np.zeros((2, 2), np.float32)).tolist() == [[2, 2], [2, 2]]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("log(y)", "column 5 of the formula: y is no variable; variables: x"),
        ("1 + reduce_sum(x)", "column 5 of the formula: reduce_sum is of lists or texts; here are single numbers"),
        ("str_len(x)", "column 1 of the formula: str_len is of lists or texts; here are single numbers"),
    ],
)
def test_faults(text: str, what: str) -> None:
    with pytest.raises(ValidationError, match="1 validation error") as caught:
        Expression(text=text)
    assert caught.value.errors()[0]["msg"] == f"Value error, {what}"


def test_a_result_that_is_no_number_is_told_with_its_row() -> None:
    with pytest.raises(ElementError, match=r"log\(x\) is no number where x is -3; choose another result there"):
        Expression(text="log(x)").apply(np.array([1, -3], np.float32))
    feature = RawFeature(name="f", column="c", size=2, default=0, normalizer=Expression(text="log(x)"))
    rows = pa.record_batch({"c": pa.array([[1, 1], [None, 1], [None, -3]], pa.list_(pa.float32()))})
    with pytest.raises(RowError, match="column c: row 2: log"):
        feature.transform(rows)
    assert feature.transform(rows.slice(0, 2)).values.tolist() == [[0, 0], [0, 0]]

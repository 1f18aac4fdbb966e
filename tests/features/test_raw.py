from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from polyrec.errors import DataError
from polyrec.features.normalizers.log10 import Log10
from polyrec.features.normalizers.minmax import MinMax
from polyrec.features.raw import RawFeature


def numbers(values: Any, kind: pa.DataType | None = None, **fields: Any) -> list[list[float]]:
    array = values if isinstance(values, pa.Array) else pa.array(values, kind)
    feature = RawFeature(**{"name": "f", "column": "price", "default": None, **fields})
    out = feature.transform(pa.record_batch({"price": array})).values
    assert out.dtype == np.float32
    assert out.shape == (len(array), feature.width)
    assert out.flags.writeable
    return out.tolist()


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal128(9, 3), pa.decimal256(40, 3)],
    ids=str,
)
def test_numbers_of_any_type(kind: pa.DataType) -> None:
    values: list[Any] = [Decimal(1), None, Decimal(3)] if "decimal" in str(kind) else [1, None, 3]
    assert numbers(values, kind, default=9) == [[1], [9], [3]]


def test_bool_time_and_null() -> None:
    assert numbers([True, False]) == [[1], [0]]
    assert numbers([datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC)], pa.timestamp("s", "UTC")) == [[2]]
    assert numbers(pa.nulls(2), default=4) == [[4], [4]]


def test_numbers_from_text() -> None:
    texts = ["1.5", " -2 ", "+3e2", "", None, "   ", "nan"]
    assert numbers(texts, default=7) == [[1.5], [-2], [300], [7], [7], [7], [7]]
    assert numbers(pa.array(["1.5", None, "1.5"]).dictionary_encode(), default=7) == [[1.5], [7], [1.5]]


def test_text_is_read_as_float32_directly() -> None:
    assert numbers(["0.1", "16777217"]) == [[float(np.float32("0.1"))], [16777216]]


@pytest.mark.parametrize(
    ("values", "fields", "message"),
    [
        (
            ["1", *["2"] * 11, "n/a", "x"],
            {},
            "column price: row 12: cannot read 'n/a' as a number; correct it, or leave it empty and set a default",
        ),
        ([1.0, None], {}, "column price: row 1: a number is missing; set a default to accept that"),
        ([1.0, float("nan")], {}, "column price: row 1: a number is missing; set a default to accept that"),
        ([[1, 2], [3, None]], {"size": 2}, "column price: row 1: a number is missing; set a default to accept that"),
        ([[1, 2], None], {"size": 2}, "column price: row 1: a number is missing; set a default to accept that"),
        ([[1, 2], [3]], {"size": 2}, "column price: row 1: 1 number, where 2 are needed; correct the row, or the size"),
        ([1, 2], {"size": 2}, "column price: row 0: 1 number, where 2 are needed; correct the row, or the size"),
        ([[1], [1, 2]], {}, "column price: row 1: 2 numbers, where 1 are needed; correct the row, or the size"),
        (["1,2", "3,x"], {"size": 2, "separator": ","}, "column price: row 1: cannot read 'x' as a number"),
        ([[[1]]], {}, "column price: values of type list<item: int64> cannot be used"),
    ],
)
def test_errors_name_the_column_and_the_row(values: list[Any], fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        numbers(values, **fields)
    assert str(caught.value).startswith(message)


def test_several_numbers_in_a_row() -> None:
    assert numbers([[1, 2], [3, 4]], size=2) == [[1, 2], [3, 4]]
    assert numbers([[1, 2], None, [3, 4]], pa.list_(pa.float32(), 2), size=2, default=5) == [[1, 2], [5, 5], [3, 4]]
    assert numbers(["1|2", "3|4"], size=2, separator="|") == [[1, 2], [3, 4]]
    assert numbers([[1], [2]]) == [[1], [2]]


def test_the_default_stands_for_each_missing_number() -> None:
    assert numbers([[1, None], None, []], size=2, default=5) == [[1, 5], [5, 5], [5, 5]]
    assert numbers(["1,", "", None], size=2, separator=",", default=5) == [[1, 5], [5, 5], [5, 5]]
    assert numbers([None, None], pa.float64(), size=2, default=5) == [[5, 5], [5, 5]]


def test_slices() -> None:
    column = pa.array([[9.0, 9.0], [1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2))
    assert numbers(column.slice(1, 2), size=2, default=0) == [[1, 2], [0, 0]]
    assert numbers(pa.array([9.0, 1.0, 2.0], pa.float32()).slice(1)) == [[1], [2]]


def test_the_normalizer_scales_data_and_not_the_default() -> None:
    scaled = MinMax(low=0, high=4)
    assert numbers([1, None, 8], normalizer=scaled, default=3) == [[0.25], [3], [2]]
    assert numbers([1, 8], normalizer=scaled) == [[0.25], [2]]
    assert numbers([[1, None], [2, 4]], size=2, normalizer=scaled, default=3) == [[0.25, 3], [0.5, 1]]
    assert numbers([100, 0, None], normalizer=Log10(threshold=0, default=-10), default=3) == [[2], [-10], [3]]


def test_the_data_is_not_written_to() -> None:
    column = pa.array([1.0, 2.0], pa.float32())
    out = RawFeature.example().transform(pa.record_batch({"price": column})).values
    out += 1
    assert column.to_pylist() == [1, 2]


def test_no_rows() -> None:
    assert numbers([], pa.float32()) == []
    assert numbers([], pa.list_(pa.float32()), size=3) == []

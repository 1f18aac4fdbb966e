from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from polyrec.errors import DataError
from polyrec.features.normalizers.minmax import MinMax
from polyrec.features.sequence_raw import SequenceRawFeature


def vectors(values: Any, kind: pa.DataType | None = None, **fields: Any) -> list[list[list[float]]]:
    array = values if isinstance(values, pa.Array) else pa.array(values, kind)
    feature = SequenceRawFeature(**{"name": "f", "column": "c", "default": None, **fields})
    out = feature.transform(pa.record_batch({"c": array}))
    assert out.values.dtype == np.float32
    assert out.values.shape == (out.lengths.sum(), feature.width)
    assert out.lengths.dtype == np.int32
    return [part.tolist() for part in np.split(out.values, np.cumsum(out.lengths)[:-1])]


def test_one_number_at_each_position() -> None:
    assert vectors(["1;2.5", "3", "", None], separator=";") == [[[1], [2.5]], [[3]], [], []]
    assert vectors([[1, 2.5], [3], [], None]) == [[[1], [2.5]], [[3]], [], []]
    assert vectors([1.0, None]) == [[[1]], []]


def test_vectors_within_a_text() -> None:
    texts = ["1,2;3,4", "5,6", None]
    expected = [[[1, 2], [3, 4]], [[5, 6]], []]
    assert vectors(texts, separator=";", value_separator=",", size=2) == expected
    assert vectors([["1,2", "3,4"], ["5,6"], None], value_separator=",", size=2) == expected


def test_vectors_as_lists() -> None:
    values = [[[1, 2], [3, 4]], [[5, 6]], None]
    expected = [[[1, 2], [3, 4]], [[5, 6]], []]
    assert vectors(values, size=2) == expected
    assert vectors(values, pa.list_(pa.list_(pa.float32(), 2)), size=2) == expected
    column = pa.array([[[8, 8]], *values], pa.large_list(pa.list_(pa.int64())))
    assert vectors(column.slice(1), size=2) == expected


def test_a_plain_list_is_cut_into_vectors() -> None:
    assert vectors([[1, 2, 3, 4], [], [5, 6]], size=2) == [[[1, 2], [3, 4]], [], [[5, 6]]]
    assert vectors(["1;2;3;4"], size=2, separator=";", max_length=1) == [[[1, 2]]]


def test_the_head_is_kept() -> None:
    assert vectors(["1;2;3", "4"], separator=";", max_length=2) == [[[1], [2]], [[4]]]
    assert vectors([[[1, 2], [3, 4]], [[5, 6]]], size=2, max_length=1) == [[[1, 2]], [[5, 6]]]
    assert vectors(["1,2;3,4"], separator=";", value_separator=",", size=2, max_length=1) == [[[1, 2]]]


def test_the_default_stands_for_numbers_positions_and_rows() -> None:
    assert vectors(["1;;2", "", None], separator=";", default=7) == [[[1], [7], [2]], [[7]], [[7]]]
    assert vectors([[1, None], [], None], default=7) == [[[1], [7]], [[7]], [[7]]]
    texts = ["1,2;;,3", None]
    out = vectors(texts, separator=";", value_separator=",", size=2, default=7)
    assert out == [[[1, 2], [7, 7], [7, 3]], [[7, 7]]]
    assert vectors([[[1, 2], None, [None, 3]], []], size=2, default=7) == [[[1, 2], [7, 7], [7, 3]], [[7, 7]]]


def test_the_normalizer_scales_data_and_not_the_default() -> None:
    out = vectors([[1, None, 8], None], default=3, normalizer=MinMax(low=0, high=4))
    assert out == [[[0.25], [3], [2]], [[3]]]


@pytest.mark.parametrize(
    ("values", "fields", "message"),
    [
        ([[1], [2, None]], {}, "column c: row 1: a number is missing; set a default to accept that"),
        (["1", "2;x"], {"separator": ";"}, "column c: row 1: cannot read 'x' as a number"),
        ([[1, 2], [3, 4, 5]], {"size": 2}, "column c: row 1: 3 numbers cannot be cut into positions of 2"),
        ([[[1, 2], [3, 4]], [[5, 6], [7]]], {"size": 2}, "column c: row 1: 1 number, where 2 are needed"),
        ([[[1, 2], [3, 4]], [[5, 6], None]], {"size": 2}, "column c: row 1: a number is missing"),
        (
            [["1,2", "3,4"], ["5,x"]],
            {"size": 2, "value_separator": ","},
            "column c: row 1: cannot read 'x' as a number",
        ),
        ([[[[1]]]], {}, "column c: values of type list<"),
    ],
)
def test_errors_name_the_column_and_the_row(values: list[Any], fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        vectors(values, **fields)
    assert str(caught.value).startswith(message)


def test_shape() -> None:
    feature = SequenceRawFeature(name="f", column="c", size=3, default=None)
    assert (feature.rows, feature.width, feature.is_sequence, feature.inputs) == (None, 3, True, ("c",))

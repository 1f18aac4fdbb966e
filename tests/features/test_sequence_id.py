from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.data.columns import Ragged, RaggedBags
from polyrec.errors import DataError
from polyrec.features.buckets.hash import HashBucket
from polyrec.features.buckets.identity import IdentityBucket
from polyrec.features.sequence_id import SequenceIdFeature

SAME = IdentityBucket(rows=100, out_of_range="skip")


def ids(values: Any, kind: pa.DataType | None = None, **fields: Any) -> list[list[int]]:
    array = values if isinstance(values, pa.Array) else pa.array(values, kind)
    feature = SequenceIdFeature(**{"name": "f", "column": "c", "bucket": SAME, "default": None, **fields})
    out = feature.transform(pa.record_batch({"c": array}))
    assert out.values.dtype == np.int64
    assert out.lengths.dtype == np.int32
    assert out.weights is None
    return [part.tolist() for part in np.split(out.values, np.cumsum(out.lengths)[:-1])]


def test_positions_of_a_text() -> None:
    assert ids(["3;1;2", "7", "", None], separator=";") == [[3, 1, 2], [7], [], []]
    bucket = HashBucket(rows=100, function="murmur64")
    assert ids(["abc;efg;abc"], separator=";", bucket=bucket) == [[33, 44, 33]]


def test_positions_of_a_list() -> None:
    assert ids([[3, 1], [], None, [2]]) == [[3, 1], [], [], [2]]
    assert ids(pa.array([["9"], ["3", "1"], None]).slice(1)) == [[3, 1], []]


def test_the_head_is_kept() -> None:
    assert ids(["3;1;2", "7", "4;5"], separator=";", max_length=2) == [[3, 1], [7], [4, 5]]
    assert ids([[3, 1, 2], [7]], max_length=1, default="0") == [[3], [7]]


def test_without_a_default_positions_without_a_value_are_left_out_before_the_cut() -> None:
    assert ids(["3;;1;2"], separator=";", max_length=2) == [[3, 1]]
    assert ids([[3, None, 1]]) == [[3, 1]]


def test_the_default_keeps_positions() -> None:
    assert ids(["3;;1;2", "", None, ";"], separator=";", default="8") == [[3, 8, 1, 2], [8], [8], [8, 8]]
    assert ids([[3, None, 1], [], None], default="8", max_length=2) == [[3, 8], [8], [8]]


def test_values_without_an_id_are_left_out() -> None:
    assert ids([[3, 100, 1], [-1]]) == [[3, 1], []]
    assert ids([[3, 100, 1], [-1]], default="8") == [[3, 1], []]


def test_single_values() -> None:
    assert ids([3, None, 1]) == [[3], [], [1]]
    assert ids([3, None, 1], default="0") == [[3], [0], [1]]


def test_an_error_counts_the_positions_that_are_missing() -> None:
    with pytest.raises(DataError, match=r"^column c: row 2: cannot read 'x' as a whole number"):
        ids([None, "1;;2", ";;x"], separator=";", default="0")
    with pytest.raises(DataError, match=r"^column c: row 2: cannot read 'x' as a whole number"):
        ids([None, "1;;2", ";;x"], separator=";")


def test_a_position_of_several_ids_gives_its_first() -> None:
    assert ids([[[1, 2], [], [7]], [], None], default="0") == [[1, 0, 7], [0], [0]]
    assert ids([[[1, 2], [], [7]], []]) == [[1, 7], []]
    assert ids(["1,2;;7", None], separator=";", value_separator=",", default="0") == [[1, 0, 7], [0]]


def bags(values: Any, **fields: Any) -> list[list[Any]]:
    """For each row its positions, each a list of ids, or of pairs of id and weight."""
    array = values if isinstance(values, pa.Array) else pa.array(values)
    feature = SequenceIdFeature(name="f", column="c", bucket=SAME, several=True, **{"default": None, **fields})
    out = feature.transform(pa.record_batch({"c": array}))
    assert isinstance(out, RaggedBags)
    assert (out.values.dtype, out.counts.dtype, out.lengths.dtype) == (np.int64, np.int32, np.int32)
    items = out.values.tolist()
    if out.weights is not None:
        items = list(zip(items, out.weights.tolist(), strict=True))
    positions = [items[end - count : end] for end, count in zip(np.cumsum(out.counts), out.counts, strict=True)]
    rows = [positions[end - size : end] for end, size in zip(np.cumsum(out.lengths), out.lengths, strict=True)]
    assert out.by_row.lengths.tolist() == [sum(map(len, row)) for row in rows]
    return rows


def test_positions_of_several_ids() -> None:
    assert bags([[[1, 2], [], [7]], [], None]) == [[[1, 2], [], [7]], [], []]
    assert bags([[[1, 2], [], [7]], [], None], default="9") == [[[1, 2], [9], [7]], [[9]], [[9]]]
    assert bags(["1,2;;7", "", None, "5"], separator=";", value_separator=",") == [[[1, 2], [], [7]], [], [], [[5]]]
    assert bags(["", None, "1,,2;7"], separator=";", value_separator=",", default="9") == [[[9]], [[9]], [[1, 2], [7]]]
    assert bags([[1, None], [3]]) == [[[1], []], [[3]]]


def test_cuts_of_positions_and_of_ids() -> None:
    assert bags([[[1, 2, 3], [4], [5]]], max_length=2, max_values=2) == [[[1, 2], [4]]]
    assert bags([[[1, 200], [200]]]) == [[[1], []]]


def test_ids_of_positions_with_weights() -> None:
    found = bags(["1:0.5,2;3:2", ""], separator=";", value_separator=",", kv_separator=":")
    assert found == [[[(1, 0.5), (2, 1.0)], [(3, 2.0)]], []]
    maps = pa.array([[[(1, 0.5)], [(2, 3.0), (4, None)]]], pa.list_(pa.map_(pa.int64(), pa.float32())))
    assert bags(maps) == [[[(1, 0.5)], [(2, 3.0), (4, 1.0)]]]


def test_weights_need_several_ids() -> None:
    with pytest.raises(ValidationError, match="kv_separator: weights count where several ids are summed"):
        ids([1], kv_separator=":")


def test_an_error_in_a_position_names_its_row() -> None:
    with pytest.raises(DataError, match=r"^column c: row 1: cannot read 'x' as a whole number"):
        bags(["1", "2,3;4,x"], separator=";", value_separator=",")


def test_rows_and_shape() -> None:
    feature = SequenceIdFeature(name="f", column="c", bucket=SAME, default=None)
    assert (feature.rows, feature.width, feature.is_sequence, feature.inputs) == (100, 0, True, ("c",))


def test_a_default_that_the_bucket_refuses() -> None:
    with pytest.raises(ValidationError, match="default 'x' cannot be used"):
        ids([1], default="x")


def test_an_empty_text_may_be_the_default() -> None:
    feature = SequenceIdFeature(
        name="f", column="c", bucket=HashBucket(rows=1000, function="farm64"), default="", separator="|"
    )
    # FarmHash's Fingerprint64 of an empty text, modulo 1000, is 263; that of a is 939.
    found = feature.transform(pa.record_batch({"c": ["a||a", "", None]}))
    assert isinstance(found, Ragged)
    assert found.values.tolist() == [939, 263, 939, 263, 263]
    assert found.lengths.tolist() == [3, 1, 1]

"""Ids by hand: identity buckets show which values reach the bucket, murmur64 modulo 100 the known fixtures."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.data.columns import Ragged
from polyrec.errors import DataError
from polyrec.features.buckets.hash import HashBucket
from polyrec.features.buckets.identity import IdentityBucket
from polyrec.features.buckets.vocabulary import VocabularyBucket
from polyrec.features.id import IdFeature

HASH = HashBucket(rows=100, function="murmur64")  # abc 33, efg 44, hij 66, "1" 95, "2" 70, "0" 26
SAME = IdentityBucket(rows=1000, out_of_range="error")


def transform(values: Any, kind: pa.DataType | None = None, **fields: Any) -> Ragged:
    array = values if isinstance(values, pa.Array) else pa.array(values, kind)
    feature = IdFeature(**{"name": "f", "column": "c", "bucket": HASH, "default": None, **fields})
    return feature.transform(pa.record_batch({"c": array}))


def rows(out: Ragged) -> list[list[int]]:
    return [part.tolist() for part in np.split(out.values, np.cumsum(out.lengths)[:-1])]


def test_one_text_per_row() -> None:
    out = transform(["abc", "efg", "abc"])
    assert rows(out) == [[33], [44], [33]]
    assert out.values.dtype == np.int64
    assert out.lengths.dtype == np.int32
    assert out.weights is None


def test_null_and_empty_text_have_no_id() -> None:
    assert rows(transform(["abc", None, "", "efg"])) == [[33], [], [], [44]]


def test_the_default_stands_for_null_and_empty_text_before_bucketing() -> None:
    assert rows(transform(["abc", None, ""], default="hij")) == [[33], [66], [66]]
    assert rows(transform([1, None], default="2")) == [[95], [70]]
    assert rows(transform([[], None, ["efg"]], default="hij")) == [[66], [66], [44]]


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16()],
    ids=str,
)
def test_whole_numbers_of_any_width_hash_in_base_10(kind: pa.DataType) -> None:
    assert rows(transform([1, None, 2], kind)) == [[95], [], [70]]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary(3), pa.binary_view()],
    ids=str,
)
def test_texts_of_any_kind(kind: pa.DataType) -> None:
    values = [b"abc", None, b"efg"] if "binary" in str(kind) else ["abc", None, "efg"]
    assert rows(transform(values, kind, default="hij")) == [[33], [66], [44]]


def test_times_and_decimals() -> None:
    same = {"bucket": IdentityBucket(rows=2**62, out_of_range="error")}
    moment = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert rows(transform([moment, None], pa.timestamp("us", "UTC"), **same)) == [[1_000_000], []]
    assert rows(transform([date(1970, 1, 5)], pa.date32(), **same)) == [[4]]
    assert rows(transform([7], pa.duration("s"), **same)) == [[7]]
    assert rows(transform([Decimal(12)], pa.decimal128(9, 0), **same)) == [[12]]
    assert rows(transform([Decimal("1.50")], pa.decimal128(9, 2))) == rows(transform(["1.50"]))


def test_a_column_of_nulls() -> None:
    assert rows(transform(pa.nulls(2))) == [[], []]
    assert rows(transform(pa.nulls(2), default="abc")) == [[33], [33]]


@pytest.mark.parametrize("index", [pa.int8(), pa.int32(), pa.uint16()], ids=str)
def test_dictionaries(index: pa.DataType) -> None:
    codes = pa.array([2, 0, None, 1, 3, 2], index)
    words = pa.array(["abc", "", "efg", None, "not in use"])
    column = pa.DictionaryArray.from_arrays(codes, words)
    assert rows(transform(column)) == [[44], [33], [], [], [], [44]]
    assert rows(transform(column, default="hij")) == [[44], [33], [66], [66], [66], [44]]
    assert rows(transform(column.slice(1, 3))) == [[33], [], []]


def test_words_of_a_dictionary_that_are_not_in_use_are_not_read() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([1, 1]), pa.array(["rubbish", "5"]))
    assert rows(transform(column, bucket=SAME)) == [[5], [5]]


def test_a_dictionary_larger_than_the_batch() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([7]), pa.array([str(n) for n in range(10)]))
    assert rows(transform(column, bucket=SAME)) == [[7]]


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.large_list(pa.large_string()),
        pa.list_view(pa.string()),
        pa.list_(pa.dictionary(pa.int32(), pa.string())),
    ],
    ids=str,
)
def test_lists(kind: pa.DataType) -> None:
    values = [["abc", "efg"], None, [], ["hij", None, ""], ["efg"]]
    if isinstance(kind, pa.ListType) and pa.types.is_dictionary(kind.value_type):
        flat = pa.array(["abc", "efg", "hij", None, "", "efg"]).dictionary_encode()
        column = pa.ListArray.from_arrays(pa.array([0, None, 2, 2, 5, 6]), flat)
        assert column.to_pylist() == values
    else:
        column = pa.array(values, kind)
    assert rows(transform(column)) == [[33, 44], [], [], [66], [44]]
    assert rows(transform(column.slice(3), default="abc")) == [[66], [44]]


def test_lists_of_one_size() -> None:
    column = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int32(), 2))
    assert rows(transform(column, bucket=SAME)) == [[1, 2], [], [3, 4]]
    assert rows(transform(column.slice(1), bucket=SAME)) == [[], [3, 4]]


def test_nulls_that_hide_values() -> None:
    offsets = pa.array([0, 2, 3, 5], pa.int32())
    hidden = pa.ListArray.from_arrays(offsets, pa.array([1, 2, 9, 3, 4]), mask=pa.array([False, True, False]))
    assert rows(transform(hidden, bucket=SAME)) == [[1, 2], [], [3, 4]]


@pytest.mark.parametrize("separator", ["|", "||", "\x1d", "."])
def test_a_text_of_several_values(separator: str) -> None:
    texts = [separator.join(["abc", "efg"]), None, "", "hij", separator.join(["", "abc", ""])]
    assert rows(transform(texts, separator=separator)) == [[33, 44], [], [], [66], [33]]
    assert rows(transform(texts, separator=separator, default="efg"))[1:3] == [[44], [44]]
    assert rows(transform(pa.array(texts).dictionary_encode(), separator=separator))[0] == [33, 44]


def test_a_row_of_separators_only_gets_the_default() -> None:
    assert rows(transform(["||"], separator="|", default="abc")) == [[33]]


def test_a_separator_does_not_matter_to_numbers_and_lists() -> None:
    assert rows(transform([12], separator="1", bucket=SAME)) == [[12]]
    assert rows(transform([["1", "2"]], separator="|", bucket=SAME)) == [[1, 2]]


def test_the_first_values_are_kept_after_empty_ones_are_left_out() -> None:
    texts = ["|1||2|3", "4", None]
    assert rows(transform(texts, separator="|", bucket=SAME, max_values=2)) == [[1, 2], [4], []]
    assert rows(transform([[5, 6], [7, None, 8, 9]], bucket=SAME, max_values=1)) == [[5], [7]]


def test_weights_within_the_text() -> None:
    texts = ["1:0.5|2|3:", "", ":7|4:2"]
    out = transform(texts, separator="|", kv_separator=":", bucket=SAME, default="9")
    assert rows(out) == [[1, 2, 3], [9], [4]]
    assert out.weights is not None
    assert out.weights.tolist() == [0.5, 1, 1, 1, 2]
    assert out.weights.dtype == np.float32


def test_the_last_kv_separator_stands_before_the_weight() -> None:
    out = transform(["a:b:3"], kv_separator=":")
    assert out.values.tolist() == transform(["a:b"]).values.tolist()
    assert out.weights is not None
    assert out.weights.tolist() == [3]


def test_weights_are_cut_with_their_values() -> None:
    bucket = IdentityBucket(rows=10, out_of_range="skip")
    out = transform([["1:2", "99:3", "4:5", "6:7"], ["99:1"]], kv_separator=":", bucket=bucket, max_values=3)
    assert rows(out) == [[1, 4], []]
    assert out.weights is not None
    assert out.weights.tolist() == [2, 5]


def test_values_that_are_no_texts_weigh_1() -> None:
    out = transform([[1, 2], [3]], kv_separator=":", bucket=SAME)
    assert out.weights is not None
    assert out.weights.tolist() == [1, 1, 1]


def test_weights_of_a_map_stand_beside_its_keys_whatever_divides_texts() -> None:
    maps = pa.array([[("a", 2.0), ("b:7", None)], None], pa.map_(pa.string(), pa.float64()))
    feature = IdFeature(name="f", column="c", bucket=HASH, default=None, separator="|", kv_separator=":")
    found = feature.transform(pa.record_batch({"c": maps}))
    assert found.weights is not None
    assert (found.weights.tolist(), found.lengths.tolist()) == ([2.0, 1.0], [2, 0])


def test_maps_hold_values_and_weights() -> None:
    kind = pa.map_(pa.string(), pa.float64())
    column = pa.array([[("x", 9.0)], [("abc", 0.5), ("efg", None)], None, [("hij", 2.0)]], kind)
    out = transform(column.slice(1), default="efg")
    assert rows(out) == [[33, 44], [44], [66]]
    assert out.weights is not None
    assert out.weights.tolist() == [0.5, 1, 1, 2]


def weighed(values: Any, weights: Any, **fields: Any) -> Ragged:
    feature = IdFeature(
        name="f", column="c", bucket=SAME, default=fields.pop("default", None), weight_column="w", **fields
    )
    assert feature.inputs == ("c", "w")
    return feature.transform(pa.record_batch({"c": pa.array(values), "w": pa.array(weights)}))


def test_weights_of_another_column() -> None:
    out = weighed(["1|2", "3", "", None, "4|5"], ["0.5|2", "3", "", None, None], separator="|", default="7")
    assert rows(out) == [[1, 2], [3], [7], [7], [4, 5]]
    assert out.weights is not None
    assert out.weights.tolist() == [0.5, 2, 3, 1, 1, 1, 1]


def test_weights_in_lists_follow_values_that_are_left_out() -> None:
    out = weighed([[1, None, 2], [3]], [[0.5, 9.0, 1.5], [2.0]])
    assert rows(out) == [[1, 2], [3]]
    assert out.weights is not None
    assert out.weights.tolist() == [0.5, 1.5, 2]


def test_weights_of_single_values() -> None:
    out = weighed([1, 2, None], [0.5, None, 3.0])
    assert rows(out) == [[1], [2], []]
    assert out.weights is not None
    assert out.weights.tolist() == [0.5, 1]


def test_another_number_of_weights_is_an_error() -> None:
    with pytest.raises(
        DataError, match=r"^column w: row 1: 1 weights for the 2 values of column c; give each value one"
    ):
        weighed(["1", "2|3"], ["1", "1"], separator="|")


@pytest.mark.parametrize(
    ("values", "fields", "message"),
    [
        (["1", None, "1|x"], {"bucket": SAME, "separator": "|"}, "column c: row 2: cannot read 'x' as a whole number"),
        ([5, None, 1000], {"bucket": SAME}, "column c: row 2: id 1000 is outside 0 to 999; raise the number of rows"),
        ([[], [1, 2], [3, -4]], {"bucket": SAME}, "column c: row 2: id -4 is outside 0 to 999"),
        (["a:1", "b:x"], {"kv_separator": ":"}, "column c: row 1: cannot read 'x' as a number"),
        ([{"a": 1}], {}, "column c: values of type struct<a: int64> cannot be used; accepted: whole numbers, floats"),
        ([[[1]]], {}, "column c: values of type list<item: int64> cannot be used; give each row one list at most"),
        ([b"\xff"], {}, "column c: values of type binary cannot be read as string: Invalid UTF8"),
    ],
)
def test_errors_name_the_column_and_the_row(values: list[Any], fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        transform(values, **fields)
    assert str(caught.value).startswith(message)


def test_an_error_in_a_dictionary_names_a_row_that_uses_the_word() -> None:
    column = pa.array(["1", None, "x", "x"]).dictionary_encode()
    with pytest.raises(DataError, match=r"^column c: row 2: cannot read 'x'"):
        transform(column, bucket=SAME)


def test_a_missing_column_is_answered_with_the_nearest() -> None:
    feature = IdFeature(name="f", column="user_idd", bucket=HASH, default=None)
    with pytest.raises(DataError, match=r"^column user_idd: not in the data; did you mean user_id"):
        feature.transform(pa.record_batch({"user_id": [1], "x": [2]}))
    with pytest.raises(DataError, match=r"^column user_idd: not in the data; columns: b, c"):
        feature.transform(pa.record_batch({"b": [1], "c": [2]}))


def test_two_columns_of_one_name() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["c", "c"])
    with pytest.raises(DataError, match=r"^column c: the data has 2 columns of this name"):
        IdFeature(name="f", column="c", bucket=HASH, default=None).transform(batch)


def test_rows_and_inputs() -> None:
    feature = IdFeature(name="f", column="c", bucket=HASH, default=None)
    assert (feature.rows, feature.width, feature.is_sequence, feature.inputs) == (100, 0, False, ("c",))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bucket": SAME, "default": "x"}, "default 'x' cannot be used: cannot read 'x' as a whole number"),
        ({"bucket": SAME, "default": "1000"}, "default '1000' cannot be used: id 1000 is outside 0 to 999"),
        ({"default": ""}, "default is empty; leave it out"),
        ({"kv_separator": ":", "weight_column": "w"}, "weights come from kv_separator or from weight_column"),
        ({"separator": ""}, "separator"),
        ({"max_values": 0}, "max_values"),
    ],
)
def test_fields_that_do_not_fit(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        transform(["abc"], **fields)


def test_a_default_outside_the_vocabulary_has_no_id() -> None:
    bucket = VocabularyBucket(rows=2, words=("a", "b"), unknown=None)
    assert rows(transform(["b", None, "?"], bucket=bucket, default="?")) == [[1], [], []]


def test_texts_together_with_bytes_behind_a_null_and_of_unlike_lengths() -> None:
    words = pa.array(["ab", "cd", "", "ef"])
    hidden = pa.Array.from_buffers(pa.string(), 4, [pa.py_buffer(bytes([0b1101])), *words.buffers()[1:]])
    columns = {
        "even": pa.array(["12345678", None, "abcdefgh", ""]),
        "hidden": hidden,
        "uneven": pa.array(["a", "bcd", None, "x" * 100], pa.large_string()),
        "none": pa.array([None, None, None, ""], pa.string()),
        "several": pa.array(["a;b", "c", "", None]),
    }
    columns |= {f"{name} encoded": texts.dictionary_encode() for name, texts in columns.items()}
    # Two words may be the same, and one of them null.
    words = pa.array(["a", "", None, "a", "bc"])
    columns["coded"] = pa.DictionaryArray.from_arrays(pa.array([3, None, 2, 0], pa.int8()), words.slice(0, 4))
    columns["blank"] = pa.DictionaryArray.from_arrays(pa.array([1, None, 1, 2], pa.int8()), words.slice(0, 4))
    columns["nothing"] = pa.array([None] * 4, pa.string()).dictionary_encode()
    rows = pa.record_batch(columns)
    bucket = HashBucket(rows=1000, function="murmur64")
    features = [
        IdFeature(name=f"{name} {default}", column=name, bucket=bucket, default=default, separator=";")
        for name in columns
        for default in (None, "d")
    ]
    for part in (rows, rows.slice(1), rows.slice(1, 2), rows.slice(4)):
        for together, feature in zip(IdFeature.transform_all(features, part), features, strict=True):
            alone = feature.transform(part)
            texts = part.column(feature.column)
            if isinstance(texts, pa.DictionaryArray):
                alone = feature.transform(pa.record_batch({feature.column: texts.cast(pa.string())}))
            assert isinstance(together, Ragged)
            assert together.values.tolist() == alone.values.tolist()
            assert together.lengths.tolist() == alone.lengths.tolist()

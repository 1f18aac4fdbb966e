"""Lookups, by hand, and against a loop over rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from polyrec.data.columns import RowError
from polyrec.features.buckets.hash import HashBucket
from polyrec.features.id import IdFeature
from polyrec.features.operators.lookup import Lookup

MAPS = ["ca:1\x1dcb:2"] * 5 + ["", None]
KEYS = ["ca\x1dcb", "ca", "ca\x1dcd", "cd", "", "ca", None]
AS_MAP = pa.array([[("ca", 1), ("cb", 2)]] * 5 + [[], None], pa.map_(pa.string(), pa.int64()))


def lookup(**fields: Any) -> Lookup:
    return Lookup(
        **{"map": "m", "keys": "k", "separator": "\x1d", "key_separator": "\x1d", "repeats": "first", **fields}
    )


@pytest.mark.parametrize("maps", [pa.array(MAPS), AS_MAP, AS_MAP.cast(pa.map_(pa.string(), pa.float32()))])
@pytest.mark.parametrize(
    ("combiner", "wanted"),
    [
        ("sum", [3, 1, 1, None, None, None, None]),
        ("mean", [1.5, 1, 1, None, None, None, None]),
        ("min", [1, 1, 1, None, None, None, None]),
        ("max", [2, 1, 1, None, None, None, None]),
        ("count", [2, 1, 1, None, None, None, None]),
        (None, [[1, 2], [1], [1], [], [], [], []]),
    ],
)
def test_numbers(maps: pa.Array, combiner: Any, wanted: list[Any]) -> None:
    found = lookup(values="number", combiner=combiner).apply(pa.record_batch({"m": maps, "k": KEYS}))
    assert found.to_pylist() == wanted


def test_texts_and_their_ids() -> None:
    rows = pa.record_batch({"m": ["ca:x\x1dcb:y"] * 3, "k": ["ca\x1dcb", "cd", "cb"]})
    assert lookup(values="text").apply(rows).to_pylist() == [["x", "y"], [], ["y"]]
    assert lookup(values="text", key_joint="_").apply(rows).to_pylist() == [["ca_x", "cb_y"], [], ["cb_y"]]
    made = rows.append_column("f", lookup(values="text").apply(rows))
    bucket = HashBucket(rows=100, function="murmur64")
    out = IdFeature(name="f", column="f", bucket=bucket, default="z").transform(made)
    assert (out.values.tolist(), out.lengths.tolist()) == ([35, 30, 54, 30], [2, 1, 1])


def test_keys_decide_the_order_and_count_as_often_as_they_stand() -> None:
    rows = pa.record_batch({"m": ["a:1\x1db:2"], "k": ["b\x1da\x1db"]})
    assert lookup(values="text").apply(rows).to_pylist() == [["2", "1", "2"]]
    assert lookup(values="number", combiner="sum").apply(rows).to_pylist() == [5]


@pytest.mark.parametrize(
    ("repeats", "wanted"), [("first", ["1", "9"]), ("last", ["3", "9"]), ("all", ["1", "2", "3", "9"])]
)
def test_a_key_that_the_map_holds_several_times(repeats: Any, wanted: list[str]) -> None:
    rows = pa.record_batch({"m": ["a:1|b:9|a:2|a:|a|a:3", "a:5"], "k": ["a,b", "b"]})
    several = lookup(values="text", repeats=repeats, separator="|", key_separator=",")
    assert several.apply(rows).to_pylist() == [wanted, []]
    one = lookup(values="text", repeats=repeats, separator="|", key_separator=None)
    assert one.apply(pa.record_batch({"m": rows["m"], "k": ["a", "a"]})).to_pylist() == [wanted[:-1], ["5"]]


def test_only_so_many_values() -> None:
    rows = pa.record_batch({"m": ["a:1|a:2|a:3", "a:4", "b:1"], "k": ["a", "a", "a"]})
    found = lookup(values="text", repeats="all", separator="|", most=2).apply(rows)
    assert found.to_pylist() == [["1", "2"], ["4"], []]
    found = lookup(values="number", combiner="sum", repeats="all", separator="|", most=2).apply(rows)
    assert found.to_pylist() == [3, 4, None]


def test_the_first_separator_ends_the_key() -> None:
    rows = pa.record_batch({"m": ["a:b:c|d=e:f"], "k": [["a", "d", "d=e"]]})
    assert lookup(values="text", separator="|").apply(rows).to_pylist() == [["b:c", "f"]]
    assert lookup(values="text", separator="|", kv_separator="=").apply(rows).to_pylist() == [["e:f"]]


def test_vectors() -> None:
    rows = pa.record_batch({"m": ["a:1,2|b:3,4", "a:1,2", "a:5,", None], "k": [["a", "b"], ["z"], ["a"], ["a"]]})
    found = lookup(values="number", size=2, combiner="sum", separator="|").apply(rows)
    assert found.to_pylist() == [[4, 6], [], [5, None], []]
    maps = pa.array([[("a", [1.0, 2.0]), ("b", [0.5, 4.0])]], pa.map_(pa.string(), pa.list_(pa.float32())))
    rows = pa.record_batch({"m": maps, "k": [["a", "b"]]})
    assert lookup(values="number", size=2, combiner="max").apply(rows).to_pylist() == [[1, 4]]
    rows = pa.record_batch({"m": ["a:1;2", "a:1;2;3"], "k": ["a", "a"]})
    with pytest.raises(RowError, match="column m: row 1: a value of 3 numbers, where 2 are needed"):
        lookup(values="number", size=2, combiner="sum", value_separator=";").apply(rows)


def test_keys_of_other_types_than_the_map() -> None:
    maps = pa.array([[(1, "x"), (22, "y")], [(1, "z")]], pa.map_(pa.int32(), pa.string()))
    for keys in (
        pa.array([22, 1], pa.int64()),
        pa.array(["22", "1"]),
        pa.array([22.0, 1.0]),
        pa.array([22, 1], pa.uint64()),
    ):
        assert lookup(values="text").apply(pa.record_batch({"m": maps, "k": keys})).to_pylist() == [["y"], ["z"]]


def test_only_what_is_found_needs_to_be_a_number() -> None:
    rows = pa.record_batch({"m": ["a:1|b:x", "a:1|b:x"], "k": ["a", "a"]})
    number = lookup(values="number", separator="|")
    assert number.apply(rows).to_pylist() == [[1], [1]]
    with pytest.raises(RowError, match="column m: row 1: cannot read 'x' as a number"):
        number.apply(pa.record_batch({"m": rows["m"], "k": ["a", "b"]}))


def test_too_many_values_are_refused() -> None:
    rows = pa.record_batch({"m": ["a:1", "|".join(["a:1"] * 5000)], "k": [["a"], ["a"] * 5000]})
    with pytest.raises(RowError, match="column m: row 1: 25000000 values here, 25000001 in its batch"):
        lookup(values="text", separator="|", repeats="all").apply(rows)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"values": "text", "combiner": "sum"}, "combiner and size are for numbers"),
        ({"values": "number", "key_joint": "_"}, "key_joint makes texts"),
        ({"values": "number", "size": 2}, "vectors of several keys need a combiner"),
    ],
)
def test_options_that_do_not_go_together(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        lookup(**fields)


WORDS = st.lists(st.sampled_from("abc"), max_size=4)
PAIRS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["1", "2", "3"])), max_size=6)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(PAIRS, WORDS), max_size=6), repeats=st.sampled_from(["first", "last", "all"]))
def test_as_a_loop_over_rows(rows: list[tuple[list[tuple[str, str]], list[str]]], repeats: Any) -> None:
    def by_hand(pairs: list[tuple[str, str]], keys: list[str]) -> list[str]:
        of_key = [[value for name, value in pairs if name == key] for key in keys]
        cut = {"first": slice(0, 1), "last": slice(-1, None), "all": slice(None)}[repeats]
        return [value for values in of_key for value in values[cut]]

    maps = pa.array([pairs for pairs, _ in rows], pa.map_(pa.string(), pa.string()))
    keys = pa.array([keys for _, keys in rows], pa.list_(pa.string()))
    found = lookup(values="text", repeats=repeats).apply(pa.record_batch({"m": maps, "k": keys}))
    assert found.to_pylist() == [by_hand(*row) for row in rows]

"""Matches in maps of maps, by hand, and against a loop over rows."""

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
from polyrec.features.operators.match import Match

TEXT = "ca^ba:1,bb:2|cb^ba:3,bb:4"
TEXTS = pa.array([TEXT, TEXT, TEXT, "", None])
OF_TEXTS = pa.array([[("ca", "ba:1,bb:2"), ("cb", "ba:3,bb:4")]] * 3 + [[], None], pa.map_(pa.string(), pa.string()))
OF_MAPS = pa.array(
    [[("ca", [("ba", 1), ("bb", 2)]), ("cb", [("ba", 3), ("bb", 4)])]] * 3 + [[], None],
    pa.map_(pa.string(), pa.map_(pa.string(), pa.int64())),
)
OUTER, INNER = ["ca", "ca", "", "ca", None], ["ba", "", "", "ba", None]
FORMS = pytest.mark.parametrize("maps", [TEXTS, OF_TEXTS, OF_MAPS], ids=["text", "map of texts", "map of maps"])


def match(outer: str | None = "o", inner: str | None = "i", **fields: Any) -> Match:
    return Match(**{"map": "m", "outer_key": outer, "inner_key": inner, "values": "number", **fields})


@FORMS
@pytest.mark.parametrize(
    ("outer", "inner", "wanted"),
    [
        ("o", "i", [[1], [], [], [], []]),
        (None, "i", [[1, 3], [], [], [], []]),
        ("o", None, [[1, 2], [1, 2], [], [], []]),
        (None, None, [[1, 2, 3, 4]] * 3 + [[], []]),
    ],
)
def test_numbers(maps: pa.Array, outer: str | None, inner: str | None, wanted: list[Any]) -> None:
    rows = pa.record_batch({"m": maps, "o": OUTER, "i": INNER})
    assert match(outer, inner).apply(rows).to_pylist() == wanted
    assert match(outer, inner).apply(rows.slice(1)).to_pylist() == wanted[1:]


def test_a_map_that_rows_share() -> None:
    maps = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0]), pa.array([TEXT, None]))
    rows = pa.record_batch({"m": maps, "o": ["ca", "ca", "ca", "cb"], "i": ["ba", "ba", "ba", "bb"]})
    assert match().apply(rows).to_pylist() == [[1], [], [], [4]]
    assert match(None, None).apply(rows).to_pylist() == [[1, 2, 3, 4], [], [], [1, 2, 3, 4]]
    assert match(None, None).apply(rows.slice(1)).to_pylist() == [[], [], [1, 2, 3, 4]]


@FORMS
@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, "1"),
        ({"prefix": "f"}, "f_1"),
        ({"show_outer": True}, "ca_1"),
        ({"show_inner": True}, "ba_1"),
        ({"prefix": "f", "show_outer": True, "show_inner": True}, "f_ca_ba_1"),
        ({"prefix": "f", "show_inner": True, "joint": "#"}, "f#ba#1"),
    ],
)
def test_texts(maps: pa.Array, fields: dict[str, Any], wanted: str) -> None:
    rows = pa.record_batch({"m": maps, "o": OUTER, "i": INNER})
    assert match(values="text", **fields).apply(rows).to_pylist() == [[wanted], [], [], [], []]


def test_the_id_of_a_known_match() -> None:
    rows = pa.record_batch({"m": TEXTS, "o": OUTER, "i": INNER})
    made = rows.append_column("f", match(values="text", prefix="match_feat").apply(rows))
    bucket = HashBucket(rows=100, function="murmur64")
    out = IdFeature(name="f", column="f", bucket=bucket, default="z").transform(made)
    assert out.values.tolist() == [71, 54, 54, 54, 54]


def test_several_keys_come_in_their_order() -> None:
    rows = pa.record_batch({"m": [TEXT], "o": ["cb;ca"], "i": ["bb;ba"]})
    found = match(values="text", show_outer=True, show_inner=True, key_separator=";").apply(rows)
    assert found.to_pylist() == [["cb_bb_4", "cb_ba_3", "ca_bb_2", "ca_ba_1"]]


def test_other_separators_and_entries_without_a_value() -> None:
    rows = pa.record_batch({"m": ["a>x=1 y=2;b>x=3;c;d>;e>x"], "i": ["x"]})
    found = match(
        None,
        values="text",
        show_outer=True,
        outer_separator=";",
        outer_kv_separator=">",
        inner_separator=" ",
        inner_kv_separator="=",
    ).apply(rows)
    assert found.to_pylist() == [["a_1", "b_3"]]


def test_what_is_no_number_is_an_error_in_its_row() -> None:
    rows = pa.record_batch({"m": ["a^x:1", "", "a^x:1,y:q"], "o": ["a"] * 3, "i": ["x", "x", "y"]})
    with pytest.raises(RowError, match="column m: row 2: cannot read 'q' as a number"):
        match().apply(rows)


def test_too_many_matches_are_refused() -> None:
    rows = pa.record_batch({"m": ["|".join(["a^x:1"] * 5000)] * 2, "o": ["z", "a"], "i": [["x"] * 5000] * 2})
    with pytest.raises(RowError, match="column m: row 1: 25000000 values here"):
        match().apply(rows)


def test_shown_keys_are_for_texts() -> None:
    with pytest.raises(ValidationError, match="prefix, show_outer and show_inner make texts"):
        match(show_inner=True)


KEY = st.sampled_from("abc")
INNER_PAIRS = st.lists(st.tuples(KEY, st.sampled_from("123")), max_size=3)
NESTED = st.lists(st.tuples(KEY, INNER_PAIRS), max_size=4)
KEYS = st.lists(KEY, max_size=3)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(NESTED, KEYS, KEYS), max_size=6), every=st.sampled_from(["", "o", "i", "oi"]))
def test_as_a_loop_over_rows(rows: list[Any], every: str) -> None:
    def by_hand(nested: Any, outer_keys: list[str], inner_keys: list[str]) -> list[str]:
        outer = nested if "o" in every else [pair for key in outer_keys for pair in nested if pair[0] == key]
        return [
            f"{outer_key}_{key}_{value}"
            for outer_key, pairs in outer
            for key, value in (pairs if "i" in every else [p for wanted in inner_keys for p in pairs if p[0] == wanted])
        ]

    kind = pa.map_(pa.string(), pa.map_(pa.string(), pa.string()))
    batch = pa.record_batch(
        {
            "m": pa.array([row[0] for row in rows], kind),
            "o": pa.array([row[1] for row in rows], pa.list_(pa.string())),
            "i": pa.array([row[2] for row in rows], pa.list_(pa.string())),
        }
    )
    operator = match(
        None if "o" in every else "o", None if "i" in every else "i", values="text", show_outer=True, show_inner=True
    )
    assert operator.apply(batch).to_pylist() == [by_hand(*row) for row in rows]

"""Dot products of weighted keys, by hand, and against a loop over rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyrec.data.columns import RowError
from polyrec.features.operators.kv_dot_product import KvDotProduct


def dot(query: Any, document: Any, **fields: Any) -> list[float | None]:
    operator = KvDotProduct(**{"query": "q", "document": "d", "separator": "|", **fields})
    return operator.apply(pa.record_batch({"q": query, "d": document})).to_pylist()


def weighted(*maps: Any) -> pa.Array:
    return pa.array(maps, pa.map_(pa.string(), pa.float32()))


QUERIES = {
    "text": pa.array(["a:0.5|b:0.5", "a|b|c", "a|b", None]),
    "list": pa.array([["a:0.5", "b:0.5"], ["a", "b", "c"], ["a", "b"], None]),
    "map": weighted([("a", 0.5), ("b", 0.5)], [("a", 1), ("b", 1), ("c", 1)], [("a", 1), ("b", 1)], None),
}
DOCUMENTS = {
    "text": pa.array(["a:0.5|b:0.5", "a|b", "", ""]),
    "list": pa.array([["a:0.5", "b:0.5"], ["a", "b"], [], []]),
    "map": weighted([("a", 0.5), ("b", 0.5)], [("a", 1), ("b", 1)], [], []),
}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("document", DOCUMENTS)
def test_all_forms_in_any_mix(query: str, document: str) -> None:
    assert dot(QUERIES[query], DOCUMENTS[document]) == [0.5, 2, None, None]
    assert dot(QUERIES[query][1:], DOCUMENTS[document][1:]) == [2, None, None]


@pytest.mark.parametrize(
    ("query", "document", "wanted"),
    [
        ("a:0.5|b:0.5", "d:0.5|b:0.5", 0.25),
        (["a:0.5", "b:0.5"], "d:0.5|b:0.5", 0.25),
        (["a", "b", "c"], ["a", "b", "d"], 2),
        (["a", "b", "c"], "a|b|d", 2),
        ("a:2", "b:3", None),
        ("a:0", "a:7", 0),
        # Weights of equal keys add up: (1 + 2) * (10 + 1).
        ("a|a:2", "a:10|a:", 33),
        ("x:y:2", "x:y:4", 8),
        (" a:2", "a:2", None),
        ([1, 2], ["1:3", "2"], 4),
    ],
)
def test_known_products(query: Any, document: Any, wanted: float | None) -> None:
    assert dot([query], [document]) == [wanted]


def test_another_separator_of_weights() -> None:
    assert dot(["a=2|b=3"], ["a=2|b=2"], kv_separator="=") == [10]


def test_only_shared_keys_need_a_weight_that_is_a_number() -> None:
    assert dot(["a:x|b:2"], ["b:2"]) == [4]
    with pytest.raises(RowError, match="column q: row 1: cannot read 'x' as a number"):
        dot(["b:2", "a:x"], ["b:2", "a"])
    with pytest.raises(RowError, match="column d: row 2: cannot read 'y' as a number"):
        dot(pa.array(["b:2", None, "b:2"]).dictionary_encode(), pa.array(["b:2", "", "b:y"]).dictionary_encode())


PAIRS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(-3, 3)), max_size=5)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(PAIRS, PAIRS), max_size=6))
def test_as_a_loop_over_rows(rows: list[Any]) -> None:
    def by_hand(query: Any, document: Any) -> float | None:
        found = [one * two for key, one in query for other, two in document if key == other]
        return sum(found) if found else None

    maps = (weighted(*(row[at] for row in rows)) for at in (0, 1))
    assert dot(*maps) == [by_hand(*row) for row in rows]

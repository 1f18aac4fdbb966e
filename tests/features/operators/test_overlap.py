"""Overlaps, by hand, and against a loop over rows."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyrec.data.columns import RowError
from polyrec.features.operators.overlap import Overlap

METHODS = Overlap.model_fields["method"].annotation.__args__


def overlap(method: Any, queries: Any, titles: Any, separator: str = "\x1d") -> list[float]:
    operator = Overlap(query="q", title="t", method=method, separator=separator)
    found = operator.apply(pa.record_batch({"q": queries, "t": titles}))
    assert found.type == pa.float64()
    return found.to_pylist()


@pytest.mark.parametrize(
    ("method", "titles", "wanted"),
    [
        ("query_common_ratio", ["abc\x1dqwe\x1drty\x1duio", "abc\x1defg\x1drty", "", None], [0.5, 1, 0, 0]),
        ("title_common_ratio", ["abc\x1dqwe\x1drty\x1duio", "abc", "", None], [0.25, 1, 0, 0]),
        ("is_contain", ["abc\x1dqwe\x1drty\x1duio", "abc\x1defg\x1drty", "", None], [0, 1, 0, 0]),
        ("is_equal", ["abc\x1defg\x1drty", "abc\x1defg", "", None], [0, 1, 0, 0]),
        ("index_of", ["abc", "rty\x1dabc\x1defg", "", None], [-1, 1, -1, -1]),
        ("proximity_min_cover", ["abc\x1drty", "efg\x1drty\x1dabc", "", None], [0, 3, 0, 0]),
        ("proximity_min_dist", ["qwe\x1drty", "efg\x1drty\x1dabc", "", None], [3, 2, 1, 1]),
        ("proximity_max_dist", ["qwe\x1drty", "efg\x1drty\x1dabc", "", None], [3, 2, 1, 1]),
        ("proximity_avg_dist", ["qwe\x1drty", "efg\x1drty\x1dabc", "", None], [3, 2, 1, 1]),
    ],
)
def test_known_overlaps(method: str, titles: list[str | None], wanted: list[float]) -> None:
    queries = ["abc\x1defg", "abc\x1defg", "", None]
    assert overlap(method, queries, titles) == wanted
    as_lists = [[text.split("\x1d") if text else [] for text in texts] for texts in (queries, titles)]
    assert overlap(method, *(pa.array(column, pa.list_(pa.string())) for column in as_lists)) == wanted


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        ("is_equal", 0),
        ("is_contain", 1),
        ("index_of", 1),
        ("query_common_ratio", 1),
        ("title_common_ratio", 0.5),
        ("proximity_min_dist", 1),
        ("proximity_max_dist", 1),
        ("proximity_avg_dist", 1),
        ("proximity_min_cover", 2),
    ],
)
def test_each_method_on_one_title(method: str, wanted: float) -> None:
    assert overlap(method, [["b", "c"]], [["a", "b", "c", "d"]]) == [wanted]


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        # Pairs of a, b and d in the title: a-b 1 (3 and 4), a-d 3 (3 and 6), b-d 2 (4 and 6).
        ("proximity_min_dist", 1),
        ("proximity_max_dist", 3),
        ("proximity_avg_dist", 2),
        ("proximity_min_cover", 4),
    ],
)
def test_pairs_count_where_they_are_closest(method: str, wanted: float) -> None:
    assert overlap(method, ["a b d"], ["b x x a b c d"], " ") == [wanted]


def test_a_term_in_order_with_a_gap_is_not_contained() -> None:
    assert overlap("is_contain", ["a c", "a c"], ["a b c", "b a c"], " ") == [0, 1]


def test_terms_count_as_often_as_they_stand() -> None:
    assert overlap("query_common_ratio", ["a a b z"], ["a b"], " ") == [0.75]
    assert overlap("title_common_ratio", ["a"], ["a a a b"], " ") == [0.75]


def test_numbers_are_terms_too() -> None:
    assert overlap("index_of", [[2, 3]], pa.array([[1, 2, 3]], pa.list_(pa.int8()))) == [1]
    assert overlap("index_of", [[2, 3]], [["1", "2", "3"]]) == [1]


def test_too_many_terms_to_compare_are_refused() -> None:
    many = [str(number) for number in range(40_000)]
    with pytest.raises(RowError, match="column t: row 1: 40000 different terms of the query stand in the title"):
        overlap("proximity_avg_dist", [["1"], many], [["1"], many])
    assert overlap("query_common_ratio", [["1"], many], [["1"], many]) == [1, 1]
    assert overlap("index_of", [["1"], many], [["1"], many]) == [0, 0]


def by_hand(method: str, query: list[str], title: list[str]) -> float:
    starts = [at for at in range(len(title)) if query and title[at : at + len(query)] == query]
    if method == "query_common_ratio":
        return sum(term in title for term in query) / len(query) if query else 0
    if method == "title_common_ratio":
        return sum(term in query for term in title) / len(title) if title else 0
    if method == "is_contain":
        return float(bool(starts))
    if method == "is_equal":
        return float(bool(query) and query == title)
    if method == "index_of":
        return starts[0] if starts else -1
    places = {term: [at for at, other in enumerate(title) if other == term] for term in query if term in title}
    if method == "proximity_min_cover":
        spans = [
            high - low + 1
            for low in range(len(title))
            for high in range(low, len(title))
            if query and set(query) <= set(title[low : high + 1])
        ]
        return min(spans, default=0)
    if not places:
        return len(title) + 1
    apart = [min(abs(a - b) for a in places[one] for b in places[two]) for one, two in combinations(places, 2)] or [0]
    return {"min": min(apart), "max": max(apart), "avg": sum(apart) / len(apart)}[method.split("_")[1]]


TERMS = st.lists(st.sampled_from("abcde"), max_size=8)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=150, deadline=None)
@given(rows=st.lists(st.tuples(TERMS, TERMS), max_size=6))
def test_as_a_loop_over_rows(method: str, rows: list[tuple[list[str], list[str]]]) -> None:
    columns = (pa.array([row[at] for row in rows], pa.list_(pa.string())) for at in (0, 1))
    assert overlap(method, *columns) == pytest.approx([by_hand(method, *row) for row in rows])

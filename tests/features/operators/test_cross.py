"""Crosses, equal to those that TensorFlow 2.12 makes where it was asked, and else worked out by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from polyrec.features._hashing import cross64, farm64, hash_texts
from polyrec.features.operators.cross import Cross

MASK = 2**64 - 1
FACTOR = 0xC6A4A7935BD1E995


def crossed(key: int, *hashes: int) -> int:
    """One combination, step by step in whole numbers."""
    found = key
    for value in hashes:
        mixed = value * FACTOR & MASK
        mixed = (mixed ^ mixed >> 47) * FACTOR & MASK
        found = (found ^ FACTOR ^ mixed) * FACTOR & MASK
        found = (found ^ found >> 47) * FACTOR & MASK
        found ^= found >> 47
    return found


def text_hash(text: str) -> int:
    return int(hash_texts(pa.array([text]), farm64)[0])


def test_known_crosses_of_tensorflow() -> None:
    rows = pa.record_batch({"a": ["a", "b"], "b": ["x", "y"]})
    assert Cross(columns=("a", "b"), rows=1000).apply(rows).to_pylist() == [[892], [805]]
    assert crossed(0xDECAFCAFFE, text_hash("a"), text_hash("x")) % 1000 == 892


def test_every_value_with_every_other_the_last_column_first() -> None:
    rows = pa.record_batch({"a": ["a|b", "", "a"], "b": [["x", "y", "z"], ["x"], []], "c": ["p", "p", "p"]})
    wanted = [crossed(5, *map(text_hash, (a, b, "p"))) % 10**12 for a in "ab" for b in "xyz"]
    cross = Cross(columns=("a", "b", "c"), separators=("|", None, None), rows=10**12, key=5)
    assert cross.apply(rows).to_pylist() == [wanted, [], []]


def test_whole_numbers_are_their_own_hash_or_that_of_their_text() -> None:
    rows = pa.record_batch({"a": pa.array([-3, 2**31 - 1], pa.int32()), "b": ["x", "x"]})
    by_number = [[crossed(0xDECAFCAFFE, value & MASK, text_hash("x")) % 10**9] for value in (-3, 2**31 - 1)]
    assert Cross(columns=("a", "b"), rows=10**9).apply(rows).to_pylist() == by_number
    by_text = [[crossed(0xDECAFCAFFE, text_hash(value), text_hash("x")) % 10**9] for value in ("-3", "2147483647")]
    assert Cross(columns=("a", "b"), rows=10**9, integers="text").apply(rows).to_pylist() == by_text


def test_what_is_missing_may_count_as_a_value() -> None:
    rows = pa.record_batch({"a": ["", None], "b": [1, None]})
    assert Cross(columns=("a", "b"), rows=1000).apply(rows).to_pylist() == [[], []]
    wanted = [[crossed(0xDECAFCAFFE, text_hash(""), value) % 1000] for value in (1, 0)]
    assert Cross(columns=("a", "b"), rows=1000, missing="value").apply(rows).to_pylist() == wanted


@pytest.mark.parametrize("indices", [[0, 1, 0], [1, 1, 1, 0, 0, 1]])
def test_words_of_a_dictionary_are_as_plain_ones(indices: list[int]) -> None:
    for words in (pa.array(["a", "b", "", None]), pa.array([3, -4, 0, None])):
        column = pa.DictionaryArray.from_arrays(pa.array([*indices, None, 2, 3]), words)
        for cross in (
            Cross(columns=("a", "b"), rows=1000),
            Cross(columns=("a", "b"), rows=1000, integers="text", missing="value"),
        ):
            beside = pa.array(["x"] * len(column))
            plain = cross.apply(pa.record_batch({"a": words.take(column.indices), "b": beside}))
            assert cross.apply(pa.record_batch({"a": column, "b": beside})).to_pylist() == plain.to_pylist()


def test_the_order_of_columns_counts() -> None:
    one, two = hash_texts(pa.array(["a", "b"]), farm64)[:1], hash_texts(pa.array(["a", "b"]), farm64)[1:]
    assert cross64(7, [one, two])[0] == crossed(7, int(one[0]), int(two[0]))
    assert cross64(7, [one, two])[0] != cross64(7, [two, one])[0]

from __future__ import annotations

import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.features.buckets import vocabulary
from polyrec.features.buckets.vocabulary import VocabularyBucket


def test_a_word_is_its_place() -> None:
    bucket = VocabularyBucket(rows=3, words=("a", "b", "c"), unknown=None)
    assert bucket.rows_of(pa.array(["c", "a", "?"])).tolist() == [2, 0, -1]


def test_ids_of_its_own_and_an_id_for_unknown_words() -> None:
    bucket = VocabularyBucket(rows=8, words=("a", "b"), ids=(7, 2), unknown=1)
    assert bucket.rows_of(pa.array(["b", "a", "?", "a"], pa.large_string())).tolist() == [2, 7, 1, 7]


def test_numbers_are_looked_up_as_text() -> None:
    bucket = VocabularyBucket(rows=2, words=("10", "true"), unknown=None)
    assert bucket.rows_of(pa.array([10, 1])).tolist() == [0, -1]
    assert bucket.rows_of(pa.array([True, False])).tolist() == [1, -1]
    assert bucket.rows_of(pa.array([10.0])).tolist() == [0]


def test_many_words_give_the_ids_that_few_give(monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = VocabularyBucket(rows=300, words=tuple(f"word {n}" for n in range(300)), unknown=None)
    texts = pa.array([f"word {n * 7 % 400}" for n in range(100)])
    expected = [n * 7 % 400 if n * 7 % 400 < 300 else -1 for n in range(100)]
    assert bucket.rows_of(texts).tolist() == expected
    monkeypatch.setattr(vocabulary, "FEW", 0)
    assert bucket.rows_of(texts).tolist() == expected
    assert bucket.rows_of(texts.cast(pa.large_string())).tolist() == expected
    assert bucket.rows_of(pa.array([], pa.string())).tolist() == []


def test_words_that_share_a_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = VocabularyBucket(rows=3, words=("a", "b", "c"), unknown=None)
    monkeypatch.setattr(vocabulary, "FEW", 0)
    real = vocabulary.hash_texts
    monkeypatch.setattr(vocabulary, "hash_texts", lambda texts, function: real(texts, function) * 0)
    assert bucket.rows_of(pa.array(["b"])).tolist() == [1]
    assert bucket.rows_of(pa.array(["?"])).tolist() == [-1]


def test_equality_does_not_depend_on_use() -> None:
    used, unused = VocabularyBucket.example(), VocabularyBucket.example()
    used.rows_of(pa.array(["rome"]))
    assert used == unused
    assert used.dump() == unused.dump()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rows": 3, "words": ("a", "b", "a"), "unknown": None}, "word 'a' is listed twice"),
        ({"rows": 3, "words": ("a", "b"), "ids": (1,), "unknown": None}, "1 ids for 2 words"),
        ({"rows": 1, "words": ("a", "b"), "unknown": None}, "ids reach from 0 to 1, outside 0 to 0"),
        ({"rows": 2, "words": ("a", "b"), "unknown": 2}, "ids reach from 0 to 2, outside 0 to 1"),
        ({"rows": 2, "words": ("a",), "ids": (-1,), "unknown": None}, "ids reach from -1"),
    ],
)
def test_words_and_ids_that_do_not_fit(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        VocabularyBucket.model_validate(fields)

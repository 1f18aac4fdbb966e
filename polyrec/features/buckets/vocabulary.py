"""A word becomes its place in a list of words, or the id written beside it."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.families import BucketConfig
from polyrec.features._hashing import hash_texts, murmur64
from polyrec.features._values import as_text, compute

# Up to this many words, or twice as many as values, indexing them for each batch costs less than hashing the batch.
FEW = 4096


class VocabularyBucket(BucketConfig):
    words: tuple[str, ...] = Field(min_length=1)
    """Each once. Values that are not text are looked up as text: whole numbers in base 10, bool as true and false."""
    ids: tuple[int, ...] | None = None
    """Id of each word; None counts from 0."""
    unknown: int | None
    """Id of a value that is not among the words, None for no id."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(set(self.words)) != len(self.words):
            raise ValueError(f"word {Counter(self.words).most_common(1)[0][0]!r} is listed twice; list each once")
        if self.ids is not None and len(self.ids) != len(self.words):
            raise ValueError(f"{len(self.ids)} ids for {len(self.words)} words; give each word one id")
        named = [0, len(self.words) - 1] if self.ids is None else list(self.ids)
        named += [] if self.unknown is None else [self.unknown]
        if min(named) < 0 or max(named) >= self.rows:
            raise ValueError(f"ids reach from {min(named)} to {max(named)}, outside 0 to {self.rows - 1}; raise rows")
        return self

    @cached_property
    def _words(self) -> pa.Array:
        return pa.array(self.words, pa.string())

    @cached_property
    def _rows(self) -> np.ndarray:
        """Row of each word, then that of an unknown one."""
        ids = range(len(self.words)) if self.ids is None else self.ids
        return np.array([*ids, -1 if self.unknown is None else self.unknown], np.int64)

    @cached_property
    def _sorted_hashes(self) -> tuple[np.ndarray, np.ndarray]:
        """Hashes of all words in rising order, and the place of each one's word."""
        hashes = hash_texts(self._words, murmur64)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    def rows_of(self, values: pa.Array) -> np.ndarray:
        texts = as_text(values)
        words = self._words if texts.type == self._words.type else self._words.cast(texts.type)
        if len(self.words) <= max(FEW, 2 * len(texts)):
            places = compute.index_in(texts, value_set=words).fill_null(len(self.words)).to_numpy()
        else:
            places = self._search(texts, words)
        return self._rows[places]

    def _search(self, texts: pa.Array, words: pa.Array) -> np.ndarray:
        """Place of each text among many words, which Arrow would index anew for each batch."""
        sorted_hashes, order = self._sorted_hashes
        hashes = hash_texts(texts, murmur64)
        found = order[np.minimum(np.searchsorted(sorted_hashes, hashes), len(order) - 1)]
        same = compute.equal(words.take(pa.array(found)), texts).to_numpy(zero_copy_only=False)
        if not same.all() and (sorted_hashes[1:] == sorted_hashes[:-1]).any():
            return compute.index_in(texts, value_set=words).fill_null(len(self.words)).to_numpy()
        return np.where(same, found, len(self.words))

    @classmethod
    def example(cls) -> VocabularyBucket:
        return cls(rows=4, words=("rome", "oslo"), ids=(2, 3), unknown=1)

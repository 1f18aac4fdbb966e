"""Columns that have one value for each row, several of them at once: what costs the same for one and for many columns
is done once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import types

from polyrec.features._hashing import BLOCK, SPARE, WORD, Packed, text_offsets
from polyrec.features._keeping import nulls, stored


@dataclass(frozen=True, slots=True)
class Texts:
    """A column of texts as it stands in memory."""

    data: memoryview
    """The bytes of all texts one after another."""
    starts: np.ndarray
    """[B], where each begins in the data."""
    lengths: np.ndarray
    """[B], in bytes."""
    gaps: np.ndarray | None
    """bool [B], where a text is null; None when that is nowhere."""

    @classmethod
    def of(cls, column: pa.Array) -> Texts | None:
        """None when the column holds anything else."""
        if not (types.is_string(column.type) or types.is_large_string(column.type)):
            return None
        offsets = text_offsets(column)
        first, last = int(offsets[0]), int(offsets[-1])
        data = memoryview(column.buffers()[2] if last > first else b"")[first:last]
        return cls(data, offsets[:-1] - first, offsets[1:] - offsets[:-1], nulls(column))

    def holds(self, part: bytes) -> bool:
        """Whether the bytes stand in the data, across the ends of texts too."""
        return part in bytes(self.data)


@dataclass(frozen=True, slots=True)
class Given:
    """The texts of a column that are neither null nor empty."""

    texts: Texts
    chosen: np.ndarray
    """bool [B]."""
    count: int
    size: int
    """The bytes of each when all have as many and nothing stands between them, else 0."""

    @classmethod
    def of(cls, texts: Texts) -> Given:
        chosen = texts.lengths != 0
        if texts.gaps is not None:
            chosen = np.greater(chosen, texts.gaps)
        count, total = int(np.count_nonzero(chosen)), len(texts.data)
        size = total // max(count, 1)
        is_even = size * count == total and np.array_equal(texts.lengths == size, chosen)
        return cls(texts, chosen, count, size if is_even else 0)


def hash_columns(
    columns: Sequence[Texts], function: Callable[[Packed], np.ndarray]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each column the uint64 hashes of the texts that are neither null nor empty, and where those are, bool [B]."""
    found = [Given.of(texts) for texts in columns]
    hashes: dict[int, np.ndarray] = {}
    for places in _packs(found):
        together = function(_packed([found[place] for place in places]))
        ends = np.cumsum([found[place].count for place in places])[:-1]
        hashes.update(zip(places, np.split(together, ends) if len(places) > 1 else [together], strict=True))
    return [(hashes[place], item.chosen) for place, item in enumerate(found)]


def _packs(columns: Sequence[Given]) -> Iterator[list[int]]:
    """Columns to be hashed together: texts of one length, and few enough of them that they stay in a core's cache."""
    by_size: dict[int, list[int]] = {}
    for place, column in enumerate(columns):
        by_size.setdefault(column.size, []).append(place)
    for places in by_size.values():
        pack, count = [], 0
        for place in places:
            if pack and count + columns[place].count > BLOCK:
                yield pack
                pack, count = [], 0
            pack.append(place)
            count += columns[place].count
        yield pack


def _packed(columns: Sequence[Given]) -> Packed:
    """The given texts of columns of one size."""
    size = columns[0].size
    if size and size % WORD.itemsize == 0 and len(columns) == 1:
        # Whole words are read up to the end of a text and no further, so the texts may stay where they are.
        return Packed.even(np.frombuffer(columns[0].texts.data, np.uint8), columns[0].count, size)
    data = np.frombuffer(b"".join([*(column.texts.data for column in columns), bytes(SPARE)]), np.uint8)
    if size:
        return Packed.even(data, sum(column.count for column in columns), size)
    starts, lengths, base = [], [], 0
    for column in columns:
        starts.append(column.texts.starts[column.chosen] + np.int64(base))
        lengths.append(column.texts.lengths[column.chosen])
        base += len(column.texts.data)
    return Packed.of(data, np.concatenate(starts), np.concatenate(lengths, dtype=np.int64))


def number_columns(columns: Sequence[pa.Array]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of columns of one type, [C, B], and where they are neither null nor NaN, bool [C, B]."""
    numbers = np.stack([stored(column) for column in columns])
    given = ~np.isnan(numbers)
    for place, column in enumerate(columns):
        gaps = nulls(column)
        if gaps is not None:
            np.greater(given[place], gaps, out=given[place])
    return numbers, given

"""Columns that have one value for each row, several of them at once: what costs the same for one and for many columns
is done once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from polyrec.features._hashing import SPARE, Packed, hash_packed, text_offsets
from polyrec.features._keeping import nulls, stored


def hash_columns(columns: Sequence[pa.Array], function: Callable[[Packed], np.ndarray]) -> tuple[list, np.ndarray]:
    """For each column of texts the uint64 hashes of those that are neither null nor empty, and where those are, bool
    [C, B]."""
    given = np.empty((len(columns), len(columns[0])), bool)
    even: dict[int, list[int]] = {}
    counts = []
    for place, column in enumerate(columns):
        offsets = text_offsets(column)
        lengths = np.diff(offsets)
        np.not_equal(lengths, 0, out=given[place])
        gaps = nulls(column)
        if gaps is not None:
            np.greater(given[place], gaps, out=given[place])
        counts.append(int(np.count_nonzero(given[place])))
        total = int(offsets[-1] - offsets[0])
        size = total // max(counts[-1], 1)
        is_even = size * counts[-1] == total and np.array_equal(lengths == size, given[place])
        even.setdefault(size if is_even else 0, []).append(place)
    hashes: list = [None] * len(columns)
    for size, places in even.items():
        packed = _packed([columns[place] for place in places], given[places], size)
        ends = np.cumsum([counts[place] for place in places])[:-1]
        for place, found in zip(places, np.split(hash_packed(packed, function), ends), strict=True):
            hashes[place] = found
    return hashes, given


def _packed(columns: Sequence[pa.Array], given: np.ndarray, size: int) -> Packed:
    """The given texts of all columns; `size` is the length of each, 0 when they differ."""
    parts, starts, base = [], [], 0
    for column, chosen in zip(columns, given, strict=True):
        offsets = text_offsets(column)
        first, last = int(offsets[0]), int(offsets[-1])
        if last > first:
            parts.append(np.frombuffer(column.buffers()[2], np.uint8, count=last - first, offset=first))
        if not size:
            starts.append((offsets[:-1][chosen] + np.int64(base - first), np.diff(offsets)[chosen]))
        base += last - first
    data = np.concatenate([*parts, np.zeros(SPARE, np.uint8)])
    if size:
        count = int(np.count_nonzero(given))
        return Packed.of(data, np.arange(count) * size, np.full(count, size), size)
    begin, lengths = (np.concatenate(found) for found in zip(*starts, strict=True))
    return Packed.of(data, begin, lengths.astype(np.int64))


def number_columns(columns: Sequence[pa.Array]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of columns of one type, [C, B], and where they are neither null nor NaN, bool [C, B]."""
    numbers = np.stack([stored(column) for column in columns])
    given = ~np.isnan(numbers)
    for place, column in enumerate(columns):
        gaps = nulls(column)
        if gaps is not None:
            np.greater(given[place], gaps, out=given[place])
    return numbers, given

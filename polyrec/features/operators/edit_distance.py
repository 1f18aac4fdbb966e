"""How many letters must be put in, taken out or changed to make one text of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from polyrec.errors import DataError
from polyrec.families import OperatorConfig
from polyrec.features._texts import bytes_of, characters, texts
from polyrec.features._values import Values, missing

BLOCK = 1 << 15
"""Numbers that are worked on at once: few enough for the processor's cache."""


class EditDistance(OperatorConfig):
    first: str
    """Column of texts."""
    second: str
    """Column of texts that they are compared with."""
    unit: Literal["character", "byte"] = "character"
    """What counts as a letter: a character, or a byte of its UTF-8 form."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.first, self.second)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        first, second = (_one_text(rows, name) for name in self.inputs)
        cut = characters if self.unit == "character" else bytes_of
        distances = edit_distances(Letters(*cut(first.array)), Letters(*cut(second.array)))
        gaps = [found for side in (first, second) if (found := missing(side.array)) is not None]
        return pa.array(distances, pa.int64(), mask=np.logical_or.reduce(gaps) if gaps else None)

    @classmethod
    def example(cls) -> EditDistance:
        return cls(first="query", second="title")


def _one_text(rows: pa.RecordBatch, name: str) -> Values:
    found = texts(rows, name)
    if not found.single:
        raise DataError(f"column {name}: lists of texts cannot be compared; take them position by position")
    return found


@dataclass(frozen=True, slots=True)
class Letters:
    """The letters of texts one after another, and how many each has."""

    values: np.ndarray
    lengths: np.ndarray


def edit_distances(first: Letters, second: Letters) -> np.ndarray:
    """int64 [B]; Levenshtein's distance of each pair."""
    letters = np.concatenate((first.values, second.values))
    begins = [np.cumsum(side.lengths) - side.lengths for side in (first, second)]
    begins[1] = begins[1] + len(first.values)
    swap = first.lengths < second.lengths
    long = np.where(swap, begins[1], begins[0]), np.maximum(first.lengths, second.lengths)
    short = np.where(swap, begins[0], begins[1]), np.minimum(first.lengths, second.lengths)
    distances = long[1].astype(np.int64)
    for chosen in _blocks(long[1], short[1]):
        distances[chosen] = _block(letters, [part[chosen] for part in long], [part[chosen] for part in short])
    return distances


def _blocks(long: np.ndarray, short: np.ndarray) -> Iterator[np.ndarray]:
    """Pairs of about the same lengths together; those with an empty side need none."""
    order = np.lexsort((long, short))
    order = order[short[order] > 0]
    while len(order):
        size = BLOCK // (int(long[order[0]]) + 1) + 1
        # Longer texts further on make the block smaller.
        size = min(size, BLOCK // (int(long[order[:size]].max()) + 1) + 1)
        yield order[:size]
        order = order[size:]


def _block(letters: np.ndarray, long: list[np.ndarray], short: list[np.ndarray]) -> np.ndarray:
    """Column by column of the usual table, for all pairs at once.

    The table holds each distance less the number of its row, so that putting letters in is a running minimum.
    """
    ends, turns = long[1], short[1]
    height, width = int(ends.max()), int(turns.max())
    down = _padded(letters, long, height)
    across = _padded(letters, short, width)
    kind = np.int16 if height + width < 2**14 else np.int32
    table = np.zeros((height + 1, len(ends)), kind)
    found = np.zeros(len(ends), np.int64)
    for turn in range(width):
        changed = table[:-1] - (down == across[turn]).astype(kind)
        table += kind(1)
        np.minimum(table[1:], changed, out=table[1:])
        np.minimum.accumulate(table, axis=0, out=table)
        done = np.flatnonzero(turns == turn + 1)
        found[done] = table[ends[done], done] + ends[done]
    return found


def _padded(letters: np.ndarray, side: list[np.ndarray], height: int) -> np.ndarray:
    """The letters of a text in each column; what stands below the last one is never looked at."""
    places = side[0] + np.minimum(np.arange(height)[:, None], side[1] - 1)
    return letters[places]

"""Rows taken one stretch after another, with the position of the next one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from polyrec.data.position import Position
from polyrec.data.readers import Span

Pieces = Sequence[tuple[Span, int]]
"""What parts of files rows came from, in their order, and how many came from each."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in memory and the position before any of them."""

    batch: pa.RecordBatch
    pieces: Pieces
    order: np.ndarray | None
    """Which row of the batch is given out when; None for the order they stand in."""
    begin: int
    """Rows given out earlier."""
    position: Callable[[int], Position]
    """Where the next row is when so many rows have been given out."""

    @property
    def end(self) -> int:
        return self.batch.num_rows


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the rows in memory, on their way into one batch."""

    source: Rows
    start: int
    stop: int

    def rows(self) -> pa.RecordBatch:
        order = self.source.order
        if order is None:
            return self.source.batch.slice(self.start, self.stop - self.start)
        return self.source.batch.take(pa.array(order[self.start : self.stop]))

    def origin(self, row: int) -> tuple[Span, int]:
        """The piece of a file that a row of this part came with, and the row's number there."""
        order = self.source.order
        at = self.start + row if order is None else int(order[self.start + row])
        for piece, count in self.source.pieces:
            if at < count:
                return piece, at
            at -= count
        raise AssertionError("pieces hold every row of their batch")


@dataclass(frozen=True, slots=True)
class Room:
    """What a batch still has room for."""

    rows: int
    limit: float = math.inf
    """Largest sum of costs."""
    spent: float = 0.0
    """What its rows cost so far."""
    is_empty: bool = True
    """Whether it has no row yet; it then takes one whatever that costs."""


class Cursor:
    """Gives out the rows of a walk, as many at a time as a batch has room for."""

    def __init__(
        self, walk: Iterator[Rows], start: Position, costs: Callable[[Rows], np.ndarray] | None = None
    ) -> None:
        """`costs` gives what each row costs, in the order in which they are given out."""
        self.position = start
        """Where the next row is."""
        self.is_at_end = False
        """Whether rows were asked for that are not there."""
        self._walk = walk
        self._costs_of = costs
        self._rows: Rows | None = None
        self._costs: np.ndarray | None = None
        self._at = 0

    def take(self, room: Room) -> list[Part]:
        """The next rows that there is room for; none at the end, or when the next one costs too much."""
        parts: list[Part] = []
        left, spent = room.rows, room.spent
        while left and self._has_rows():
            assert self._rows is not None
            wanted = end = min(self._rows.end, self._at + left)
            if self._costs is not None:
                # Added up one after another, so that sums do not depend on how the rows are cut.
                sums = np.cumsum(np.append(spent, self._costs[self._at : end]))[1:]
                fitting = max(int(np.searchsorted(sums, room.limit, side="right")), room.is_empty and not parts)
                end = self._at + fitting
                spent = float(sums[fitting - 1]) if fitting else spent
            if end > self._at:
                parts.append(Part(self._rows, self._at, end))
                left -= end - self._at
                self._at = end
                self.position = self._rows.position(end)
            if end < wanted:
                break
        return parts

    def _has_rows(self) -> bool:
        while self._rows is None or self._at == self._rows.end:
            self._rows = None
            found = next(self._walk, None)
            if found is None:
                self.is_at_end = True
                return False
            self._rows, self._at = found, found.begin
            self._costs = None if self._costs_of is None else self._costs_of(found)
        return True

"""What a feature makes of a record batch, or why it cannot: arrays for all rows at once, without torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from polyrec.errors import DataError

Kind = Literal["broken", "unreadable", "range", "missing", "size", "other"]
"""What is wrong with a row: it cannot be taken apart; a value is not of the type that is needed; it is no known id or
class; there is none; there are too many or too few of them; anything else."""


class RowError(DataError):
    """A row that cannot be used, by its number in the batch, from 0; who transforms a batch knows no more of it."""

    def __init__(self, subject: str, row: int, what: str, kind: Kind = "other", rows: np.ndarray | None = None) -> None:
        """`subject` is the column, feature or group that is wrong there; `rows` are all in which it is wrong so, where
        whoever finds one knows them all."""
        self.subject = subject
        self.row = row
        self.what = what
        self.kind: Kind = kind
        self.rows = rows
        super().__init__(f"{subject}: row {row}: {what}")

    def at(self, place: str) -> DataError:
        """The same by its place in the data, for those who know that."""
        return DataError(f"{place}: {self.subject}: {self.what}")


@dataclass(frozen=True, slots=True)
class Ragged:
    """Any number of ids per row."""

    values: np.ndarray
    """int64 [V], the ids of all rows one after another."""
    lengths: np.ndarray
    """int32 [B], how many of them each row has."""
    weights: np.ndarray | None = None
    """float32 [V], how much each counts; None when all count once."""


@dataclass(frozen=True, slots=True)
class Dense:
    """The same number of numbers for each row."""

    values: np.ndarray
    """float32 [B, W]."""


@dataclass(frozen=True, slots=True)
class RaggedDense:
    """A sequence of vectors per row."""

    values: np.ndarray
    """float32 [V, W], the vectors of all rows one after another."""
    lengths: np.ndarray
    """int32 [B], how many of them each row has."""


@dataclass(frozen=True, slots=True)
class RaggedBags:
    """A sequence per row whose positions hold any number of ids each."""

    values: np.ndarray
    """int64 [V], the ids of all positions one after another."""
    counts: np.ndarray
    """int32 [P], how many of them each position has."""
    lengths: np.ndarray
    """int32 [B], how many positions each row has."""
    weights: np.ndarray | None = None
    """float32 [V], how much each counts in its position; None when all count once."""

    @property
    def by_row(self) -> Ragged:
        """The ids of each row without their positions."""
        ends = np.concatenate(([0], np.cumsum(self.counts)))[np.cumsum(self.lengths)]
        return Ragged(self.values, np.diff(ends, prepend=0).astype(np.int32), self.weights)


Column = Ragged | Dense | RaggedDense | RaggedBags
"""What a feature makes of a record batch."""

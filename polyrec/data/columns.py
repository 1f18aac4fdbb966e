"""What a feature makes of a record batch: arrays for all rows at once, without torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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

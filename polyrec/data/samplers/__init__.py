"""Samplers, one file each, and what they make of a batch's rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

TRAINING, EVALUATION = 3, 4
"""Keep what is drawn apart from other choices made with the same seed."""


def _nothing() -> np.ndarray:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Sampled:
    """A batch's rows, and the items that joined them."""

    rows: pa.RecordBatch
    """The rows, or what they became."""
    items: pa.RecordBatch | None = None
    """Sampled items, with those of the sampler's columns that the rows have: first those that stand against all rows,
    then those that stand against one row each. None when rows were added instead."""
    owners: np.ndarray = field(default_factory=_nothing)
    """int64 [H], the row that each of the last H items stands against."""
    hidden_rows: np.ndarray = field(default_factory=_nothing)
    """int64 [M], rows against which an item that stands against all of them must not count."""
    hidden_items: np.ndarray = field(default_factory=_nothing)
    """int64 [M], those items by their number among the sampled ones."""
    place: Callable[[int], str] = str
    """Where the item of the n-th place after the batch's own rows stands in its table, for errors."""


def random_for(seed: int, kind: int, epoch: int, rank: int, batch: int) -> np.random.Generator:
    """Random numbers of one batch: the same for a run that is resumed as for one that went on."""
    return np.random.default_rng((seed, kind, epoch, rank, batch))

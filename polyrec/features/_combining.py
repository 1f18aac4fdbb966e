"""All numbers of a row made into one."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa

Combiner = Literal["sum", "mean", "min", "max", "count", "gap_min", "gap_max"]


def combine(numbers: np.ndarray, lengths: np.ndarray, combiner: Combiner) -> pa.Array:
    """float64 [B] of numbers [V], null for rows without any; each row alone decides its rounding."""
    if combiner in ("gap_min", "gap_max"):
        numbers, lengths = _gaps(numbers, lengths)
        combiner = "min" if combiner == "gap_min" else "max"
    has_any = lengths > 0
    if combiner == "count":
        found = lengths.astype(np.float64)
    elif combiner in ("sum", "mean"):
        found = np.bincount(np.repeat(np.arange(len(lengths)), lengths), numbers, len(lengths)).astype(np.float64)
        if combiner == "mean":
            found = found / np.maximum(lengths, 1)
    else:
        found = np.zeros(len(lengths))
        if has_any.any():
            reduce = np.minimum if combiner == "min" else np.maximum
            found[has_any] = reduce.reduceat(numbers, (np.cumsum(lengths) - lengths)[has_any])
    return pa.array(found, mask=~has_any)


def _gaps(numbers: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far apart neighbours are, and how many such gaps each row has."""
    gaps = np.abs(np.diff(numbers))
    last = np.cumsum(lengths)[lengths > 0] - 1
    return np.delete(gaps, last[:-1]), np.maximum(lengths - 1, 0)

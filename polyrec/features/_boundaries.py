"""How many of some rising boundaries each number has reached."""

from __future__ import annotations

import numpy as np

# Up to this many boundaries, comparing with each costs less than halving, whose steps no processor foresees.
FEW = 32


def reached(numbers: np.ndarray, boundaries: tuple[float, ...]) -> np.ndarray:
    """int64 of the same shape, equality included; anything for NaN.

    Boundaries are compared in the precision of the numbers.
    """
    limits = np.array(boundaries, numbers.dtype)
    if len(limits) > FEW:
        return np.searchsorted(limits, numbers, side="right").astype(np.int64)
    counts = np.zeros(numbers.shape, np.uint8)
    is_reached = np.empty(numbers.shape, bool)
    for limit in limits:
        np.greater_equal(numbers, limit, out=is_reached)
        counts += is_reached.view(np.uint8)
    return counts.astype(np.int64)

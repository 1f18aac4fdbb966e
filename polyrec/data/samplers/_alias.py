"""Numbers drawn by weight in constant time each (Walker, 1977); the table is made without a loop over the numbers."""

from __future__ import annotations

import numpy as np


class AliasTable:
    """Numbers 0 to n - 1. Each has a box of size 1 / n, shared with at most one other number, its alias."""

    def __init__(self, weights: np.ndarray) -> None:
        """`weights` are finite and not negative, and one of them at least is not 0."""
        sizes = weights.astype(np.float64) * (len(weights) / weights.sum(dtype=np.float64))
        light = np.flatnonzero(sizes <= 1)
        heavy = np.flatnonzero(sizes > 1)
        self.share = np.ones(len(sizes))
        """Part of the box that is the number's own."""
        self.alias = np.arange(len(sizes), dtype=np.int32 if len(sizes) < 2**31 else np.int64)
        if not len(heavy):
            return
        # Room in light boxes and surplus of heavy numbers, laid end to end: each light box is filled by the heavy
        # number whose surplus reaches beyond the room before it. Where the surplus of a heavy number ends, its own box
        # has room, which the next heavy number fills.
        room = np.concatenate(([0.0], np.cumsum(1 - sizes[light])))
        surplus = np.cumsum(sizes[heavy] - 1)
        last = len(heavy) - 1
        filler = np.minimum(np.searchsorted(surplus, room[:-1], side="right"), last)
        self.share[light] = sizes[light]
        self.alias[light] = heavy[filler]
        ends = np.minimum(np.searchsorted(room, surplus[:-1], side="left"), len(room) - 1)
        self.share[heavy[:-1]] = np.clip(1 + surplus[:-1] - room[ends], 0, 1)
        self.alias[heavy[:-1]] = heavy[1:]

    @property
    def nbytes(self) -> int:
        return self.share.nbytes + self.alias.nbytes

    def draw(self, random: np.random.Generator, count: int) -> np.ndarray:
        """int64 [count], each by the weights, whatever the others are."""
        boxes = random.integers(0, len(self.share), count)
        is_own = random.random(count) < self.share[boxes]
        return np.where(is_own, boxes, self.alias[boxes])

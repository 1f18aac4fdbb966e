"""The rate falls along half a cosine, after a linear warm-up (Loshchilov and Hutter, 2017, arXiv:1608.03983)."""

from __future__ import annotations

import math

from pydantic import Field

from polyrec.optim.schedules._warming import WarmingConfig


class Cosine(WarmingConfig):
    length: int = Field(gt=0)
    """Steps (or epochs) of the fall, behind the warm-up."""

    def fall(self, base: float, done: int) -> float:
        return half_cosine(base, self.floor, min(done / self.length, 1.0))

    @classmethod
    def example(cls) -> Cosine:
        return cls(length=10)


def half_cosine(top: float, bottom: float, share: float) -> float:
    """From the top at 0 to the bottom at 1."""
    return bottom + (top - bottom) * 0.5 * (1 + math.cos(math.pi * share))

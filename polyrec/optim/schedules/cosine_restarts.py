"""The rate falls along half a cosine again and again, each time from the top (arXiv:1608.03983)."""

from __future__ import annotations

from pydantic import Field

from polyrec.optim.schedules._warming import WarmingConfig
from polyrec.optim.schedules.cosine import half_cosine


class CosineRestarts(WarmingConfig):
    length: int = Field(gt=0)
    """Steps (or epochs) of the first fall, behind the warm-up."""
    growth: int = Field(default=1, ge=1)
    """How many times longer each fall is than the one before."""

    def fall(self, base: float, done: int) -> float:
        length = self.length
        if self.growth == 1:
            done %= length
        while done >= length:
            done -= length
            length *= self.growth
        return half_cosine(base, self.floor, done / length)

    @classmethod
    def example(cls) -> CosineRestarts:
        return cls(length=3, growth=2)

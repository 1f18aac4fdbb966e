"""The rate is multiplied by a factor every so many steps, after a linear warm-up."""

from __future__ import annotations

from pydantic import Field

from polyrec.optim.schedules._warming import WarmingConfig


class Exponential(WarmingConfig):
    every: int = Field(gt=0)
    """Steps (or epochs) over which the rate falls by `factor`."""
    factor: float = Field(gt=0)
    staircase: bool
    """Whether it falls at once at the end of each `every`, or a little each step."""

    def fall(self, base: float, done: int) -> float:
        falls = done // self.every if self.staircase else done / self.every
        return max(base * self.factor**falls, self.floor)

    @classmethod
    def example(cls) -> Exponential:
        return cls(every=2, factor=0.5, staircase=True)

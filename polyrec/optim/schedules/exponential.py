"""The rate is multiplied by a factor every so many steps, after a linear warm-up."""

from __future__ import annotations

from pydantic import Field

from polyrec.families import ScheduleConfig


class Exponential(ScheduleConfig):
    every: int = Field(gt=0)
    """Steps (or epochs) over which the rate falls by `factor`."""
    factor: float = Field(gt=0)
    staircase: bool
    """Whether it falls at once at the end of each `every`, or a little each step."""
    warmup: int = Field(default=0, ge=0)
    """Steps of linear rise; the fall counts from their end."""
    warmup_start: float = Field(default=0.0, ge=0)
    """Rate at step 0 when there is a warm-up."""
    floor: float = Field(default=0.0, ge=0)
    """The fall ends here."""

    def rate(self, base: float, progress: int) -> float:
        if progress < self.warmup:
            return self.warmup_start + (base - self.warmup_start) * progress / self.warmup
        done = progress - self.warmup
        falls = done // self.every if self.staircase else done / self.every
        return max(base * self.factor**falls, self.floor)

    @classmethod
    def example(cls) -> Exponential:
        return cls(every=2, factor=0.5, staircase=True)

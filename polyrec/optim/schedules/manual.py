"""Rates that are written out, each from a step of its own on."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Self

from pydantic import Field, model_validator

from polyrec.families import ScheduleConfig


class Manual(ScheduleConfig):
    starts: tuple[int, ...] = Field(min_length=1)
    """Steps (or epochs), in rising order, from which the rates hold, one for each."""
    rates: tuple[float, ...]
    warmup: int = Field(default=0, ge=0)
    """Steps of linear way from the optimizer's own rate to the first of `rates`, before its start; 0 for none."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.starts) != len(self.rates):
            raise ValueError(f"{len(self.starts)} starts and {len(self.rates)} rates; give one rate for each start")
        if self.starts[0] < 0 or any(later <= earlier for earlier, later in pairwise(self.starts)):
            raise ValueError("starts must be in rising order and not negative")
        if any(rate < 0 for rate in self.rates):
            raise ValueError("rates must not be negative")
        if self.warmup > self.starts[0]:
            raise ValueError("warmup ends after the first of starts, whose rate it leads to")
        return self

    def rate(self, base: float, progress: int) -> float:
        if not base:
            return 0.0
        passed = bisect_right(self.starts, progress)
        if passed:
            return self.rates[passed - 1]
        if not self.warmup:
            return base
        return base + (self.rates[0] - base) * min(progress / self.warmup, 1.0)

    @classmethod
    def example(cls) -> Manual:
        return cls(starts=(2, 7), rates=(0.2, 0.05))

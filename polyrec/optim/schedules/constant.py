"""The optimizer's own rate throughout."""

from __future__ import annotations

from polyrec.families import ScheduleConfig


class Constant(ScheduleConfig):
    def rate(self, base: float, progress: int) -> float:
        return base

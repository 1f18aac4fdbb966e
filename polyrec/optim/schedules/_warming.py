"""What schedules that rise first and fall then have in common."""

from __future__ import annotations

from abc import abstractmethod

from pydantic import Field

from polyrec.families import ScheduleConfig


class WarmingConfig(ScheduleConfig):
    warmup: int = Field(default=0, ge=0)
    """Steps (or epochs) of linear rise; the fall counts from their end."""
    warmup_start: float = Field(default=0.0, ge=0)
    """Rate at step 0 when there is a warm-up."""
    floor: float = Field(default=0.0, ge=0)
    """The fall ends here."""

    def rate(self, base: float, progress: int) -> float:
        if not base:
            return 0.0
        if progress < self.warmup:
            return self.warmup_start + (base - self.warmup_start) * progress / self.warmup
        return self.fall(base, progress - self.warmup)

    @abstractmethod
    def fall(self, base: float, done: int) -> float:
        """Rate after so many steps (or epochs) behind the warm-up."""

"""The range from `low` to `high` onto 0 to 1; numbers outside it are not clipped."""

from __future__ import annotations

from typing import Self

import numpy as np
from pydantic import model_validator

from polyrec.families import NormalizerConfig


class MinMax(NormalizerConfig):
    low: float
    """What becomes 0."""
    high: float
    """What becomes 1."""

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.low == self.high:
            raise ValueError(f"low and high are both {self.low}; they must differ")
        return self

    def apply(self, values: np.ndarray) -> np.ndarray:
        return (values - np.float32(self.low)) / np.float32(self.high - self.low)

    @classmethod
    def example(cls) -> MinMax:
        return cls(low=0.0, high=10.0)

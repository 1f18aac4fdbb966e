"""How many standard deviations a number is above the mean."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from polyrec.families import NormalizerConfig


class ZScore(NormalizerConfig):
    mean: float
    std: float = Field(gt=0)
    """Standard deviation."""

    def apply(self, values: np.ndarray) -> np.ndarray:
        return (values - np.float32(self.mean)) / np.float32(self.std)

    @classmethod
    def example(cls) -> ZScore:
        return cls(mean=0.0, std=1.0)

"""The decimal logarithm, for numbers of which a few are very large."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from polyrec.families import NormalizerConfig


class Log10(NormalizerConfig):
    threshold: float = Field(ge=0)
    """Only numbers above it have a logarithm here."""
    default: float
    """What all others become."""

    def apply(self, values: np.ndarray) -> np.ndarray:
        above = values > self.threshold
        # In float32 the logarithm of 100 would not be 2.
        out = np.full(values.shape, self.default, np.float64)
        np.log10(values, out=out, where=above, dtype=np.float64)
        return out.astype(np.float32)

    @classmethod
    def example(cls) -> Log10:
        return cls(threshold=1e-10, default=-10.0)

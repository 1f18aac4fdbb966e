"""Numbers computed by a formula of `x`, such as `sigmoid(x / 10)`."""

from __future__ import annotations

import numpy as np

from polyrec.families import NormalizerConfig


class Expression(NormalizerConfig):
    text: str
    """The formula; see docs/expressions.md. Its one variable is x."""

    def apply(self, values: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @classmethod
    def example(cls) -> Expression:
        return cls(text="log(1 + x)")

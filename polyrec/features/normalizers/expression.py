"""Numbers computed by a formula of `x`, such as `sigmoid(x / 10)`."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from pydantic import field_validator

from polyrec.families import NormalizerConfig
from polyrec.features._expression.formula import Formula
from polyrec.features._values import ElementError


class Expression(NormalizerConfig):
    text: str
    """The formula; see docs/expressions.md. Its one variable is x."""

    @field_validator("text")
    @classmethod
    def _readable(cls, text: str) -> str:
        Formula(text, ("x",)).refuse_lists()
        return text

    def apply(self, values: np.ndarray) -> np.ndarray:
        found = self._formula.of_one("x", values).astype(np.float32)
        gaps = np.isnan(found)
        if gaps.any():
            place = int(np.argmax(gaps))
            what = f"{self.text} is no number where x is {values.ravel()[place]:g}"
            raise ElementError(place, f"{what}; choose another result there, as in `x > 0 ? log(x) : 0`", "range")
        return found

    @cached_property
    def _formula(self) -> Formula:
        return Formula(self.text, ("x",))

    @classmethod
    def example(cls) -> Expression:
        return cls(text="log(1 + x)")

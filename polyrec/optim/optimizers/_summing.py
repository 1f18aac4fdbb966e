"""What the kinds of Adagrad have in common."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from polyrec.families import OptimizerConfig


class SummingConfig(OptimizerConfig):
    """An optimizer that divides by the root of a sum of squares."""

    initial_accumulator: float = Field(ge=0)
    """What the sums start from."""
    eps: float = Field(ge=0)
    """Added to the root of the sum."""

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.eps == 0 and self.initial_accumulator == 0:
            raise ValueError("eps and initial_accumulator are both 0: a gradient of 0 would be divided by 0")
        return self

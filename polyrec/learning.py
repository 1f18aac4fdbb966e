"""The part of a run's config that says how weights move. Imports no torch."""

from __future__ import annotations

import re
from typing import Self

from pydantic import Field, field_validator, model_validator

from polyrec.catalog import Frozen
from polyrec.families import OptimizerConfig, ScheduleConfig


class Moves(Frozen):
    optimizer: OptimizerConfig
    schedule: ScheduleConfig


class Part(Moves):
    """Some of the dense weights, with an optimizer and a schedule of their own."""

    pattern: str
    """Regular expression that must match a weight's whole name, as `polyrec checkpoint ls` shows it."""

    @field_validator("pattern")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"is not a regular expression: {error}") from None
        return pattern


class Learning(Moves):
    clip_gradient: float | None = Field(default=None, gt=0)
    """Largest global norm of the gradient, None for no clipping; tables cannot be clipped so."""
    clip_norm: float = Field(default=2.0, gt=0)
    """Which norm `clip_gradient` limits: the root of that power of the sum of that power; `.inf` for the maximum."""
    clip_value: float | None = Field(default=None, gt=0)
    """Largest absolute value of each number of the gradient: of a weight, or of a vector that tables gave."""

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if self.clip_norm != 2 and self.clip_gradient is None:
            raise ValueError("clip_norm is the norm of clip_gradient, which is not given")
        return self


class Optim(Frozen):
    tables: Learning
    """For the rows of tables: only rows of the batch are touched."""
    dense: Learning
    """For every other weight."""
    parts: tuple[Part, ...] = ()
    """For those of the other weights whose name a pattern matches, the first one that does; clipped as `dense` says."""
    average: float | None = Field(default=None, ge=0, lt=1)
    """Share of a running average of each of the other weights that every step keeps; None for no averages."""

    @model_validator(mode="after")
    def _clipped(self) -> Self:
        if self.tables.clip_gradient is not None:
            raise ValueError(
                "tables.clip_gradient: rows of tables move as soon as their gradient is known, before a global norm "
                "is; remove it, use tables.clip_value, or clip the dense weights alone with dense.clip_gradient"
            )
        return self

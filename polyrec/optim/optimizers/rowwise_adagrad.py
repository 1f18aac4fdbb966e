"""Adagrad with one sum for each row, of the mean of its squared gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from polyrec.families import OptimizerConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.rows import RowwiseAdagradRows


class RowwiseAdagrad(OptimizerConfig):
    initial_accumulator: float = Field(ge=0)
    """What the sums start from."""
    eps: float = Field(ge=0)
    """Added to the root of the sum."""

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.eps == 0 and self.initial_accumulator == 0:
            raise ValueError("eps and initial_accumulator are both 0: a gradient of 0 would be divided by 0")
        return self

    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        from polyrec.optim.dense import RuleOptimizer

        return RuleOptimizer(parameters, self.rows_rule(), self.lr)

    def rows_rule(self) -> RowwiseAdagradRows:
        from polyrec.optim.rows import RowwiseAdagradRows

        return RowwiseAdagradRows(self.initial_accumulator, self.eps)

    @classmethod
    def example(cls) -> RowwiseAdagrad:
        return cls(lr=0.1, initial_accumulator=0.0, eps=1e-8)

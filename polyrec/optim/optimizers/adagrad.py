"""Adagrad (Duchi et al., 2011): each weight's rate falls with the sum of its squared gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from polyrec.families import OptimizerConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.rows import AdagradRows


class Adagrad(OptimizerConfig):
    initial_accumulator: float = Field(ge=0)
    """What the sums start from."""
    eps: float = Field(ge=0)
    """Added to the root of the sum."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Added to the gradient, times the weight."""

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.eps == 0 and self.initial_accumulator == 0:
            raise ValueError("eps and initial_accumulator are both 0: a gradient of 0 would be divided by 0")
        return self

    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        import torch

        return torch.optim.Adagrad(
            parameters,
            lr=self.lr,
            initial_accumulator_value=self.initial_accumulator,
            eps=self.eps,
            weight_decay=self.weight_decay,
        )

    def rows_rule(self) -> AdagradRows:
        from polyrec.optim.rows import AdagradRows

        return AdagradRows(self.initial_accumulator, self.eps, self.weight_decay)

    @classmethod
    def example(cls) -> Adagrad:
        return cls(lr=0.1, initial_accumulator=0.1, eps=0.0)

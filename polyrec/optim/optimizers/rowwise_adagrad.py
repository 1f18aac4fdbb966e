"""Adagrad with one sum for each row, of the mean of its squared gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.optim.optimizers._summing import SummingConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.rows import RowwiseAdagradRows


class RowwiseAdagrad(SummingConfig):
    weight_decay: float = Field(default=0.0, ge=0)
    is_decoupled: bool = False
    """Whether the decay shrinks the weight by rate times decay, or is added to the gradient, times the weight."""

    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        from polyrec.optim.dense import RuleOptimizer

        return RuleOptimizer(parameters, self.rows_rule(), self.lr)

    def rows_rule(self) -> RowwiseAdagradRows:
        from polyrec.optim.rows import RowwiseAdagradRows

        return RowwiseAdagradRows(self.initial_accumulator, self.eps, self.weight_decay, self.is_decoupled)

    @classmethod
    def example(cls) -> RowwiseAdagrad:
        return cls(lr=0.1, initial_accumulator=0.0, eps=1e-8)

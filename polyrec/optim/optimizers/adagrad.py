"""Adagrad (Duchi et al., 2011): each weight's rate falls with the sum of its squared gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.optim.optimizers._summing import SummingConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.rows import AdagradRows


class Adagrad(SummingConfig):
    weight_decay: float = Field(default=0.0, ge=0)
    """Added to the gradient, times the weight."""

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

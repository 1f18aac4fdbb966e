"""RMSprop (Hinton, 2012): each weight's rate goes by a running mean of its squared gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import OptimizerConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.row_means import RMSpropRows


class RMSprop(OptimizerConfig):
    alpha: float = Field(ge=0, lt=1)
    """Share of the running mean that each step keeps."""
    eps: float = Field(gt=0)
    """Added to the root of the mean."""
    momentum: float = Field(default=0.0, ge=0)
    weight_decay: float = Field(default=0.0, ge=0)
    """Added to the gradient, times the weight."""
    start: float = Field(default=0.0, ge=0)
    """What the mean starts from; TensorFlow's is 1."""
    is_eps_inside: bool = False
    """Whether `eps` is added to the mean before its root is taken, as TensorFlow does."""

    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        import torch

        from polyrec.optim.dense import RuleOptimizer

        if self.start or self.is_eps_inside:
            return RuleOptimizer(parameters, self.rows_rule(), self.lr)
        return torch.optim.RMSprop(
            parameters,
            lr=self.lr,
            alpha=self.alpha,
            eps=self.eps,
            weight_decay=self.weight_decay,
            momentum=self.momentum,
        )

    def rows_rule(self) -> RMSpropRows:
        from polyrec.optim.row_means import RMSpropRows

        return RMSpropRows(
            self.alpha, self.eps, self.momentum, self.weight_decay, start=self.start, is_eps_inside=self.is_eps_inside
        )

    @classmethod
    def example(cls) -> RMSprop:
        return cls(lr=0.1, alpha=0.99, eps=1e-8)

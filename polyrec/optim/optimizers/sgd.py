"""Gradient descent, with or without momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from polyrec.families import OptimizerConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.rows import SGDRows


class SGD(OptimizerConfig):
    momentum: float = Field(default=0.0, ge=0)
    dampening: float = 0.0
    """Share of each gradient but the first that the momentum leaves out."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Added to the gradient, times the weight."""
    nesterov: bool = False

    @model_validator(mode="after")
    def _nesterov_needs_momentum(self) -> Self:
        if self.nesterov and (self.momentum <= 0 or self.dampening != 0):
            raise ValueError("nesterov needs momentum above 0 and dampening 0")
        return self

    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        import torch

        return torch.optim.SGD(
            parameters,
            lr=self.lr,
            momentum=self.momentum,
            dampening=self.dampening,
            weight_decay=self.weight_decay,
            nesterov=self.nesterov,
        )

    def rows_rule(self) -> SGDRows:
        from polyrec.optim.rows import SGDRows

        return SGDRows(self.momentum, self.dampening, self.weight_decay, self.nesterov)

    @classmethod
    def example(cls) -> SGD:
        return cls(lr=0.1)

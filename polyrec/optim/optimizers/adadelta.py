"""Adadelta (Zeiler, 2012, arXiv:1212.5701): steps as large as recent ones, by running means of squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import OptimizerConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.row_means import AdadeltaRows


class Adadelta(OptimizerConfig):
    rho: float = Field(ge=0, lt=1)
    """Share of the running means that each step keeps."""
    eps: float = Field(gt=0)
    """Added to both means before their roots are taken."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Added to the gradient, times the weight."""

    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        import torch

        return torch.optim.Adadelta(parameters, lr=self.lr, rho=self.rho, eps=self.eps, weight_decay=self.weight_decay)

    def rows_rule(self) -> AdadeltaRows:
        from polyrec.optim.row_means import AdadeltaRows

        return AdadeltaRows(self.rho, self.eps, self.weight_decay)

    @classmethod
    def example(cls) -> Adadelta:
        return cls(lr=0.1, rho=0.9, eps=1e-6)

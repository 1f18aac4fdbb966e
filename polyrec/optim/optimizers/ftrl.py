"""FTRL-Proximal (McMahan et al., 2013): Adagrad's rates, with penalties that hold weights at exactly 0.

Moves as TensorFlow's does, but a weight whose gradient is 0 stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import OptimizerConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.row_ftrl import FTRLRows


class FTRL(OptimizerConfig):
    initial_accumulator: float = Field(default=0.1, gt=0)
    """What the sums of squared gradients start from."""
    power: float = Field(default=-0.5, le=0)
    """Power of the sum by which the rate falls; 0 keeps it."""
    l1: float = Field(default=0.0, ge=0)
    """Penalty on the absolute weight, which makes small ones 0."""
    l2: float = Field(default=0.0, ge=0)
    """Penalty on the squared weight, in what is solved for."""
    shrinkage: float = Field(default=0.0, ge=0)
    """Penalty on the squared weight, in the gradient, which the sum of squares does not see."""

    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        from polyrec.optim.dense import RuleOptimizer

        return RuleOptimizer(parameters, self.rows_rule(), self.lr)

    def rows_rule(self) -> FTRLRows:
        from polyrec.optim.row_ftrl import FTRLRows

        return FTRLRows(self.initial_accumulator, self.power, self.l1, self.l2, self.shrinkage)

    @classmethod
    def example(cls) -> FTRL:
        return cls(lr=0.1)

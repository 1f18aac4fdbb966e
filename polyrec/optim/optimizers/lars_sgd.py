"""LARS (You et al., 2017, arXiv:1708.03888): momentum whose rate goes by the norms of the row and of its gradient.

Every row of a weight has a rate of its own, as FBGEMM has it. Where either norm is 0 their ratio counts as 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import OptimizerConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.row_norms import LarsRows


class LarsSGD(OptimizerConfig):
    momentum: float = Field(default=0.9, ge=0)
    eta: float = Field(default=0.001, gt=0)
    """What the ratio of norms is multiplied by."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Added to the gradient, times the weight, and to its norm, times the norm of the row."""

    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        from polyrec.optim.dense import RuleOptimizer

        return RuleOptimizer(parameters, self.rows_rule(), self.lr)

    def rows_rule(self) -> LarsRows:
        from polyrec.optim.row_norms import LarsRows

        return LarsRows(self.momentum, self.eta, self.weight_decay)

    @classmethod
    def example(cls) -> LarsSGD:
        return cls(lr=0.1)

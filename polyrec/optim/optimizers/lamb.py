"""LAMB (You et al., 2020, arXiv:1904.00962): an Adam step, scaled to the norm of the row that it moves.

Every row of a weight has a ratio of its own, as FBGEMM has it. Where either norm is 0 the ratio is 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.optim.optimizers._moments import MomentsConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.row_moments import LambRows


class Lamb(MomentsConfig):
    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        from polyrec.optim.dense import RuleOptimizer

        return RuleOptimizer(parameters, self.rows_rule(), self.lr)

    def rows_rule(self) -> LambRows:
        from polyrec.optim.row_moments import LambRows

        return LambRows(self.beta1, self.beta2, self.eps, self.weight_decay)

    @classmethod
    def example(cls) -> Lamb:
        return cls(lr=0.1, beta1=0.9, beta2=0.999, eps=1e-8)

"""Adam with one second moment for each row, of the mean of its squared gradients; its decay is decoupled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.optim.optimizers._moments import MomentsConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.row_moments import PartialRowwiseAdamRows


class PartialRowwiseAdam(MomentsConfig):
    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        from polyrec.optim.dense import RuleOptimizer

        return RuleOptimizer(parameters, self.rows_rule(), self.lr)

    def rows_rule(self) -> PartialRowwiseAdamRows:
        from polyrec.optim.row_moments import PartialRowwiseAdamRows

        return PartialRowwiseAdamRows(self.beta1, self.beta2, self.eps, self.weight_decay)

    @classmethod
    def example(cls) -> PartialRowwiseAdam:
        return cls(lr=0.1, beta1=0.9, beta2=0.999, eps=1e-8)

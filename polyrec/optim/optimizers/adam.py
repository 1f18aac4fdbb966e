"""Adam (Kingma and Ba, 2015, arXiv:1412.6980) and, decoupled, AdamW; tables move only the rows of the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import OptimizerConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

    from polyrec.optim.rows import AdamRows


class Adam(OptimizerConfig):
    beta1: float = Field(ge=0, lt=1)
    beta2: float = Field(ge=0, lt=1)
    eps: float = Field(gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    epsilon_hat: bool = False
    """Whether `eps` is added to the root of the second moment before its bias is corrected, as TensorFlow does."""
    amsgrad: bool = False
    """Whether the root is that of the largest second moment so far (Reddi et al., 2018, arXiv:1904.09237)."""
    is_decoupled: bool = False
    """Whether the decay shrinks the weight by rate times decay (AdamW) or is added to the gradient."""

    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        import torch

        from polyrec.optim.dense import RuleOptimizer

        if self.epsilon_hat:
            return RuleOptimizer(parameters, self.rows_rule(), self.lr)
        kind = torch.optim.AdamW if self.is_decoupled else torch.optim.Adam
        return kind(
            parameters,
            lr=self.lr,
            betas=(self.beta1, self.beta2),
            eps=self.eps,
            weight_decay=self.weight_decay,
            amsgrad=self.amsgrad,
        )

    def rows_rule(self) -> AdamRows:
        from polyrec.optim.rows import AdamRows

        return AdamRows(
            self.beta1,
            self.beta2,
            self.eps,
            self.weight_decay,
            self.epsilon_hat,
            self.is_decoupled,
            amsgrad=self.amsgrad,
        )

    @classmethod
    def example(cls) -> Adam:
        return cls(lr=0.1, beta1=0.9, beta2=0.999, eps=1e-8)

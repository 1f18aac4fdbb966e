"""Normalisation over a batch or over a row's vector."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyrec.parts import Norm


class BatchNorm(nn.Module):
    """Normalise each column of [B, D] by the batch in training, by the running statistics otherwise.

    A training batch of fewer than two rows has no variance of its own: it is normalised by the running
    statistics and leaves them as they are.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, width: int, config: Norm, affine: bool = True) -> None:
        super().__init__()
        self.momentum, self.eps, self.is_biased = config.momentum, config.eps, config.is_biased
        self.weight = nn.Parameter(torch.ones(width)) if affine else None
        self.bias = nn.Parameter(torch.zeros(width)) if affine else None
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_var", torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        learns = self.training and x.shape[0] > 1
        if not (learns and self.is_biased):
            mean, var = self.running_mean, self.running_var
            return functional.batch_norm(x, mean, var, self.weight, self.bias, learns, self.momentum, self.eps)
        # torch would mix in the unbiased variance, n / (n - 1) times the batch's own.
        out = functional.batch_norm(x, None, None, self.weight, self.bias, True, self.momentum, self.eps)
        with torch.no_grad():
            var, mean = torch.var_mean(x, dim=0, correction=0)
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(var, self.momentum)
        return out


def norm(config: Norm, width: int) -> nn.Module:
    if config.kind == "layer":
        return nn.LayerNorm(width, eps=config.eps)
    return BatchNorm(width, config)

"""Normalisation over a batch or over a row's vector."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyrec.parts import Norm


class BatchNorm(nn.Module):
    """Normalise each column of [B, D] by the batch in training, by the running statistics otherwise.

    A training batch of fewer than two rows has no variance of its own: it is normalised by the running
    statistics and leaves them as they are. The batch is that of all processes where `total` is set.
    """

    running_mean: Tensor
    running_var: Tensor
    total: Callable[[Tensor], Tensor] | None = None
    """Adds a tensor up over all processes of a step, gradients included; None when this one has all rows of it."""

    def __init__(self, width: int, config: Norm, affine: bool = True) -> None:
        super().__init__()
        self.momentum, self.eps, self.is_biased = config.momentum, config.eps, config.is_biased
        self.weight = nn.Parameter(torch.ones(width)) if affine else None
        self.bias = nn.Parameter(torch.zeros(width)) if affine else None
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_var", torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        if self.training and self.total is not None:
            return self._of_all_rows(x, self.total)
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

    def _of_all_rows(self, x: Tensor, total: Callable[[Tensor], Tensor]) -> Tensor:
        """By the rows of all processes, whose number decides everywhere alike; a process may have none of them."""
        # In double precision the difference of squares below loses nothing that x had.
        wide = x.double()
        rows = wide.new_full((1,), x.shape[0])
        rows, sums, squares = total(torch.cat([rows, wide.sum(0), wide.square().sum(0)])).split([1, *x.shape[1:] * 2])
        count = float(rows)
        if count < 2:
            mean, var = self.running_mean, self.running_var
            return functional.batch_norm(x, mean, var, self.weight, self.bias, False, self.momentum, self.eps)
        mean = sums / count
        var = (squares / count - mean.square()).clamp_min(0)
        with torch.no_grad():
            self.running_mean.lerp_(mean.to(x.dtype), self.momentum)
            kept = var if self.is_biased else var * (count / (count - 1))
            self.running_var.lerp_(kept.to(x.dtype), self.momentum)
        out = (x - mean.to(x.dtype)) * (var + self.eps).rsqrt().to(x.dtype)
        return out if self.weight is None or self.bias is None else torch.addcmul(self.bias, out, self.weight)


def norm(config: Norm, width: int) -> nn.Module:
    if config.kind == "layer":
        return nn.LayerNorm(width, eps=config.eps)
    return BatchNorm(width, config)


def share_statistics(network: nn.Module, total: Callable[[Tensor], Tensor]) -> None:
    """Normalise by the rows of all processes that train the network together; `total` adds up over them."""
    for module in network.modules():
        if isinstance(module, BatchNorm):
            module.total = total

"""The activations that configs may name."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from polyrec.nn.norms import BatchNorm
from polyrec.parts import Activation, Norm


class Dice(nn.Module):
    """x where it is high for its batch, `alpha` x where it is low (Zhou et al., 2018, arXiv:1706.06978)."""

    def __init__(self, width: int, norm: Norm | None = None) -> None:
        super().__init__()
        self.norm = BatchNorm(width, norm or Norm(kind="batch"), affine=False)
        self.alpha = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        share = torch.sigmoid(self.norm(x))
        return x * (self.alpha + (1 - self.alpha) * share)


def activation(name: Activation, width: int, norm: Norm | None = None) -> nn.Module:
    """The activation of a layer `width` wide; `norm` gives the numbers of Dice's own batch normalisation."""
    if name == "dice":
        return Dice(width, norm)
    made = {
        "relu": partial(nn.ReLU, inplace=True),
        "leaky_relu": nn.LeakyReLU,
        "prelu": nn.PReLU,
        "elu": nn.ELU,
        "selu": nn.SELU,
        "gelu": nn.GELU,
        "gelu_tanh": partial(nn.GELU, approximate="tanh"),
        "silu": nn.SiLU,
        "tanh": nn.Tanh,
        "sigmoid": nn.Sigmoid,
        "linear": nn.Identity,
    }
    return made[name]()

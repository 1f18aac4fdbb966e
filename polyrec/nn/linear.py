"""A linear layer that starts as its config says."""

from __future__ import annotations

from torch import nn

from polyrec.families import InitConfig


def linear(width: int, out: int, kernel: InitConfig, bias: bool = True) -> nn.Linear:
    """Kernel `linear` also starts the bias as torch does; beside any other kernel it starts at zero."""
    layer = nn.Linear(width, out, bias=bias)
    kernel.fill(layer.weight.data)
    if bias and kernel.kind != "linear":
        nn.init.zeros_(layer.bias)
    return layer

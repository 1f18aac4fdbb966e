"""Products of a vector with itself, one degree more with each layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.families import InitConfig
from polyrec.nn.linear import linear


class Cross(nn.Module):
    """[B, width] to the same shape: x becomes x0 (w x) + b + x, with weights and biases of each layer's own."""

    def __init__(self, width: int, layers: int, kernel: InitConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(linear(width, 1, kernel, bias=False) for _ in range(layers))
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(width)) for _ in range(layers))

    def forward(self, x0: Tensor) -> Tensor:
        x = x0
        for layer, bias in zip(self.layers, self.biases, strict=True):
            x = torch.addcmul(x + bias, x0, layer(x))
        return x

    def kernels(self) -> list[Tensor]:
        return [layer.weight for layer in self.layers if isinstance(layer, nn.Linear)]


class LowRankCross(nn.Module):
    """[B, width] to the same shape: x becomes x0 * (V (U x) + b) + x, U to `rank` numbers and V back."""

    def __init__(self, width: int, rank: int, layers: int, kernel: InitConfig) -> None:
        super().__init__()
        self.down = nn.ModuleList(linear(width, rank, kernel, bias=False) for _ in range(layers))
        self.up = nn.ModuleList(linear(rank, width, kernel) for _ in range(layers))

    def forward(self, x0: Tensor) -> Tensor:
        x = x0
        for down, up in zip(self.down, self.up, strict=True):
            x = torch.addcmul(x, x0, up(down(x)))
        return x

    def kernels(self) -> list[Tensor]:
        return [layer.weight for layer in (*self.down, *self.up) if isinstance(layer, nn.Linear)]

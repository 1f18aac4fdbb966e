"""Blocks that multiply their input by a mask made of the row's vector (arXiv:2102.07619)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyrec import parts
from polyrec.nn.linear import linear
from polyrec.nn.mlp import MLP


class MaskBlock(nn.Module):
    """x [B, width] and the row's vector [B, whole] to [B, hidden]: relu(norm(W (x * mask) + b))."""

    def __init__(self, width: int, whole: int, config: parts.Masks) -> None:
        super().__init__()
        between = config.between(width)
        self.first = linear(whole, between, config.kernel)
        self.second = linear(between, width, config.kernel)
        self.output = linear(width, config.hidden, config.kernel)
        self.norm = nn.LayerNorm(config.hidden)

    def forward(self, x: Tensor, whole: Tensor) -> Tensor:
        mask = self.second(functional.relu(self.first(whole)))
        return functional.relu(self.norm(self.output(x * mask)))

    def kernels(self) -> list[Tensor]:
        return [self.first.weight, self.second.weight, self.output.weight]


class MaskBlocks(nn.Module):
    """[B, width] to [B, self.width]: the normalised vector through all blocks, beside each other or one by one."""

    def __init__(self, width: int, config: parts.Masks) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.is_parallel = config.is_parallel
        before = [width if number == 0 or config.is_parallel else config.hidden for number in range(config.blocks)]
        self.blocks = nn.ModuleList(MaskBlock(size, width, config) for size in before)
        out = config.hidden * (config.blocks if config.is_parallel else 1)
        self.top = MLP(out, config.top) if config.top else None
        self.width = self.top.width if self.top else out

    def forward(self, whole: Tensor) -> Tensor:
        x = self.norm(whole)
        if self.is_parallel:
            x = torch.cat([block(x, whole) for block in self.blocks], dim=1)
        else:
            for block in self.blocks:
                x = block(x, whole)
        return x if self.top is None else self.top(x)

    def kernels(self) -> list[Tensor]:
        blocks = [kernel for block in self.blocks if isinstance(block, MaskBlock) for kernel in block.kernels()]
        return [*blocks, *(self.top.kernels() if self.top else [])]

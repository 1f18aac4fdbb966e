"""Compressed interaction network: products of vectors, number by number, mixed into fewer (arXiv:1803.05170)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from polyrec.families import InitConfig
from polyrec.nn.linear import linear


class CIN(nn.Module):
    """[B, F, D] to [B, self.width]: each layer's vectors, every one summed over its numbers, side by side.

    A layer makes its vectors of the products of each vector of the layer before with each of the F first ones.
    """

    def __init__(self, vectors: int, sizes: Sequence[int], kernel: InitConfig) -> None:
        super().__init__()
        pairs = [before * vectors for before in (vectors, *sizes[:-1])]
        self.layers = nn.ModuleList(linear(count, size, kernel) for count, size in zip(pairs, sizes, strict=True))
        self.width = sum(sizes)

    def forward(self, first: Tensor) -> Tensor:
        x, found = first, []
        for layer in self.layers:
            products = (x.unsqueeze(2) * first.unsqueeze(1)).flatten(1, 2)  # [B, H F, D]
            x = layer(products.transpose(1, 2)).transpose(1, 2)  # [B, size, D]
            found.append(x.sum(2))
        return torch.cat(found, dim=1)

    def kernels(self) -> list[Tensor]:
        return [layer.weight for layer in self.layers if isinstance(layer, nn.Linear)]

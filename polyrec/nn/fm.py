"""Factorisation machine: every pair of inputs, in linear time."""

from __future__ import annotations

from torch import Tensor, nn


class FM(nn.Module):
    """[B, F * D] holding F vectors to [B, D], the sum of the products of all pairs (Rendle, 2010)."""

    def __init__(self, vectors: int, width: int) -> None:
        super().__init__()
        self.vectors, self.width = vectors, width

    def forward(self, x: Tensor) -> Tensor:
        vectors = x.reshape(x.shape[0], self.vectors, self.width)  # [B, F, D]
        total = vectors.sum(1)
        return 0.5 * (total * total - (vectors * vectors).sum(1))

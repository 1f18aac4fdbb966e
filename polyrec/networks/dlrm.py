"""Dot products of all pairs of vectors: see `polyrec.models.dlrm`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.dlrm import DLRM
from polyrec.networks import Inputs
from polyrec.nn import MLP, Heads, PairDots, Vectors


class Network(nn.Module):
    """logits = head(final([dots of pairs, dense vector, sparse group]))."""

    def __init__(self, config: DLRM, inputs: Inputs) -> None:
        super().__init__()
        self.sparse = config.sparse if config.with_sparse else None
        self.vectors = Vectors(config.sparse, config.dense, inputs)
        self.dots = PairDots(self.vectors.count)
        width = self.dots.width + (self.vectors.width if config.dense else 0)
        self.has_dense = config.dense is not None
        self.final = MLP(width + (inputs.width(config.sparse) if config.with_sparse else 0), config.final)
        self.heads = Heads(self.final.width, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        vectors = self.vectors(groups)  # [B, F, D], the dense one first
        parts = [self.dots(vectors)]
        parts += [vectors[:, 0]] if self.has_dense else []
        parts += [groups[self.sparse]] if self.sparse is not None else []
        return self.heads(self.final(torch.cat(parts, dim=1)))

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        return [*self.vectors.kernels(), *self.final.kernels(), *self.heads.kernels()]

"""The inputs of groups as one vector each, and what pairs of them make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from polyrec.nn.mlp import MLP
from polyrec.parts import DenseVector

if TYPE_CHECKING:
    from polyrec.networks import Inputs


class Vectors(nn.Module):
    """Groups to [B, self.count, self.width]: the vector made of a dense group, if any, before a group's own inputs."""

    def __init__(self, group: str, dense: DenseVector | None, inputs: Inputs) -> None:
        super().__init__()
        self.group, self.dense = group, dense.group if dense else None
        self.own, self.width = len(inputs.fields[group]), inputs.fields[group][0]
        self.count = self.own + (1 if dense else 0)
        self.mlp = MLP(inputs.width(dense.group), dense.mlp) if dense else None

    def forward(self, groups: dict[str, Tensor]) -> Tensor:
        flat = groups[self.group]
        vectors = flat.reshape(flat.shape[0], self.own, self.width)
        if self.mlp is None or self.dense is None:
            return vectors
        return torch.cat([self.mlp(groups[self.dense]).unsqueeze(1), vectors], dim=1)

    def kernels(self) -> list[Tensor]:
        return self.mlp.kernels() if self.mlp else []


class PairDots(nn.Module):
    """[B, F, D] to [B, F (F - 1) / 2]: the inner product of each pair, those with the first vector first."""

    places: Tensor

    def __init__(self, vectors: int) -> None:
        super().__init__()
        first, second = torch.triu_indices(vectors, vectors, offset=1)
        self.register_buffer("places", first * vectors + second, persistent=False)
        self.width = vectors * (vectors - 1) // 2

    def forward(self, vectors: Tensor) -> Tensor:
        return torch.bmm(vectors, vectors.transpose(1, 2)).flatten(1).index_select(1, self.places)

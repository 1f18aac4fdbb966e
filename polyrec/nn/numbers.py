"""Numbers to learnt vectors, for several features at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from polyrec.number_embeddings import autodis, projection


class Projection(nn.Module):
    """[B, F, N] to [B, F, D]: the sum of each feature's numbers times their vectors."""

    def __init__(self, features: int, numbers: int, config: projection.Projection) -> None:
        super().__init__()
        weight = torch.empty(features, config.width, numbers)
        for part in weight:
            config.kernel.fill(part)
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("bfn,fdn->bfd", x, self.weight)


class AutoDis(nn.Module):
    """[B, F, 1] to [B, F, D]: each feature's vectors, weighted by a softmax over what two small layers make of x.

    h = leaky_relu(x w); the weights are softmax((h M + keep h) / temperature).
    """

    def __init__(self, features: int, config: autodis.AutoDis) -> None:
        super().__init__()
        channels, width = config.channels, config.width
        self.keep, self.temperature = config.keep, config.temperature
        limit = channels**-0.5
        self.first = nn.Parameter(torch.empty(features, channels).uniform_(-1, 1))
        self.second = nn.Parameter(torch.empty(features, channels, channels).uniform_(-limit, limit))
        self.vectors = nn.Parameter(torch.randn(features, channels, width) * width**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        hidden = functional.leaky_relu(x.transpose(0, 1) * self.first.unsqueeze(1))  # [F, B, C]
        scores = torch.baddbmm(hidden, hidden, self.second, beta=self.keep)
        return torch.bmm(torch.softmax(scores / self.temperature, dim=2), self.vectors).transpose(0, 1)

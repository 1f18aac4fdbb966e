"""Sequence groups read into one vector for each row: see `polyrec.encoders`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyrec.families import InitConfig
from polyrec.nn.activations import activation
from polyrec.nn.attention import TargetAttention
from polyrec.nn.mlp import MLP

if TYPE_CHECKING:
    from polyrec.encoders.target_attention import TargetAttention as TargetAttentionConfig
    from polyrec.encoders.text_cnn import TextCNN as TextCNNConfig


class PoolingEncoder(nn.Module):
    def __init__(self, by: Literal["sum", "mean"]) -> None:
        super().__init__()
        self.by = by

    def forward(self, query: Tensor, sequence: Tensor, length: Tensor) -> Tensor:
        total = sequence.sum(1)
        return total if self.by == "sum" else total / length.clamp(min=1).unsqueeze(1)

    def kernels(self) -> list[Tensor]:
        return []


class TargetAttentionEncoder(nn.Module):
    def __init__(self, query: int, sequence: int, config: TargetAttentionConfig) -> None:
        super().__init__()
        self.with_query = config.with_query
        self.transform = MLP(query, config.transform) if config.transform else None
        self.attention = TargetAttention(sequence if config.transform else query, sequence, config.mlp)

    def forward(self, query: Tensor, sequence: Tensor, length: Tensor) -> Tensor:
        asked = query if self.transform is None else self.transform(query)
        read = self.attention(asked, sequence, length)
        return torch.cat([read, query], dim=1) if self.with_query else read

    def kernels(self) -> list[Tensor]:
        return [*self.attention.kernels(), *(self.transform.kernels() if self.transform else [])]


class TextCNNEncoder(nn.Module):
    """Windows lie wholly within the `length` positions; those over padding match too, as a filter's bias does there."""

    def __init__(self, width: int, config: TextCNNConfig) -> None:
        super().__init__()
        self.length = config.length
        self.filters = nn.ModuleList(
            _filters(width, window, count, config.kernel)
            for window, count in zip(config.windows, config.filters, strict=True)
        )
        self.activations = nn.ModuleList(activation(config.activation, count) for count in config.filters)
        self.mlp = MLP(sum(config.filters), config.mlp) if config.mlp else None

    def forward(self, query: Tensor, sequence: Tensor, length: Tensor) -> Tensor:
        # Padded by the whole length, so that the graph of an export need not know how long sequences are.
        read = functional.pad(sequence, (0, 0, 0, self.length))[:, : self.length].transpose(1, 2)  # [B, D, L]
        matches = []
        for filters, active in zip(self.filters, self.activations, strict=True):
            found = filters(read).transpose(1, 2)  # [B, windows, filters]
            matches.append(active(found.flatten(0, 1)).view_as(found).amax(1))
        together = torch.cat(matches, dim=1)
        return together if self.mlp is None else self.mlp(together)

    def kernels(self) -> list[Tensor]:
        return self.mlp.kernels() if self.mlp else []


def _filters(width: int, window: int, count: int, kernel: InitConfig) -> nn.Conv1d:
    """Inits go by the numbers of inputs and outputs; of filters that overlap these are counted for each position."""
    layer = nn.Conv1d(width, count, window)
    start = torch.empty(window * count, window * width)
    kernel.fill(start)
    layer.weight.data.copy_(start[:count].view(count, width, window))
    if kernel.kind != "linear":
        assert layer.bias is not None
        nn.init.zeros_(layer.bias)
    return layer

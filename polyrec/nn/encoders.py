"""Sequence groups read into one vector for each row: see `polyrec.encoders`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyrec.families import InitConfig
from polyrec.nn.activations import activation
from polyrec.nn.attention import TargetAttention, masked_softmax
from polyrec.nn.linear import linear
from polyrec.nn.mlp import MLP

if TYPE_CHECKING:
    from polyrec.encoders.attention_pooling import AttentionPooling as AttentionPoolingConfig
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
        self.with_query, self.query_as = config.with_query, config.query_as
        self.scored = config.scored or sequence
        self.transform = MLP(query, config.transform) if config.transform else None
        of_positions = config.transform_positions
        self.transform_positions = MLP(self.scored, of_positions) if of_positions else None
        self.attention = TargetAttention(self.scored if config.transform else query, self.scored, config.mlp)

    def forward(self, query: Tensor, sequence: Tensor, length: Tensor) -> Tensor:
        asked = query if self.transform is None else self.transform(query)
        scored, others = sequence.split([self.scored, sequence.shape[2] - self.scored], dim=2)
        if self.transform_positions is not None:
            scored = self.transform_positions(scored.flatten(0, 1)).view_as(scored)
        weights = self.attention.weights(asked, scored, length)
        parts = [torch.bmm(weights.unsqueeze(1), part).squeeze(1) for part in (scored, others) if part.shape[2]]
        if self.with_query:
            parts.append(query if self.query_as == "given" else asked)
        return torch.cat(parts, dim=1)

    def kernels(self) -> list[Tensor]:
        transforms = [layers for layers in (self.transform, self.transform_positions) if layers is not None]
        return [*self.attention.kernels(), *(kernel for layers in transforms for kernel in layers.kernels())]


class AttentionPoolingEncoder(nn.Module):
    def __init__(self, width: int, config: AttentionPoolingConfig) -> None:
        super().__init__()
        self.score = linear(width, 1, config.kernel, bias=False)

    def forward(self, query: Tensor, sequence: Tensor, length: Tensor) -> Tensor:
        weights = masked_softmax(self.score(sequence).squeeze(2), length)
        return torch.bmm(weights.unsqueeze(1), sequence).squeeze(1)

    def kernels(self) -> list[Tensor]:
        return [self.score.weight]


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

"""How much each position of a sequence matters to a query."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from polyrec import parts
from polyrec.nn.linear import linear
from polyrec.nn.mlp import MLP, Layer
from polyrec.nn.norms import BatchNorm

BLOCK = 4096
"""Positions that go through the MLP together, so that its activations stay in cache."""


def masked_softmax(scores: Tensor, length: Tensor) -> Tensor:
    """Shares of the positions in use, [B, T]; of a row without any all are zero."""
    used = torch.arange(scores.shape[1], device=scores.device) < length.unsqueeze(1)
    scores = scores.masked_fill(~used, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=1) * used


class TargetAttention(torch.nn.Module):
    """Sum of a sequence's vectors, weighted by an MLP's view of each beside the query (DIN, arXiv:1706.06978).

    The MLP sees [q, k, q - k, q * k], the query zero-padded to the sequence's width.
    A row without positions gives a zero vector. Batch statistics of the MLP count positions in use only.
    """

    def __init__(self, query: int, sequence: int, config: parts.MLP) -> None:
        super().__init__()
        if query > sequence:
            raise ValueError(f"the query is {query} wide, wider than its sequence of {sequence}; widen the sequence")
        if query == 0:
            raise ValueError("the query is empty; give the group a feature that is no sequence")
        self.query, self.width = query, sequence
        self.mlp = MLP(4 * sequence, config)
        self.score = linear(self.mlp.width, 1, config.kernel)
        self.needs_all = any(isinstance(module, BatchNorm) for module in self.mlp.modules())

    def forward(self, query: Tensor, sequence: Tensor, length: Tensor) -> Tensor:
        """[B, Dq], [B, T, D] and the number of positions in use [B] to [B, D]."""
        return torch.bmm(self.weights(query, sequence, length).unsqueeze(1), sequence).squeeze(1)

    def weights(self, query: Tensor, sequence: Tensor, length: Tensor) -> Tensor:
        """How much each position counts, [B, T]."""
        used = torch.arange(sequence.shape[1], device=sequence.device) < length.unsqueeze(1)  # [B, T]
        # An exported graph may hold no shape that depends on values, so there all positions are scored.
        scores = (
            self._all_scores(query, sequence) if torch.compiler.is_compiling() else self._scores(query, sequence, used)
        )
        return masked_softmax(scores, length)

    def kernels(self) -> list[Tensor]:
        return [*self.mlp.kernels(), self.score.weight]

    def _all_scores(self, query: Tensor, sequence: Tensor) -> Tensor:
        """The score of every position, [B, T]."""
        of_query, of_position = self._folded(query)
        pairs = torch.cat([sequence, query.unsqueeze(1) * sequence[:, :, : self.query]], dim=2)
        hidden = torch.matmul(pairs, of_position) + of_query.unsqueeze(1)
        return self._finish(hidden.flatten(0, 1)).view(sequence.shape[0], sequence.shape[1])

    def _scores(self, query: Tensor, sequence: Tensor, used: Tensor) -> Tensor:
        """The score of every position in use, [B, T]; zero elsewhere."""
        of_query, of_position = self._folded(query)
        places = used.flatten().nonzero().squeeze(1)  # [V]
        rows = places.div(sequence.shape[1], rounding_mode="floor")
        keys = sequence.flatten(0, 1).index_select(0, places)  # [V, D]
        block = max(len(places), 1) if self.needs_all else BLOCK
        scores = []
        for key, row in zip(keys.split(block), rows.split(block), strict=True):
            pairs = torch.cat([key, query.index_select(0, row) * key[:, : self.query]], dim=1)
            scores.append(self._finish(torch.addmm(of_query.index_select(0, row), pairs, of_position)))
        found = torch.cat(scores)
        return found.new_zeros(used.numel()).index_copy(0, places, found).view_as(used)

    def _folded(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """The first layer as the query's part [B, H] and a kernel for [k, q * k], [D + Dq, H].

        W [q, k, q - k, q * k] = (Wq + Wd) q + (Wk - Wd) k + Wp (q * k): half the multiplications of the plain form,
        and the query's part is done once a row.
        """
        first = self._first.linear
        of_query, of_key, of_difference, of_product = first.weight.split(self.width, dim=1)
        narrow = self.query
        row = functional.linear(query, (of_query + of_difference)[:, :narrow], first.bias)
        return row, torch.cat([of_key - of_difference, of_product[:, :narrow]], dim=1).t()

    def _finish(self, hidden: Tensor) -> Tensor:
        """The first layer's sums [V, H] to scores [V]."""
        x = self._first.finish(hidden)
        for layer in list(self.mlp.layers)[1:]:
            x = layer(x)
        return self.score(x).squeeze(1)

    @property
    def _first(self) -> Layer:
        layer = self.mlp.layers[0]
        assert isinstance(layer, Layer)
        return layer

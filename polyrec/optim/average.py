"""Running averages of weights, which often judge better than the weights of the last step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """`held` goes towards each weight by the rest of `decay` in every step; the first step takes the weights whole."""

    def __init__(self, decay: float, weights: Mapping[str, nn.Parameter]) -> None:
        self._decay = decay
        self._weights = weights
        self.is_begun = False
        self.held: dict[str, Tensor] = {name: weight.detach().clone() for name, weight in weights.items()}

    @torch.no_grad()
    def update(self) -> None:
        """Call it after each step."""
        share = 1 - self._decay if self.is_begun else 1.0
        for name, weight in self._weights.items():
            self.held[name].lerp_(weight, share)
        self.is_begun = True

    @contextmanager
    def standing_in(self) -> Iterator[None]:
        """The averages are where the weights are, for as long as this lasts."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for name, weight in self._weights.items():
            kept = weight.detach().clone()
            weight.copy_(self.held[name])
            self.held[name].copy_(kept)

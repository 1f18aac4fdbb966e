"""Metrics that are a mean over rows."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from polyrec.errors import ConfigError


class Mean:
    """A sum and how much it is divided by, so that batches and ranks add up; NaN while that is 0."""

    def __init__(self) -> None:
        self._sum, self._count = 0.0, 0.0

    def add(self, total: float, count: float) -> None:
        """`count` is the number of rows that `total` sums, or their weight."""
        self._sum += total
        self._count += count

    def state(self) -> list[Tensor]:
        return [torch.tensor([self._sum, self._count], dtype=torch.float64)]

    def merge(self, states: list[list[Tensor]]) -> None:
        total = torch.stack([state[0].cpu() for state in states]).sum(0)
        self._sum, self._count = float(total[0]), float(total[1])

    def compute(self) -> float:
        return self._sum / self._count if self._count else float("nan")


class RowMean(Mean):
    """The mean of what `value` makes of each row's score and label."""

    def __init__(self, value: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self._value = value

    def update(self, scores: Tensor, labels: Tensor) -> None:
        values = self._value(scores.detach(), labels.detach())
        self.add(float(values.sum(dtype=torch.float64)), len(labels))


def one_score(scores: Tensor, metric: str) -> Tensor:
    """The scores as [B]; a matrix of several classes holds no single score per row."""
    if scores.ndim == 1:
        return scores
    if scores.shape[1] == 1:
        return scores[:, 0]
    raise ConfigError(f"{metric} needs one score per row, not {scores.shape[1]}; use accuracy or log_loss for classes")

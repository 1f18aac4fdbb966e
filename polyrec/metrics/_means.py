"""Metrics that are made of sums over rows."""

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


class Sums:
    """Sums over rows of several values, and one number made of those and the number of rows; NaN without rows."""

    def __init__(
        self, values: Callable[[Tensor, Tensor], list[Tensor]], result: Callable[[float, list[float]], float]
    ) -> None:
        self._values = values
        self._result = result
        self._sums: Tensor | None = None
        """float64: rows, then each sum."""

    def update(self, scores: Tensor, labels: Tensor) -> None:
        values = self._values(scores.detach(), labels.detach())
        found = torch.stack([column.sum(dtype=torch.float64).cpu() for column in values])
        found = torch.cat([torch.tensor([float(len(labels))], dtype=torch.float64), found])
        self._sums = found if self._sums is None else self._sums + found

    def state(self) -> list[Tensor]:
        """Of no length without rows."""
        return [torch.empty(0, dtype=torch.float64) if self._sums is None else self._sums]

    def merge(self, states: list[list[Tensor]]) -> None:
        found = [state[0].cpu() for state in states if len(state[0])]
        self._sums = torch.stack(found).sum(0) if found else None

    def compute(self) -> float:
        rows, *sums = [0.0] if self._sums is None else self._sums.tolist()
        return self._result(rows, sums) if rows else float("nan")


def one_score(scores: Tensor, metric: str) -> Tensor:
    """The scores as [B]; a matrix of several classes holds no single score per row."""
    if scores.ndim == 1:
        return scores
    if scores.shape[1] == 1:
        return scores[:, 0]
    raise ConfigError(f"{metric} needs one score per row, not {scores.shape[1]}; use accuracy or log_loss for classes")

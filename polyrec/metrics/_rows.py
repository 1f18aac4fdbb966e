"""Metrics that keep every row, and rows sorted by group and score. Nothing here loops over rows or groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of all processes."""

    scores: np.ndarray
    """float32 [B]."""
    labels: np.ndarray
    """float32 [B]."""
    groups: np.ndarray
    """int64 [B], or of no length when all rows belong together."""

    @property
    def is_broken(self) -> bool:
        """Whether there are none, or a score is NaN."""
        return not len(self.scores) or bool(np.isnan(self.scores).any())

    def numbered(self) -> np.ndarray:
        """int64 [B], the groups numbered from 0."""
        if not len(self.groups):
            return np.zeros(len(self.scores), np.int64)
        return np.unique(self.groups, return_inverse=True)[1].reshape(-1).astype(np.int64)


class RowsMeter:
    """Keeps rows, and makes one number of them: 8 bytes a row, 16 with groups. That is NaN for broken rows."""

    def __init__(self, metric: str, value: Callable[[Rows], float], *, has_groups: bool = True) -> None:
        self._metric = metric
        self._value = value
        self._kinds = (np.float32, np.float32, np.int64)[: 3 if has_groups else 2]
        self._parts: list[list[np.ndarray]] = [[] for _ in self._kinds]

    def update(self, scores: Tensor, labels: Tensor, groups: Tensor | None = None) -> None:
        import torch

        from polyrec.metrics._means import one_score

        found = [one_score(scores.detach(), self._metric), labels.detach()]
        if len(self._kinds) > len(found):
            found.append(torch.zeros(len(labels)) if groups is None else groups)
        for part, tensor, kind in zip(self._parts, found, self._kinds, strict=True):
            part.append(tensor.cpu().numpy().astype(kind))

    def state(self) -> list[Tensor]:
        import torch

        return [torch.from_numpy(column) for column in self._columns()]

    def merge(self, states: list[list[Tensor]]) -> None:
        self._parts = [[state[place].cpu().numpy() for state in states] for place in range(len(self._kinds))]

    def compute(self) -> float:
        scores, labels, *groups = self._columns()
        rows = Rows(scores, labels, groups[0] if groups else np.empty(0, np.int64))
        return float("nan") if rows.is_broken else self._value(rows)

    def _columns(self) -> list[np.ndarray]:
        return [
            np.concatenate(part) if part else np.empty(0, kind)
            for part, kind in zip(self._parts, self._kinds, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows by group, and by score within each."""

    labels: np.ndarray
    groups: np.ndarray
    """Where each group begins, int64 [G]."""
    group_of: np.ndarray
    """int64 [B], the number of each row's group."""
    runs: np.ndarray
    """Where each run of equal scores of a group begins, int64 [R]."""

    @property
    def group_of_run(self) -> np.ndarray:
        return self.group_of[self.runs]

    @property
    def sizes(self) -> np.ndarray:
        """Rows of each group, int64 [G]."""
        return np.diff(self.groups, append=len(self.labels))

    def of_groups(self, values: np.ndarray) -> np.ndarray:
        """The sum of a value of each row for each group."""
        return np.add.reduceat(values, self.groups)

    def of_runs(self, values: np.ndarray) -> np.ndarray:
        """The sum of a value of each row for each run."""
        return np.add.reduceat(values, self.runs)


def sort(scores: np.ndarray, labels: np.ndarray, numbers: np.ndarray, *, falling: bool = False) -> Sorted:
    """`numbers` are those of the groups, from 0; there is at least one row and no score is NaN."""
    # One key of 64 bits sorts several times faster than two keys one after the other.
    keys = numbers.astype(np.uint64) << np.uint64(32) | _in_order(scores, falling=falling)
    order = np.argsort(keys)
    keys = keys[order]
    group_of = (keys >> np.uint64(32)).astype(np.int64)
    return Sorted(labels[order], _beginnings(group_of), group_of, _beginnings(keys))


def _in_order(scores: np.ndarray, *, falling: bool) -> np.ndarray:
    """uint64 below 2**32 in the order of float32 numbers; minus zero is zero."""
    bits = (scores + np.float32(0)).view(np.uint32)
    ordered = np.where(bits >> np.uint32(31), ~bits, bits | np.uint32(1 << 31))
    return (~ordered if falling else ordered).astype(np.uint64)


def _beginnings(values: np.ndarray) -> np.ndarray:
    """Where runs of equal values begin, of values that are sorted."""
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))


def ends_before(values: np.ndarray) -> np.ndarray:
    """The sum of all values before each, [N]."""
    return np.cumsum(values) - values

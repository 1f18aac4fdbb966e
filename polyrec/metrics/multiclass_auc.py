"""Area under the ROC curve of each class against all others, averaged over classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from polyrec.families import Meter, MetricConfig

if TYPE_CHECKING:
    from torch import Tensor


class MulticlassAUC(MetricConfig):
    """Exact: it keeps 4 bytes a row for each class, and 8 more. Classes without rows, or that have all of them, do not
    count; NaN when there are no others or a score is NaN. A single score is the second of two classes'."""

    average: Literal["macro", "weighted"] = "macro"
    """macro: all classes count the same. weighted: each counts by its rows."""

    @property
    def title(self) -> str:
        return "multiclass_auc"

    def meter(self) -> Meter:
        return MulticlassAUCMeter(self.average)


class MulticlassAUCMeter:
    def __init__(self, average: Literal["macro", "weighted"]) -> None:
        self._average = average
        self._scores: list[np.ndarray] = []
        """float32 [rows, classes] each."""
        self._labels: list[np.ndarray] = []
        """int64 [rows] each."""

    def update(self, scores: Tensor, labels: Tensor) -> None:
        flat = scores.detach().float().cpu().numpy()
        flat = flat[:, None] if flat.ndim == 1 else flat
        self._scores.append(np.concatenate((1 - flat, flat), axis=1) if flat.shape[1] == 1 else flat.copy())
        self._labels.append(labels.detach().long().cpu().numpy().copy())

    def state(self) -> list[Tensor]:
        import torch

        scores, labels = self._joined()
        return [torch.from_numpy(scores), torch.from_numpy(labels)]

    def merge(self, states: list[list[Tensor]]) -> None:
        # A process without rows does not know how many classes there are.
        found = [(state[0].cpu().numpy(), state[1].cpu().numpy()) for state in states if len(state[1])]
        self._scores, self._labels = [scores for scores, _ in found], [labels for _, labels in found]

    def compute(self) -> float:
        from polyrec.metrics._rows import sort
        from polyrec.metrics.grouped_auc import twice_won

        scores, labels = self._joined()
        if not len(labels) or np.isnan(scores).any():
            return float("nan")
        found, weights = [], []
        for number in range(scores.shape[1]):
            of_class = (labels == number).astype(np.int64)
            count = int(of_class.sum())
            pairs = count * (len(labels) - count)
            if pairs:
                rows = sort(scores[:, number], of_class, np.zeros(len(labels), np.int64))
                found.append(int(twice_won(rows.labels, rows.runs, rows.group_of_run, rows.groups)[0]) / (2 * pairs))
                weights.append(count if self._average == "weighted" else 1)
        return float(np.average(found, weights=weights)) if found else float("nan")

    def _joined(self) -> tuple[np.ndarray, np.ndarray]:
        if not self._labels:
            return np.empty((0, 0), np.float32), np.empty(0, np.int64)
        return np.concatenate(self._scores), np.concatenate(self._labels)

"""Area under the ROC curve from counts at fixed thresholds, as TensorFlow's streaming metric estimates it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from polyrec.families import MetricConfig

if TYPE_CHECKING:
    from torch import Tensor


class BinnedAUC(MetricConfig):
    """Scores between two neighbouring thresholds tie, so skewed scores come out low.

    NaN when all labels are alike or a score is NaN.
    """

    thresholds: int = Field(default=200, ge=2)
    """Evenly spaced from 0 to 1, the outer two a little outside."""

    @property
    def title(self) -> str:
        return "binned_auc"

    def meter(self) -> BinnedAUCMeter:
        return BinnedAUCMeter(self.thresholds)


class BinnedAUCMeter:
    def __init__(self, thresholds: int) -> None:
        self._edges = np.linspace(0.0, 1.0, thresholds)
        self._edges[0], self._edges[-1] = -1e-7, 1 + 1e-7
        self._counts = np.zeros((2, thresholds + 1), np.int64)
        """Rows above that many thresholds; negative rows, then positive ones (label above one half)."""
        self._broken = 0
        """Rows whose score is NaN."""

    def update(self, scores: Tensor, labels: Tensor) -> None:
        from polyrec.metrics._means import one_score

        values = one_score(scores.detach(), "binned_auc").double().cpu().numpy()
        self._broken += int(np.isnan(values).sum())
        above = np.searchsorted(self._edges, values)
        positive = (labels.detach() > 0.5).cpu().numpy()
        for row, chosen in enumerate((~positive, positive)):
            self._counts[row] += np.bincount(above[chosen], minlength=self._counts.shape[1])

    def state(self) -> list[Tensor]:
        import torch

        return [torch.from_numpy(self._counts.copy()), torch.tensor(self._broken)]

    def merge(self, states: list[list[Tensor]]) -> None:
        self._counts = np.sum([state[0].cpu().numpy() for state in states], axis=0)
        self._broken = sum(int(state[1]) for state in states)

    def compute(self) -> float:
        rows = self._counts.sum(1, keepdims=True)
        if self._broken or not rows.all():
            return float("nan")
        below = self._counts.cumsum(1)[:, :-1]
        false, true = (rows - below) / rows  # shares above each threshold
        return float(((false[:-1] - false[1:]) * (true[:-1] + true[1:])).sum() / 2)

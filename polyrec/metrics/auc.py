"""Area under the ROC curve: how often a positive row scores above a negative one; a tie counts half."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyrec.families import MetricConfig

if TYPE_CHECKING:
    from torch import Tensor


class AUC(MetricConfig):
    """Exact: it keeps every score, 4 bytes a row. NaN when all labels are alike or a score is NaN."""

    @property
    def title(self) -> str:
        return "auc"

    def meter(self) -> AUCMeter:
        return AUCMeter()


class AUCMeter:
    """Scores of positive rows (label above one half) and of the others, float32, in the order they came."""

    def __init__(self) -> None:
        self._positive: list[np.ndarray] = []
        self._negative: list[np.ndarray] = []

    def update(self, scores: Tensor, labels: Tensor) -> None:
        from polyrec.metrics._means import one_score

        values = one_score(scores.detach(), "auc").float().cpu().numpy()
        positive = (labels.detach() > 0.5).cpu().numpy()
        self._positive.append(values[positive])
        self._negative.append(values[~positive])

    def state(self) -> list[Tensor]:
        import torch

        return [torch.from_numpy(_joined(part)) for part in (self._positive, self._negative)]

    def merge(self, states: list[list[Tensor]]) -> None:
        self._positive = [state[0].cpu().numpy() for state in states]
        self._negative = [state[1].cpu().numpy() for state in states]

    def compute(self) -> float:
        positive, negative = np.sort(_joined(self._positive)), np.sort(_joined(self._negative))
        if not len(positive) or not len(negative) or np.isnan(positive[-1]) or np.isnan(negative[-1]):
            return float("nan")
        # Look up the shorter side: each of its scores once in the longer one, in rising order.
        if len(positive) <= len(negative):
            won = _twice_below(positive, negative)
        else:
            won = 2 * len(positive) * len(negative) - _twice_below(negative, positive)
        return won / (2 * len(positive) * len(negative))


def _twice_below(scores: np.ndarray, others: np.ndarray) -> int:
    """Twice the number of pairs in which the score is above the other, plus the number of ties; both sorted."""
    below = np.searchsorted(others, scores, side="left").sum(dtype=np.int64)
    return int(below) + int(np.searchsorted(others, scores, side="right").sum(dtype=np.int64))


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0, np.float32)

"""Mean surprise of the probabilities at the labels, in nats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import Meter, MetricConfig

if TYPE_CHECKING:
    from torch import Tensor

LEAST = 1e-7
"""Probabilities are kept this far from 0 and 1, so that one row cannot make the mean infinite."""


class LogLoss(MetricConfig):
    """NaN without rows."""

    @property
    def title(self) -> str:
        return "log_loss"

    def meter(self) -> Meter:
        from polyrec.metrics._means import RowMean

        return RowMean(surprise)


def surprise(scores: Tensor, labels: Tensor) -> Tensor:
    """float64 [B], minus the logarithm of the probability of each row's label."""
    if scores.ndim == 2 and scores.shape[1] > 1:
        return -scores.double().gather(1, labels.long().unsqueeze(1))[:, 0].clamp(min=LEAST).log()
    probs, wanted = scores.reshape(-1).double().clamp(LEAST, 1 - LEAST), labels.double()
    return -(wanted * probs.log() + (1 - wanted) * (-probs).log1p())

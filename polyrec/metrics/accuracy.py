"""Share of rows whose class is predicted right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import Meter, MetricConfig

if TYPE_CHECKING:
    from torch import Tensor


class Accuracy(MetricConfig):
    """Of several classes the most probable one is predicted. NaN without rows."""

    threshold: float = 0.5
    """Probability from which a single score predicts a positive row."""

    @property
    def title(self) -> str:
        return "accuracy"

    def meter(self) -> Meter:
        from polyrec.metrics._means import RowMean

        return RowMean(self._right)

    def _right(self, scores: Tensor, labels: Tensor) -> Tensor:
        if scores.ndim == 2 and scores.shape[1] > 1:
            return scores.argmax(1) == labels
        return (scores.reshape(-1) >= self.threshold) == (labels > 0.5)

"""Share of rows whose class is predicted right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import Meter, MetricConfig

if TYPE_CHECKING:
    from torch import Tensor


class Accuracy(MetricConfig):
    """Of several classes the most probable one is predicted. NaN without rows or when a score is NaN."""

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
            return (scores.argmax(1) == labels).double().masked_fill(scores.isnan().any(1), float("nan"))
        flat = scores.reshape(-1)
        return ((flat >= self.threshold) == (labels > 0.5)).double().masked_fill(flat.isnan(), float("nan"))

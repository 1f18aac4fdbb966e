"""Share of rows whose class is predicted right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import Meter, MetricConfig

if TYPE_CHECKING:
    from torch import Tensor


class Accuracy(MetricConfig):
    """Of several classes the most probable ones are predicted. NaN without rows or when a score is NaN."""

    threshold: float = 0.5
    """Probability from which a single score predicts a positive row."""

    top_k: int = Field(default=1, gt=0)
    """Classes, from the most probable one, of which one must be right."""

    @property
    def title(self) -> str:
        return "accuracy"

    def meter(self) -> Meter:
        from polyrec.metrics._means import RowMean

        return RowMean(self._right)

    def _right(self, scores: Tensor, labels: Tensor) -> Tensor:
        if scores.ndim == 2 and scores.shape[1] > 1:
            most = scores.argsort(dim=1, descending=True, stable=True)[:, : self.top_k]
            return (most == labels.unsqueeze(1)).any(1).double().masked_fill(scores.isnan().any(1), float("nan"))
        flat = scores.reshape(-1)
        return ((flat >= self.threshold) == (labels > 0.5)).double().masked_fill(flat.isnan(), float("nan"))

"""The square of how far off scores are, on average."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import Meter, MetricConfig

if TYPE_CHECKING:
    from torch import Tensor


class MeanSquaredError(MetricConfig):
    """NaN without rows."""

    @property
    def title(self) -> str:
        return "mean_squared_error"

    def meter(self) -> Meter:
        from polyrec.metrics._means import RowMean, one_score

        def square(scores: Tensor, labels: Tensor) -> Tensor:
            return (one_score(scores, self.title) - labels).square()

        return RowMean(square)

"""The log loss, divided by that of predicting the share of positive rows for every row: below 1 is better than that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyrec.families import Meter, MetricConfig
from polyrec.metrics.log_loss import surprise

if TYPE_CHECKING:
    from torch import Tensor


class NormalizedEntropy(MetricConfig):
    """Probabilities are kept as far from 0 and 1 as in the log loss. NaN when labels are all alike or a score is
    NaN."""

    @property
    def title(self) -> str:
        return "normalized_entropy"

    def meter(self) -> Meter:
        from polyrec.metrics._means import Sums, one_score

        def sums(scores: Tensor, labels: Tensor) -> list[Tensor]:
            return [surprise(one_score(scores, self.title), labels), labels.double()]

        return Sums(sums, _ratio)


def _ratio(rows: float, sums: list[float]) -> float:
    share = sums[1] / rows
    if not 0 < share < 1:
        return float("nan")
    return sums[0] / rows / float(-(share * np.log(share) + (1 - share) * np.log1p(-share)))

"""The sum of what is predicted over the sum of what is observed: above 1 is too high, below 1 too low."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import Meter, MetricConfig

if TYPE_CHECKING:
    from torch import Tensor


class Calibration(MetricConfig):
    """NaN when labels add up to 0 or a score is NaN."""

    @property
    def title(self) -> str:
        return "calibration"

    def meter(self) -> Meter:
        from polyrec.metrics._means import Sums, one_score

        def sums(scores: Tensor, labels: Tensor) -> list[Tensor]:
            return [one_score(scores, self.title), labels]

        return Sums(sums, _ratio)


def _ratio(rows: float, sums: list[float]) -> float:
    return sums[0] / sums[1] if sums[1] else float("nan")

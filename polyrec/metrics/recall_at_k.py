"""Share of rows whose own item is among the first k of those it is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from polyrec.families import Meter, MetricConfig

if TYPE_CHECKING:
    from torch import Tensor


class RecallAtK(MetricConfig):
    """The first score of a row is that of its own item. A tie counts half a place. NaN without rows or when a score is
    NaN."""

    of_sampled_items: ClassVar[bool] = True

    k: int = Field(gt=0)

    @property
    def title(self) -> str:
        return f"recall_at_{self.k}"

    def meter(self) -> Meter:
        from polyrec.metrics._means import RowMean

        return RowMean(self._found)

    def _found(self, scores: Tensor, labels: Tensor) -> Tensor:
        every = scores if scores.ndim == 2 else scores[:, None]
        own, others = every[:, :1], every[:, 1:]
        before = (others > own).sum(1) + 0.5 * (others == own).sum(1)
        return (before < self.k).double().masked_fill(every.isnan().any(1), float("nan"))

    @classmethod
    def example(cls) -> RecallAtK:
        return cls(k=5)

"""How surprised the probabilities of several classes are by the right one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import LossConfig
from polyrec.losses._logits import of_classes, several_logits

if TYPE_CHECKING:
    from torch import Tensor


class SoftmaxCrossEntropy(LossConfig):
    label_smoothing: float = Field(default=0.0, ge=0.0, le=1.0)
    """Share of the label that is spread evenly over all classes."""

    @property
    def title(self) -> str:
        return "softmax_cross_entropy"

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        from torch.nn import functional

        wanted = labels.long()
        classes = several_logits(logits, self.title)
        return functional.cross_entropy(classes, wanted, reduction="none", label_smoothing=self.label_smoothing)

    def outputs(self, logits: Tensor) -> dict[str, Tensor]:
        return of_classes(logits)

"""How surprised a probability is by a label of 0 or 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import LossConfig
from polyrec.losses._logits import of_one_logit, one_logit

if TYPE_CHECKING:
    from torch import Tensor


class BinaryCrossEntropy(LossConfig):
    label_smoothing: float = Field(default=0.0, ge=0.0, le=1.0)
    """Share s of the label that goes to one half: y (1 - s) + s / 2."""

    @property
    def title(self) -> str:
        return "binary_cross_entropy"

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        from torch.nn import functional

        flat = one_logit(logits, self.title)
        wanted = labels.to(flat.dtype)
        if self.label_smoothing:
            wanted = wanted * (1 - self.label_smoothing) + 0.5 * self.label_smoothing
        return functional.binary_cross_entropy_with_logits(flat, wanted, reduction="none")

    def outputs(self, logits: Tensor) -> dict[str, Tensor]:
        return of_one_logit(logits, self.title)

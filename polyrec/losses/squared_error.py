"""The square of how far a number is off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import LossConfig
from polyrec.losses._logits import one_logit

if TYPE_CHECKING:
    from torch import Tensor


class SquaredError(LossConfig):
    @property
    def title(self) -> str:
        return "squared_error"

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        return (one_logit(logits, self.title) - labels).square()

    def outputs(self, logits: Tensor) -> dict[str, Tensor]:
        return {"y": one_logit(logits, self.title)}

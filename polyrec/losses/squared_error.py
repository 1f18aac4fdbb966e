"""The square of how far a number is off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import LossConfig

if TYPE_CHECKING:
    from torch import Tensor


class SquaredError(LossConfig):
    @property
    def title(self) -> str:
        return "squared_error"

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        return (logits[:, 0] - labels).square()

    def outputs(self, logits: Tensor) -> dict[str, Tensor]:
        return {"y": logits[:, 0]}

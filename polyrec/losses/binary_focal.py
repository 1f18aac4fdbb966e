"""Binary cross entropy in which rows that are predicted well count little."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import LossConfig
from polyrec.losses._logits import of_one_logit, one_logit

if TYPE_CHECKING:
    from torch import Tensor


class BinaryFocal(LossConfig):
    """Of a positive row with probability p the cross entropy is multiplied by alpha (1 - p)^gamma, of a negative one by
    (1 - alpha) p^gamma. The factor is a weight: it has no gradient."""

    gamma: float = Field(default=2.0, ge=0.0, allow_inf_nan=False)
    alpha: float = Field(default=0.5, gt=0.0, lt=1.0)
    """Weight of positive rows; negative ones have the rest of 1."""

    @property
    def title(self) -> str:
        return "binary_focal_loss"

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        from torch.nn import functional

        flat = one_logit(logits, self.title)
        wanted = labels.to(flat.dtype)
        probs = flat.detach().sigmoid()
        positive = self.alpha * wanted * (1 - probs) ** self.gamma
        negative = (1 - self.alpha) * (1 - wanted) * probs**self.gamma
        rows = functional.binary_cross_entropy_with_logits(flat, wanted, reduction="none")
        return rows * (positive + negative)

    def outputs(self, logits: Tensor) -> dict[str, Tensor]:
        return of_one_logit(logits, self.title)

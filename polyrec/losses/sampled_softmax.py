"""How surprised a row is by its own item, beside those that were sampled."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from polyrec.families import LossConfig

if TYPE_CHECKING:
    from torch import Tensor


class SampledSoftmax(LossConfig):
    """The cross entropy of the softmax over a row's logits, of which the first is right. Each row counts as a choice,
    whatever its label; sample weights apply."""

    of_sampled_items: ClassVar[bool] = True

    @property
    def title(self) -> str:
        return "softmax_cross_entropy"

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        return logits.logsumexp(1) - logits[:, 0]

    def outputs(self, logits: Tensor) -> dict[str, Tensor]:
        """`similarity` of each row and its own item."""
        return {"similarity": logits[:, 0]}

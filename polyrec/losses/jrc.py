"""Cross entropy of two classes, joined with how a row stands against the rows of the other class in its session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.errors import ConfigError
from polyrec.families import GroupedLossConfig
from polyrec.losses._logits import of_classes

if TYPE_CHECKING:
    from torch import Tensor

NOBODY = -1e30
"""Stands for the logarithm of an empty sum; a finite one, because gradients pass here."""


class JRC(GroupedLossConfig):
    """alpha CE + (1 - alpha) S. S of a positive row is the cross entropy of picking it among itself and the negative
    rows of its group by their second logits; of a negative row, among itself and the positive ones by their first.
    Time and memory grow with the rows of a batch, not with their square."""

    alpha: float = Field(default=0.5, ge=0.0, le=1.0)
    """Share of the cross entropy."""

    @property
    def title(self) -> str:
        return "jrc_loss"

    def __call__(self, logits: Tensor, labels: Tensor, groups: Tensor | None = None) -> Tensor:
        import torch
        from torch.nn import functional

        if logits.shape[1] != 2:
            raise ConfigError(f"{self.title} needs 2 classes, not {logits.shape[1]}")
        wanted = labels.long()
        is_positive = wanted == 1
        own = logits.gather(1, wanted.unsqueeze(1))[:, 0]
        group = torch.zeros_like(wanted) if groups is None else groups.unique(return_inverse=True)[1]
        # A segment for the positive and one for the negative rows of each group; a row's rivals are in the other one.
        segment = 2 * group + is_positive
        rivals = _log_sums(logits.gather(1, 1 - wanted.unsqueeze(1))[:, 0], segment)
        against = functional.softplus(rivals[segment ^ 1] - own)
        return self.alpha * functional.cross_entropy(logits, wanted, reduction="none") + (1 - self.alpha) * against

    def outputs(self, logits: Tensor) -> dict[str, Tensor]:
        return of_classes(logits)

    @classmethod
    def example(cls) -> JRC:
        return cls(group="session")


def _log_sums(values: Tensor, segment: Tensor) -> Tensor:
    """The logarithm of the sum of exp(value) for each segment, `NOBODY` for those without a value."""
    import torch

    count = int(segment.max()) // 2 * 2 + 2 if len(segment) else 0
    highest = torch.full((count,), NOBODY, dtype=values.dtype, device=values.device)
    highest = highest.scatter_reduce(0, segment, values.detach(), "amax")
    sums = torch.zeros_like(highest).index_add(0, segment, (values - highest[segment]).exp())
    is_empty = sums == 0
    return (sums.masked_fill(is_empty, 1.0).log() + highest).masked_fill(is_empty, NOBODY)

"""What torch gives a linear layer: evenly spread within 1 / sqrt(inputs)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from polyrec.families import InitConfig

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Linear(InitConfig):
    """For weights of shape [outputs, inputs]."""

    is_by_shape: ClassVar[bool] = True

    def fill(self, weight: Tensor, generator: torch.Generator | None = None) -> None:
        limit = (1 / weight.shape[-1]) ** 0.5
        weight.detach().uniform_(-limit, limit, generator=generator)

"""Normal around 0 with a standard deviation of 1 / sqrt(inputs)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from polyrec.families import InitConfig

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class FanInNormal(InitConfig):
    """For weights of shape [outputs, inputs]."""

    is_by_shape: ClassVar[bool] = True

    def fill(self, weight: Tensor, generator: torch.Generator | None = None) -> None:
        weight.detach().normal_(0.0, weight.shape[-1] ** -0.5, generator=generator)

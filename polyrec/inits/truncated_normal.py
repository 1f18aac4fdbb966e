"""Values of a normal distribution; those beyond two standard deviations are drawn again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import InitConfig

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class TruncatedNormal(InitConfig):
    mean: float = 0.0
    std: float = Field(ge=0)
    """Standard deviation before the tails are cut; that of the values is 0.88 of it."""

    def fill(self, weight: Tensor, generator: torch.Generator | None = None) -> None:
        import torch

        values = torch.empty(weight.shape, dtype=weight.dtype, device=weight.device).normal_(generator=generator)
        outside = values.abs() > 2
        while outside.any():  # each round keeps 95 % of what it draws
            values[outside] = values[outside].normal_(generator=generator)
            outside = values.abs() > 2
        weight.detach().copy_(values * self.std + self.mean)

    @classmethod
    def example(cls) -> TruncatedNormal:
        return cls(std=0.1)

"""Values of a normal distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from polyrec.families import InitConfig

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Normal(InitConfig):
    mean: float = 0.0
    std: float = Field(ge=0)

    def fill(self, weight: Tensor, generator: torch.Generator | None = None) -> None:
        weight.detach().normal_(self.mean, self.std, generator=generator)

    @classmethod
    def example(cls) -> Normal:
        return cls(std=0.1)

"""Values spread evenly between two limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from polyrec.families import InitConfig

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Uniform(InitConfig):
    low: float
    high: float

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low ({self.low}) is above high ({self.high})")
        return self

    def fill(self, weight: Tensor, generator: torch.Generator | None = None) -> None:
        weight.detach().uniform_(self.low, self.high, generator=generator)

    @classmethod
    def example(cls) -> Uniform:
        return cls(low=-0.1, high=0.1)

"""One value everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrec.families import InitConfig

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Constant(InitConfig):
    value: float

    def fill(self, weight: Tensor, generator: torch.Generator | None = None) -> None:
        weight.detach().fill_(self.value)

    @classmethod
    def example(cls) -> Constant:
        return cls(value=0.0)

"""The layers of one group."""

from __future__ import annotations

from torch import Tensor, nn

from polyrec.nn.mlp import MLP
from polyrec.nn.norms import norm
from polyrec.parts import Tower


class GroupTower(nn.Module):
    """[B, width] to [B, self.width]: an optional norm of the input, then the layers if there are any."""

    def __init__(self, width: int, config: Tower) -> None:
        super().__init__()
        self.norm = norm(config.input_norm, width) if config.input_norm else None
        self.mlp = MLP(width, config.mlp) if config.mlp else None
        self.width = self.mlp.width if self.mlp else width

    def forward(self, x: Tensor) -> Tensor:
        if self.norm is not None:
            x = self.norm(x)
        return x if self.mlp is None else self.mlp(x)

    def kernels(self) -> list[Tensor]:
        return self.mlp.kernels() if self.mlp else []

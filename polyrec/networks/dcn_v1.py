"""A vector times its own weighted sums: see `polyrec.models.dcn_v1`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.dcn_v1 import DCNv1
from polyrec.networks import Inputs
from polyrec.nn import MLP, Cross, Heads


class Network(nn.Module):
    """logits = head(final([cross(x), mlp(x)]))."""

    def __init__(self, config: DCNv1, inputs: Inputs) -> None:
        super().__init__()
        self.group = config.group
        width = inputs.width(config.group)
        self.cross = Cross(width, config.cross_layers, config.cross_kernel)
        self.mlp = MLP(width, config.mlp)
        self.final = MLP(width + self.mlp.width, config.final)
        self.heads = Heads(self.final.width, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        x = groups[self.group]
        return self.heads(self.final(torch.cat([self.cross(x), self.mlp(x)], dim=1)))

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        return [kernel for part in (self.cross, self.mlp, self.final, self.heads) for kernel in part.kernels()]

"""A vector times linear maps of itself: see `polyrec.models.dcn_v2`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.dcn_v2 import DCNv2
from polyrec.networks import Inputs
from polyrec.nn import MLP, Heads, LowRankCross


class Network(nn.Module):
    """logits = head(final([cross(backbone(x)), mlp(x)])); without a backbone cross(x), without an MLP nothing of it."""

    def __init__(self, config: DCNv2, inputs: Inputs) -> None:
        super().__init__()
        self.group = config.group
        width = inputs.width(config.group)
        self.backbone = MLP(width, config.backbone) if config.backbone else None
        crossed = self.backbone.width if self.backbone else width
        self.cross = LowRankCross(crossed, config.rank, config.cross_layers, config.cross_kernel)
        self.mlp = MLP(width, config.mlp) if config.mlp else None
        self.final = MLP(crossed + (self.mlp.width if self.mlp else 0), config.final)
        self.heads = Heads(self.final.width, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        x = groups[self.group]
        found = self.cross(x if self.backbone is None else self.backbone(x))
        if self.mlp is not None:
            found = torch.cat([found, self.mlp(x)], dim=1)
        return self.heads(self.final(found))

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        parts = [self.backbone, self.cross, self.mlp, self.final, self.heads]
        return [kernel for part in parts if part is not None for kernel in part.kernels()]

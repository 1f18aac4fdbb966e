"""Products of vectors of growing degree: see `polyrec.models.xdeepfm`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.xdeepfm import XDeepFM
from polyrec.networks import Inputs
from polyrec.nn import CIN, MLP, Heads, Vectors


class Network(nn.Module):
    """logits = head(final([cin(wide), mlp(deep)]))."""

    def __init__(self, config: XDeepFM, inputs: Inputs) -> None:
        super().__init__()
        self.deep = config.deep
        self.vectors = Vectors(config.wide, None, inputs)
        self.cin = CIN(self.vectors.count, config.cin, config.cin_kernel)
        self.mlp = MLP(inputs.width(config.deep), config.mlp)
        self.final = MLP(self.cin.width + self.mlp.width, config.final)
        self.heads = Heads(self.final.width, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        products = self.cin(self.vectors(groups))
        return self.heads(self.final(torch.cat([products, self.mlp(groups[self.deep])], dim=1)))

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        return [kernel for part in (self.cin, self.mlp, self.final, self.heads) for kernel in part.kernels()]

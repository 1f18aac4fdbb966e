"""Vectors masked by what the whole row holds: see `polyrec.models.mask_net`."""

from __future__ import annotations

from torch import Tensor, nn

from polyrec.models.mask_net import MaskNet
from polyrec.networks import Inputs
from polyrec.nn import Heads, MaskBlocks


class Network(nn.Module):
    def __init__(self, config: MaskNet, inputs: Inputs) -> None:
        super().__init__()
        self.group = config.group
        self.masks = MaskBlocks(inputs.width(config.group), config.masks)
        self.heads = Heads(self.masks.width, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        return self.heads(self.masks(groups[self.group]))

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        return [*self.masks.kernels(), *self.heads.kernels()]

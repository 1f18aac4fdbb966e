"""Experts that tasks share: see `polyrec.models.mmoe`."""

from __future__ import annotations

from torch import Tensor, nn

from polyrec.models.mmoe import MMoE
from polyrec.networks import Inputs
from polyrec.nn import MixedExperts, TaskTowers


class Network(nn.Module):
    def __init__(self, config: MMoE, inputs: Inputs) -> None:
        super().__init__()
        self.group = config.group
        self.experts = MixedExperts(inputs.width(config.group), config.experts, len(config.towers))
        self.towers = TaskTowers(self.experts.width, config.towers, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        return self.towers(self.experts(groups[self.group]))

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        return [*self.experts.kernels(), *self.towers.kernels()]

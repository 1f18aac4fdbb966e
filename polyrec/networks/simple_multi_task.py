"""A tower for each task: see `polyrec.models.simple_multi_task`."""

from __future__ import annotations

from torch import Tensor, nn

from polyrec.models.simple_multi_task import SimpleMultiTask
from polyrec.networks import Inputs
from polyrec.nn import TaskTowers


class Network(nn.Module):
    def __init__(self, config: SimpleMultiTask, inputs: Inputs) -> None:
        super().__init__()
        self.group = config.group
        self.towers = TaskTowers(inputs.width(config.group), config.towers, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        return self.towers([groups[self.group]] * len(self.towers.tasks))

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        return self.towers.kernels()

"""Towers of several groups: see `polyrec.models.multi_tower`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.multi_tower import MultiTowerConfig
from polyrec.networks import Inputs
from polyrec.nn import MLP, GroupTower, Heads


class Network(nn.Module):
    def __init__(self, config: MultiTowerConfig, inputs: Inputs) -> None:
        super().__init__()
        towers = [GroupTower(inputs.width(tower.group), tower) for tower in config.towers]
        self.towers = nn.ModuleList(towers)
        self.names = tuple(tower.group for tower in config.towers)
        width = sum(tower.width for tower in towers)
        self.final = MLP(width, config.final) if config.final else None
        self.heads = Heads(self.final.width if self.final else width, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        joined = torch.cat([tower(groups[name]) for name, tower in zip(self.names, self.towers, strict=True)], dim=1)
        return self.heads(joined if self.final is None else self.final(joined))

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        parts = [*self.towers, *([self.final] if self.final else []), self.heads]
        return [kernel for part in parts for kernel in part.kernels()]

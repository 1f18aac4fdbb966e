"""Tasks that read what earlier ones have found: see `polyrec.models.dbmtl`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.dbmtl import DBMTL
from polyrec.networks import Inputs
from polyrec.nn import MLP, MaskBlocks, MixedExperts, linear


class Network(nn.Module):
    def __init__(self, config: DBMTL, inputs: Inputs) -> None:
        super().__init__()
        self.group, self.head = config.group, config.head
        self.tasks = tuple(tower.task for tower in config.towers)
        self.reads = tuple(tower.reads for tower in config.towers)
        width = inputs.width(config.group)
        self.masks = MaskBlocks(width, config.masks) if config.masks else None
        width = self.masks.width if self.masks else width
        self.bottom = MLP(width, config.bottom) if config.bottom else None
        width = self.bottom.width if self.bottom else width
        self.experts = MixedExperts(width, config.experts, len(config.towers)) if config.experts else None
        width = self.experts.width if self.experts else width
        self.towers = nn.ModuleList(MLP(width, tower.mlp) if tower.mlp else nn.Identity() for tower in config.towers)
        self.relations, widths = nn.ModuleList(), dict[str, int]()
        for tower in config.towers:
            own = tower.mlp.hidden[-1] if tower.mlp else width
            joined = own + sum(widths[name] for name in tower.reads)
            self.relations.append(MLP(joined, tower.relation) if tower.relation else nn.Identity())
            widths[tower.task] = tower.relation.hidden[-1] if tower.relation else own
        classes = dict(inputs.tasks)
        self.outputs = nn.ModuleList(
            linear(widths[task], classes[task], config.head.kernel, config.head.bias) for task in self.tasks
        )

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        x = groups[self.group]
        x = x if self.masks is None else self.masks(x)
        x = x if self.bottom is None else self.bottom(x)
        inputs = [x] * len(self.tasks) if self.experts is None else self.experts(x)
        found: dict[str, Tensor] = {}
        for task, reads, tower, relation, own in zip(
            self.tasks, self.reads, self.towers, self.relations, inputs, strict=True
        ):
            found[task] = relation(torch.cat([tower(own), *(found[name] for name in reads)], dim=1))
        return {task: output(found[task]) for task, output in zip(self.tasks, self.outputs, strict=True)}

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        parts = [self.masks, self.bottom, self.experts, *self.towers, *self.relations]
        made = [part for part in parts if isinstance(part, MaskBlocks | MLP | MixedExperts)]
        heads = [layer.weight for layer in self.outputs if isinstance(layer, nn.Linear) and self.head.is_penalized]
        return [*(kernel for part in made for kernel in part.kernels()), *heads]

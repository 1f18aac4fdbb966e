"""Experts that tasks share, and the towers of tasks."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from polyrec import parts
from polyrec.families import InitConfig
from polyrec.nn.linear import linear
from polyrec.nn.mlp import MLP
from polyrec.parts import Head


class Gate(nn.Module):
    """Vectors [B, N, D] to their mixture [B, D], weighted by a softmax over a linear layer of x [B, width]."""

    def __init__(self, width: int, vectors: int, kernel: InitConfig, mlp: parts.MLP | None = None) -> None:
        super().__init__()
        self.mlp = MLP(width, mlp) if mlp else None
        self.score = linear(self.mlp.width if self.mlp else width, vectors, kernel)

    def forward(self, x: Tensor, vectors: Tensor) -> Tensor:
        weights = torch.softmax(self.score(x if self.mlp is None else self.mlp(x)), dim=1)
        return torch.bmm(weights.unsqueeze(1), vectors).squeeze(1)

    def kernels(self) -> list[Tensor]:
        return [*(self.mlp.kernels() if self.mlp else []), self.score.weight]


class MixedExperts(nn.Module):
    """[B, width] to [B, self.width] for each task (MMoE, Ma et al., 2018)."""

    def __init__(self, width: int, config: parts.Experts, tasks: int) -> None:
        super().__init__()
        self.experts = nn.ModuleList(MLP(width, config.mlp) for _ in range(config.count))
        self.gates = nn.ModuleList(Gate(width, config.count, config.kernel, config.gate) for _ in range(tasks))
        self.width = config.mlp.hidden[-1]

    def forward(self, x: Tensor) -> list[Tensor]:
        vectors = torch.stack([expert(x) for expert in self.experts], dim=1)
        return [gate(x, vectors) for gate in self.gates]

    def kernels(self) -> list[Tensor]:
        made = [part for part in (*self.experts, *self.gates) if isinstance(part, MLP | Gate)]
        return [kernel for part in made for kernel in part.kernels()]


class TaskTowers(nn.Module):
    """[B, width] for each tower, in their order, to {task: [B, classes]}; a tower gives the last layer its input."""

    def __init__(
        self, width: int, towers: Sequence[parts.TaskTower], tasks: tuple[tuple[str, int], ...], head: Head
    ) -> None:
        super().__init__()
        classes = dict(tasks)
        self.tasks = tuple(tower.task for tower in towers)
        self.towers = nn.ModuleList(MLP(width, tower.mlp) if tower.mlp else nn.Identity() for tower in towers)
        widths = [tower.mlp.hidden[-1] if tower.mlp else width for tower in towers]
        self.outputs = nn.ModuleList(
            linear(out, classes[task], head.kernel, head.bias) for task, out in zip(self.tasks, widths, strict=True)
        )
        self.is_penalized = head.is_penalized

    def forward(self, inputs: Sequence[Tensor]) -> dict[str, Tensor]:
        layers = zip(self.tasks, self.towers, self.outputs, inputs, strict=True)
        return {task: output(tower(x)) for task, tower, output, x in layers}

    def kernels(self) -> list[Tensor]:
        towers = [kernel for tower in self.towers if isinstance(tower, MLP) for kernel in tower.kernels()]
        outputs = [layer.weight for layer in self.outputs if isinstance(layer, nn.Linear) and self.is_penalized]
        return [*towers, *outputs]

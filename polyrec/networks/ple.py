"""Experts of each task beside shared ones: see `polyrec.models.ple`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.ple import PLE, Extraction
from polyrec.networks import Inputs
from polyrec.nn import MLP, Gate, TaskTowers


class Layer(nn.Module):
    """A vector of each task and a shared one to as many: a task mixes its own and the shared experts, the shared vector
    is a mixture of all. The last layer has no shared one."""

    def __init__(self, width: int, config: PLE, layer: Extraction, is_last: bool) -> None:
        super().__init__()
        tasks, own, common = len(config.towers), layer.task_experts, layer.shared_experts
        self.experts = nn.ModuleList(
            nn.ModuleList(MLP(width, layer.task_mlp) for _ in range(own)) for _ in range(tasks)
        )
        self.shared = nn.ModuleList(MLP(width, layer.shared_mlp) for _ in range(common) if layer.shared_mlp)
        self.gates = nn.ModuleList(Gate(width, own + common, config.kernel) for _ in range(tasks))
        self.gate = None if is_last else Gate(width, tasks * own + common, config.kernel)

    def forward(self, tasks: list[Tensor], shared: Tensor) -> tuple[list[Tensor], Tensor]:
        common = [expert(shared) for expert in self.shared]
        found, every = [], []
        for x, experts, gate in zip(tasks, self.experts, self.gates, strict=True):
            assert isinstance(experts, nn.ModuleList)
            own = [expert(x) for expert in experts]
            found.append(gate(x, torch.stack(own + common, dim=1)))
            every += own
        return found, shared if self.gate is None else self.gate(shared, torch.stack(every + common, dim=1))

    def kernels(self) -> list[Tensor]:
        return [kernel for part in self.modules() if isinstance(part, MLP | Gate) for kernel in part.kernels()]


class Network(nn.Module):
    def __init__(self, config: PLE, inputs: Inputs) -> None:
        super().__init__()
        self.group = config.group
        widths = [inputs.width(config.group), *(layer.task_mlp.hidden[-1] for layer in config.layers)]
        last = len(config.layers) - 1
        self.layers = nn.ModuleList(
            Layer(widths[place], config, layer, place == last) for place, layer in enumerate(config.layers)
        )
        self.towers = TaskTowers(widths[-1], config.towers, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        shared = groups[self.group]
        tasks = [shared] * len(self.towers.tasks)
        for layer in self.layers:
            tasks, shared = layer(tasks, shared)
        return self.towers(tasks)

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        layers = [kernel for layer in self.layers if isinstance(layer, Layer) for kernel in layer.kernels()]
        return [*layers, *self.towers.kernels()]

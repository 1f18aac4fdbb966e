"""The last linear layer of every task."""

from __future__ import annotations

from torch import Tensor, nn

from polyrec.nn.linear import linear
from polyrec.parts import Head


class Heads(nn.Module):
    """[B, width] to {task: [B, classes]}."""

    def __init__(self, width: int, tasks: tuple[tuple[str, int], ...], config: Head) -> None:
        super().__init__()
        self.tasks = tuple(name for name, _ in tasks)
        self.layers = nn.ModuleList(linear(width, classes, config.kernel, config.bias) for _, classes in tasks)
        self.is_penalized = config.is_penalized

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {task: layer(x) for task, layer in zip(self.tasks, self.layers, strict=True)}

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        return [layer.weight for layer in self.layers if isinstance(layer, nn.Linear) and self.is_penalized]

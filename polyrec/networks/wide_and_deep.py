"""Single weights beside a deep tower: see `polyrec.models.wide_and_deep`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.wide_and_deep import WideAndDeep
from polyrec.networks import Inputs
from polyrec.nn import MLP, Heads


class Network(nn.Module):
    """logits = wide + head(deep), or a head over final([wide, deep])."""

    def __init__(self, config: WideAndDeep, inputs: Inputs) -> None:
        super().__init__()
        self.wide, self.deep = config.wide, config.deep
        self.mlp = MLP(inputs.width(config.deep), config.mlp)
        self.final = MLP(1 + self.mlp.width, config.final) if config.final else None
        self.heads = Heads(self.final.width if self.final else self.mlp.width, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        wide = groups[self.wide].sum(1, keepdim=True)  # [B, 1]
        deep = self.mlp(groups[self.deep])  # [B, H]
        if self.final is not None:
            return self.heads(self.final(torch.cat([wide, deep], dim=1)))
        return {task: logits + wide for task, logits in self.heads(deep).items()}

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        final = self.final.kernels() if self.final is not None else []
        return [*self.mlp.kernels(), *final, *self.heads.kernels()]

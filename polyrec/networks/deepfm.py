"""DeepFM: see `polyrec.models.deepfm`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.deepfm import DeepFMConfig
from polyrec.networks import Inputs
from polyrec.nn import FM, MLP, Heads


class Network(nn.Module):
    """logits = wide + pairs + deep, or a head over [wide, pair vector, deep] when there are final layers."""

    def __init__(self, config: DeepFMConfig, inputs: Inputs) -> None:
        super().__init__()
        self.wide, self.deep, self.pairs = config.wide, config.deep, config.fm
        self.fm = FM(len(inputs.fields[config.fm]), _common_width(config.fm, inputs))
        self.mlp = MLP(inputs.width(config.deep), config.mlp)
        self.final = None
        width = self.mlp.width
        if config.final is not None:
            self.final = MLP((1 if config.wide else 0) + self.fm.width + width, config.final)
            width = self.final.width
        elif several := [name or "the task" for name, classes in inputs.tasks if classes > 1]:
            raise ValueError(
                f"{several[0]} has several classes, which one sum cannot tell apart; give the model `final`"
            )
        self.heads = Heads(width, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        deep = self.mlp(groups[self.deep])  # [B, H]
        parts = [self.fm(groups[self.pairs])]  # [B, D]
        if self.wide is not None:
            parts.insert(0, groups[self.wide].sum(1, keepdim=True))
        if self.final is not None:
            return self.heads(self.final(torch.cat([*parts, deep], dim=1)))
        flat = torch.stack([part.sum(1, keepdim=True) for part in parts]).sum(0)  # [B, 1]
        return {task: logits + flat for task, logits in self.heads(deep).items()}

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        final = self.final.kernels() if self.final is not None else []
        return [*self.mlp.kernels(), *final, *self.heads.kernels()]


def _common_width(group: str, inputs: Inputs) -> int:
    widths = inputs.fields[group]
    if len(set(widths)) != 1:
        raise ValueError(
            f"group {group}: the inputs of fm must be equally wide; they are {', '.join(map(str, widths))}"
        )
    return widths[0]

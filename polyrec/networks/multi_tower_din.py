"""Towers and target attention: see `polyrec.models.multi_tower_din`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyrec.models.multi_tower_din import MultiTowerDINConfig
from polyrec.networks import Inputs
from polyrec.nn import MLP, GroupTower, Heads, TargetAttention
from polyrec.parts import AttentionTower


class Network(nn.Module):
    """The towers' outputs, then the read sequences', side by side under the final layers."""

    def __init__(self, config: MultiTowerDINConfig, inputs: Inputs) -> None:
        super().__init__()
        self.flat = tuple(tower.group for tower in config.towers)
        self.sequences = tuple(tower.group for tower in config.din_towers)
        towers = [GroupTower(inputs.width(tower.group), tower) for tower in config.towers]
        attentions = [_attention(tower, inputs) for tower in config.din_towers]
        self.with_query = tuple(tower.with_query for tower in config.din_towers)
        self.towers, self.attentions = nn.ModuleList(towers), nn.ModuleList(attentions)
        width = sum(part.width for part in (*towers, *attentions))
        width += sum(inputs.width(f"{tower.group}.query") for tower in config.din_towers if tower.with_query)
        self.final = MLP(width, config.final) if config.final else None
        self.heads = Heads(self.final.width if self.final else width, inputs.tasks, config.head)

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        parts = [tower(groups[name]) for name, tower in zip(self.flat, self.towers, strict=True)]
        for name, attention, with_query in zip(self.sequences, self.attentions, self.with_query, strict=True):
            query = groups[f"{name}.query"]
            parts.append(attention(query, groups[f"{name}.sequence"], groups[f"{name}.length"]))
            parts += [query] if with_query else []
        joined = torch.cat(parts, dim=1)
        return self.heads(joined if self.final is None else self.final(joined))

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts."""
        parts = [*self.towers, *self.attentions, *([self.final] if self.final else []), self.heads]
        return [kernel for part in parts for kernel in part.kernels()]


def _attention(tower: AttentionTower, inputs: Inputs) -> TargetAttention:
    query, sequence = (inputs.width(f"{tower.group}.{end}") for end in ("query", "sequence"))
    try:
        return TargetAttention(query, sequence, tower.mlp)
    except ValueError as error:
        raise ValueError(f"group {tower.group}: {error}") from error

"""The networks behind `polyrec.models`, one file each under the same name, and what they are built from."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyrec.config import Group, RunConfig
from polyrec.families import ModelConfig

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, slots=True)
class Inputs:
    """Widths of what a network gets and of what it must return."""

    fields: Mapping[str, tuple[int, ...]]
    """For each key of the tensors, the widths of the inputs concatenated in it: a flat group's name, or
    `name.query` and `name.sequence` of a sequence group, which also has `name.length`."""
    tasks: tuple[tuple[str, int], ...]
    """Name and number of logits of each task."""

    def width(self, key: str) -> int:
        return sum(self.fields[key])


def inputs_of(config: RunConfig) -> Inputs:
    """What the model of `config` gets."""
    features, tables = config.feature_names, config.table_names
    fields: dict[str, tuple[int, ...]] = {}
    for group in config.groups:
        widths: dict[str, list[int]] = {group.name: []}
        if group.kind == "sequence":
            widths = {f"{group.name}.query": [], f"{group.name}.sequence": []}
        for item in group.inputs:
            feature = features[item.feature]
            end = "" if group.kind == "flat" else ".sequence" if feature.is_sequence else ".query"
            made = item.embedding.width if item.embedding else feature.width
            widths[group.name + end].append(tables[item.table].width if item.table else made)
        fields.update({key: tuple(value) for key, value in widths.items()})
    for group in config.groups:
        fields.update({group.name: (*fields[group.name], *_read(group, fields))} if group.readings else {})
    return Inputs(fields, tuple((task.name, task.classes) for task in config.tasks))


def _read(group: Group, fields: Mapping[str, tuple[int, ...]]) -> list[int]:
    """Widths of what the group's readings add to it."""
    sequences = [[sum(fields[f"{item.group}.{end}"]) for end in ("query", "sequence")] for item in group.readings]
    return [item.encoder.width(*widths) for item, widths in zip(group.readings, sequences, strict=True)]


def build(config: ModelConfig, inputs: Inputs) -> nn.Module:
    """The `Network` in the file that bears the config's name."""
    return importlib.import_module(f"polyrec.networks.{config.kind}").Network(config, inputs)

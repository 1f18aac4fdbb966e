"""What is learnt between the tables and the model: vectors for numbers, and sequences read into flat groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from polyrec.config import Group, GroupInput, Reading, RunConfig
from polyrec.families import NumberEmbeddingConfig
from polyrec.networks import Inputs, inputs_of


@dataclass(slots=True)
class _Run:
    """Inputs that lie side by side in a flat tensor and are treated alike."""

    width: int
    """Columns before."""
    layers: str | None
    """What turns them into vectors, None for those that stay."""
    start: int = 0
    """The first of them among the features of those layers."""
    count: int = 0
    is_source: bool = False
    """Whether the layers read them here; a feature in several groups is embedded once."""


@dataclass(slots=True)
class _Alike:
    """Features whose numbers are embedded together."""

    name: str
    numbers: int
    features: dict[str, int]


class InputLayers(nn.Module):
    """Groups as tables and columns give them to groups as the model reads them."""

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self._config = config
        self._alike: dict[tuple[NumberEmbeddingConfig, int, bool], _Alike] = {}
        self._of_sequences: dict[tuple[str, NumberEmbeddingConfig], str] = {}
        self._of_items = config.item_features
        runs = {_flat_key(group): self._runs(group) for group in config.groups}
        self._runs_of = {key: found for key, found in runs.items() if any(run.layers for run in found)}
        self._numbers_of = {alike.name: alike.numbers for alike in self._alike.values()}
        self.numbers = nn.ModuleDict(
            {alike.name: made.build(len(alike.features), numbers) for (made, numbers, _), alike in self._alike.items()}
        )
        self._sequences = {
            group.name: self._pieces(group) for group in config.groups if _embeds_sequences(config, group)
        }
        self._readings: dict[str, list[tuple[str, str]]] = {}
        self.readings = nn.ModuleDict()
        inputs = inputs_of(config)
        for group in config.groups:
            for reading in group.readings:
                name = _unused(f"{group.name}-{reading.group}-{reading.encoder.kind}", self.readings)
                self.readings[name] = _encoder(reading, inputs)
                self._readings.setdefault(group.name, []).append((reading.group, name))

    def _runs(self, group: Group) -> list[_Run]:
        runs: list[_Run] = []
        for item in _flat_inputs(self._config, group):
            run = self._run(item)
            last = runs[-1] if runs else None
            if last is None or (last.layers, last.is_source) != (run.layers, run.is_source):
                runs.append(run)
            elif run.layers is None or last.start + last.count == run.start:
                last.width, last.count = last.width + run.width, last.count + run.count
            else:
                runs.append(run)
        return runs

    def _run(self, item: GroupInput) -> _Run:
        if item.table is not None:
            return _Run(self._config.table_names[item.table].width, None)
        width = self._config.feature_names[item.feature].width
        if item.embedding is None:
            return _Run(width, None)
        # Items and rows are not equally many once items are sampled.
        key = (item.embedding, width, item.feature in self._of_items)
        if key not in self._alike:
            taken = [alike.name for alike in self._alike.values()]
            name = _unused(f"{item.embedding.kind}_{item.embedding.width}", taken)
            self._alike[key] = _Alike(name, width, {})
        alike = self._alike[key]
        is_source = item.feature not in alike.features
        place = alike.features.setdefault(item.feature, len(alike.features))
        return _Run(width, alike.name, place, 1, is_source)

    def _pieces(self, group: Group) -> list[tuple[int, str | None]]:
        """Of each sequence in the group its width, and what turns its numbers into vectors."""
        features = self._config.feature_names
        pieces: list[tuple[int, str | None]] = []
        for item in group.inputs:
            if not features[item.feature].is_sequence:
                continue
            width = self._config.table_names[item.table].width if item.table else features[item.feature].width
            layers = None
            if item.embedding is not None:
                layers = self._of_sequences.get((item.feature, item.embedding))
                if layers is None:
                    layers = _unused(f"{item.feature}-{item.embedding.kind}_{item.embedding.width}", self.numbers)
                    self.numbers[layers] = item.embedding.build(1, width)
                    self._of_sequences[item.feature, item.embedding] = layers
            pieces.append((width, layers))
        return pieces

    def forward(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        if not self._runs_of and not self._readings and not self._sequences:
            return groups
        found = {**groups, **self._with_numbers(groups)}
        found |= {f"{name}.sequence": self._sequence(groups, name) for name in self._sequences}
        read = {name: [found[name], *self._read(found, name)] for name in self._readings}
        return {**found, **{name: torch.cat(parts, dim=1) for name, parts in read.items()}}

    def _with_numbers(self, groups: dict[str, Tensor]) -> dict[str, Tensor]:
        """The flat tensors that hold numbers, with vectors in their places."""
        pieces = {key: groups[key].split([run.width for run in runs], dim=1) for key, runs in self._runs_of.items()}
        sources: dict[str, list[Tensor]] = {}
        for key, runs in self._runs_of.items():
            for run, piece in zip(runs, pieces[key], strict=True):
                if run.layers is not None and run.is_source:
                    sources.setdefault(run.layers, []).append(piece)
        made = {
            name: self.numbers[name](torch.cat(parts, dim=1).unflatten(1, (-1, self._numbers_of[name])))
            for name, parts in sources.items()
        }
        return {
            key: torch.cat(
                [
                    piece if run.layers is None else made[run.layers][:, run.start : run.start + run.count].flatten(1)
                    for run, piece in zip(runs, pieces[key], strict=True)
                ],
                dim=1,
            )
            for key, runs in self._runs_of.items()
        }

    def _sequence(self, groups: dict[str, Tensor], name: str) -> Tensor:
        """[B, T, D], with vectors in the places of numbers; what comes after a row's last position stays zero."""
        given, pieces = groups[f"{name}.sequence"], self._sequences[name]
        used = torch.arange(given.shape[1], device=given.device) < groups[f"{name}.length"].unsqueeze(1)
        made: list[Tensor] = []
        for part, (_, layers) in zip(given.split([width for width, _ in pieces], dim=2), pieces, strict=True):
            if layers is not None:
                vectors = self.numbers[layers](part.flatten(0, 1).unsqueeze(1)).squeeze(1)
                part = vectors.unflatten(0, part.shape[:2]) * used.unsqueeze(2)
            made.append(part)
        return torch.cat(made, dim=2)

    def _read(self, groups: dict[str, Tensor], name: str) -> list[Tensor]:
        return [
            self.readings[layers](*(groups[f"{sequence}.{end}"] for end in ("query", "sequence", "length")))
            for sequence, layers in self._readings[name]
        ]

    def kernels(self) -> list[Tensor]:
        """Weights that the kernel penalty counts: those of the readings."""
        return [kernel for layers in self.readings.values() for kernel in layers.kernels()]  # type: ignore[operator]


def _embeds_sequences(config: RunConfig, group: Group) -> bool:
    features = config.feature_names
    return group.kind == "sequence" and any(
        item.embedding is not None and features[item.feature].is_sequence for item in group.inputs
    )


def _flat_key(group: Group) -> str:
    return group.name if group.kind == "flat" else f"{group.name}.query"


def _flat_inputs(config: RunConfig, group: Group) -> list[GroupInput]:
    features = config.feature_names
    return [item for item in group.inputs if group.kind == "flat" or not features[item.feature].is_sequence]


def _unused(name: str, taken: Iterable[str]) -> str:
    """The name of a part in checkpoints; of several alike the later ones are numbered."""
    name, known = name.replace(".", "_"), set(taken)
    numbered = (name if number == 1 else f"{name}_{number}" for number in range(1, len(known) + 2))
    return next(candidate for candidate in numbered if candidate not in known)


def _encoder(reading: Reading, inputs: Inputs) -> nn.Module:
    query, sequence = (inputs.width(f"{reading.group}.{end}") for end in ("query", "sequence"))
    fault = reading.encoder.fault(query, sequence)
    if fault is not None:
        raise ValueError(f"group {reading.group}: {fault}")
    layers = reading.encoder.build(query, sequence)
    assert isinstance(layers, nn.Module)
    return layers

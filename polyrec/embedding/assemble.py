"""Looked-up rows and numbers to the tensors of each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import torch
from torch import Tensor

from polyrec.config import Group, RunConfig
from polyrec.data.batch import Batch
from polyrec.data.lookups import Lookup, Stack, lookup_of
from polyrec.embedding.store import stored_width


@dataclass(frozen=True, slots=True)
class Lookups:
    """What a model and its penalty get of a batch."""

    groups: dict[str, Tensor]
    """`group` [B, D]; for a sequence group `group.query` [B, D], `group.sequence` [B, T, D], `group.length` [B]. With
    sampled items, groups of items have these after their B rows, and `sample.owners` and `sample.hidden` are there."""
    vectors: list[Tensor]
    """Every looked-up vector as often as groups take it; for the penalty on them."""


@dataclass(slots=True)
class _Found:
    """Looked-up tensors by lookup key."""

    pieces: dict[str, Tensor] = field(default_factory=dict)
    """Runs of pooled vectors by the key of their first lookup, [B, n * D]; vectors of positions, [P, D]."""


class Assembler:
    """Where each group's parts come from, worked out once; vectors that lie side by side are moved as one."""

    def __init__(self, config: RunConfig, stacks: tuple[Stack, ...]) -> None:
        self._config = config
        self._stacks = {stack.name: stack for stack in stacks}
        self._pooled = {lookup.key: stack for stack in stacks if stack.is_pooled for lookup in stack.lookups}
        self._place = {lookup.key: place for stack in stacks for place, lookup in enumerate(stack.lookups)}
        self._sides = {key: flat for group in config.groups for key, flat in self._flat_inputs(group).items()}
        self._runs = {key: self._as_runs(items) for key, items in self._sides.items()}
        of_items = config.item_features
        groups = [group for group in config.groups if any(item.feature in of_items for item in group.inputs)]
        self._of_items = {key for group in groups for key in self._flat_inputs(group)}
        self._cuts = {stack.name: self._cut(stack) for stack in stacks if stack.is_pooled}

    def _flat_inputs(self, group: Group) -> dict[str, list[Lookup | str]]:
        """For the group's flat tensor its inputs: a lookup, or the name of a feature of numbers."""
        features = self._config.feature_names
        is_flat = group.kind == "flat"
        key = group.name if is_flat else f"{group.name}.query"
        items = [item for item in group.inputs if is_flat or not features[item.feature].is_sequence]
        return {key: [lookup_of(self._config, group, item) or item.feature for item in items]}

    def _as_runs(self, items: list[Lookup | str]) -> list[list[Lookup] | str]:
        runs: list[list[Lookup] | str] = []
        for item in items:
            last = runs[-1] if runs else None
            if isinstance(item, Lookup) and isinstance(last, list) and self._follows(last[-1], item):
                last.append(item)
            else:
                runs.append([item] if isinstance(item, Lookup) else item)
        return runs

    def _follows(self, before: Lookup, after: Lookup) -> bool:
        stack = self._pooled.get(before.key)
        if stack is None or stack is not self._pooled.get(after.key):
            return False
        return self._place[after.key] == self._place[before.key] + 1

    def _cut(self, stack: Stack) -> list[int]:
        """Places where a run of the stack begins or ends, so that one split serves all groups."""
        cuts = {0, len(stack.lookups)}
        for runs in self._runs.values():
            for run in runs:
                if isinstance(run, list) and self._pooled.get(run[0].key) is stack:
                    cuts |= {self._place[run[0].key], self._place[run[-1].key] + 1}
        return sorted(cuts)

    def __call__(self, rows: Mapping[str, Tensor], batch: Batch) -> Lookups:
        found = _Found()
        for name, tensor in rows.items():
            stack = self._stacks[name]
            if stack.is_pooled:
                self._take_pooled(stack, tensor, batch, found)
            else:
                _take_rows(stack, tensor, batch, found)
        groups: dict[str, Tensor] = {}
        vectors: list[Tensor] = []
        for group in self._config.groups:
            flat = group.name if group.kind == "flat" else f"{group.name}.query"
            groups[flat] = self._flat(flat, batch, found, vectors)
            if group.kind == "sequence":
                groups[f"{group.name}.sequence"] = self._sequence(group, batch, found, vectors)
                groups[f"{group.name}.length"] = batch.lengths[group.name]
        if batch.sampled is not None:
            groups.update({"sample.owners": batch.sampled.owners, "sample.hidden": batch.sampled.hidden})
        return Lookups(groups, vectors)

    def _take_pooled(self, stack: Stack, tensor: Tensor, batch: Batch, found: _Found) -> None:
        width, count = stack.width, len(stack.lookups)
        if tensor.shape[1] != width * count:  # padded rows
            tensor = tensor.view(batch.places, count, stored_width(width))[..., :width].flatten(1)
        cuts = self._cuts[stack.name]
        sizes = [(stop - start) * width for start, stop in pairwise(cuts)]
        parts = tensor.split(sizes, dim=1) if len(sizes) > 1 else (tensor,)
        for start, part in zip(cuts, parts, strict=False):
            found.pieces[stack.lookups[start].key] = part

    def _flat(self, key: str, batch: Batch, found: _Found, vectors: list[Tensor]) -> Tensor:
        parts: list[Tensor] = []
        size = batch.places if key in self._of_items else batch.size
        for run in self._runs[key]:
            if isinstance(run, str):
                parts.append(batch.dense[run])
                continue
            pieces = [found.pieces[lookup.key] for lookup in run if lookup.key in found.pieces]
            if size < batch.places:  # features of rows have empty bags in the places of sampled items
                pieces = [piece[:size] for piece in pieces]
            parts += pieces
            vectors += pieces
        if not parts:
            # Without features of its own it has to do with sequences, whose lengths say where the batch is.
            return next(iter(batch.lengths.values())).new_zeros((size, 0), dtype=torch.float32)
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    def _sequence(self, group: Group, batch: Batch, found: _Found, vectors: list[Tensor]) -> Tensor:
        """The group's sequences side by side, [B, T, D], zeros after each row's last."""
        parts = []
        for item in group.inputs:
            if not self._config.feature_names[item.feature].is_sequence:
                continue
            lookup = lookup_of(self._config, group, item)
            if lookup:
                values = found.pieces[lookup.key]
                vectors.append(values)
            else:
                values = batch.sequences[item.feature][0]
            parts.append(values)
        together = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)  # [V, D]
        offsets = torch.nn.functional.pad(batch.lengths[group.name].cumsum(0), (1, 0))
        return torch.ops.fbgemm.jagged_to_padded_dense(together, [offsets], [batch.longest[group.name]], 0.0)


def _take_rows(stack: Stack, tensor: Tensor, batch: Batch, found: _Found) -> None:
    tensor, ids = tensor[:, : stack.width], batch.ids[stack.name]
    counts = ids.length_per_key()
    parts = tensor.split(counts) if len(counts) > 1 else (tensor,)
    lengths = ids.lengths().view(len(counts), -1)
    shares = ids.weights_or_none()
    weights = shares.split(counts) if shares is not None else [None] * len(counts)
    for place, (lookup, part) in enumerate(zip(stack.lookups, parts, strict=True)):
        if lookup.pooling != "none":
            counts_of = lengths[place] if lookup.per == "row" else batch.counts[lookup.feature]
            part = _sum_bags(part, counts_of, weights[place])
        found.pieces[lookup.key] = part


def _sum_bags(values: Tensor, lengths: Tensor, shares: Tensor | None) -> Tensor:
    """Sum of each bag's vectors, [V, D] to [B, D]."""
    if shares is not None:
        values = values * shares.unsqueeze(1)
    if values.shape[0] == lengths.numel() and bool((lengths == 1).all()):
        return values
    rows = torch.arange(lengths.numel(), device=lengths.device).repeat_interleave(lengths, output_size=values.shape[0])
    return values.new_zeros(lengths.numel(), values.shape[1]).index_add(0, rows, values)

"""Record batches to the tensors of one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import torch
from torch import Tensor
from torchrec.sparse.jagged_tensor import KeyedJaggedTensor

from polyrec.config import Group, RunConfig
from polyrec.data.columns import Dense, Ragged, RaggedDense
from polyrec.data.lookups import Lookup, Stack, stacks
from polyrec.errors import DataError

compute: Any = pyarrow.compute  # its functions are made at import, where type checkers do not see them


@dataclass(frozen=True, slots=True)
class Batch:
    """What one step reads; the tensors of all rows at once."""

    size: int
    """Number of rows."""
    ids: Mapping[str, KeyedJaggedTensor]
    """For each stack of tables its lookups, by table; weights say how much each looked-up row counts in its sum."""
    dense: Mapping[str, Tensor]
    """Features of numbers, float32 [B, W]."""
    sequences: Mapping[str, tuple[Tensor, Tensor]]
    """Sequences of numbers: float32 [V, W], and int64 [B] lengths."""
    lengths: Mapping[str, Tensor]
    """Length of each row's sequence in a sequence group, int64 [B]."""
    longest: Mapping[str, int]
    """The longest of those, at least 1."""
    labels: Mapping[str, Tensor]
    """By column, [B]: int64 when a task of several classes reads it, else float32."""
    sample_weights: Mapping[str, Tensor]
    """By column, float32 [B]."""

    def to(self, device: torch.device) -> Batch:
        """The same batch on another device."""
        if device.type == "cpu":
            return self

        def move(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
            return {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}

        return replace(
            self,
            ids={name: ids.to(device, non_blocking=True) for name, ids in self.ids.items()},
            dense=move(self.dense),
            sequences={name: (values.to(device), sizes.to(device)) for name, (values, sizes) in self.sequences.items()},
            lengths=move(self.lengths),
            labels=move(self.labels),
            sample_weights=move(self.sample_weights),
        )


class Collator:
    """Record batches to batches; what depends on the config alone is worked out once."""

    def __init__(self, config: RunConfig, with_labels: bool) -> None:
        self._stacks = stacks(config)
        used = dict.fromkeys(item.feature for group in config.groups for item in group.inputs)
        self._features = [config.feature_names[name] for name in used]
        self._ids = {feature.name for feature in self._features if feature.rows is not None}
        self._limits = {
            (lookup.feature, table.rows)
            for stack in self._stacks
            for table in stack.tables
            for lookup in stack.lookups
            if lookup.table == table.name
        }
        self._sequence_groups = {
            group.name: names for group in config.groups if (names := _sequence_inputs(config, group)) is not None
        }
        self._labels = _label_types(config) if with_labels else {}
        self._weights = list(dict.fromkeys(task.sample_weight for task in config.tasks if task.sample_weight))
        if not with_labels:
            self._weights = []

    def __call__(self, rows: pa.RecordBatch) -> Batch:
        columns = {feature.name: feature.transform(rows) for feature in self._features}
        ragged = {name: item for name, item in columns.items() if isinstance(item, Ragged)}
        for feature, limit in self._limits:
            _check_range(feature, ragged[feature].values, limit)
        lengths = {
            group: _shared_lengths(group, {name: _lengths(columns[name]) for name in names}, rows.num_rows)
            for group, names in self._sequence_groups.items()
        }
        return Batch(
            size=rows.num_rows,
            ids={stack.name: _keyed(stack, ragged, rows.num_rows) for stack in self._stacks},
            dense={name: _tensor(item.values) for name, item in columns.items() if isinstance(item, Dense)},
            sequences={
                name: (_tensor(item.values), _tensor(item.lengths.astype(np.int64)))
                for name, item in columns.items()
                if isinstance(item, RaggedDense)
            },
            lengths={group: _tensor(values) for group, values in lengths.items()},
            longest={group: max(1, int(values.max(initial=0))) for group, values in lengths.items()},
            labels={name: _tensor(_numbers(rows, name, kind)) for name, kind in self._labels.items()},
            sample_weights={name: _tensor(_numbers(rows, name, np.float32)) for name in self._weights},
        )


def empty(config: RunConfig) -> Batch:
    """A batch of no rows, for a rank that has run out of data while others have not."""
    used = dict.fromkeys(item.feature for group in config.groups for item in group.inputs)
    numbers = [config.feature_names[name] for name in used if config.feature_names[name].rows is None]
    nothing = torch.zeros(0, dtype=torch.int64)
    groups = [group.name for group in config.groups if _sequence_inputs(config, group) is not None]
    return Batch(
        size=0,
        ids={
            stack.name: KeyedJaggedTensor(
                keys=stack.keys, values=nothing, lengths=torch.zeros(0, dtype=torch.int32), stride=0
            )
            for stack in stacks(config)
        },
        dense={item.name: torch.zeros(0, item.width) for item in numbers if not item.is_sequence},
        sequences={item.name: (torch.zeros(0, item.width), nothing) for item in numbers if item.is_sequence},
        lengths=dict.fromkeys(groups, nothing),
        longest=dict.fromkeys(groups, 1),
        labels={name: _tensor(np.zeros(0, kind)) for name, kind in _label_types(config).items()},
        sample_weights={task.sample_weight: torch.zeros(0) for task in config.tasks if task.sample_weight},
    )


def _sequence_inputs(config: RunConfig, group: Group) -> list[str] | None:
    if group.kind != "sequence":
        return None
    return [item.feature for item in group.inputs if config.feature_names[item.feature].is_sequence]


def _label_types(config: RunConfig) -> dict[str, type]:
    several = {task.label for task in config.tasks if task.classes > 1}
    return {task.label: np.int64 if task.label in several else np.float32 for task in config.tasks}


def _tensor(values: np.ndarray) -> Tensor:
    # Arrow hands out read-only views of its buffers; torch must not be able to write to those.
    return torch.from_numpy(values if values.flags.writeable else values.copy())


def _lengths(item: Ragged | Dense | RaggedDense) -> np.ndarray:
    assert not isinstance(item, Dense)
    return item.lengths


def _shared_lengths(group: str, lengths: Mapping[str, np.ndarray], size: int) -> np.ndarray:
    """The lengths of a group's sequences, which stand side by side and so must be equally long."""
    found = list(lengths.items())
    if not found:
        return np.zeros(size, np.int64)
    first_name, first = found[0]
    for name, other in found[1:]:
        if not np.array_equal(first, other):
            row = int(np.argmax(first != other))
            raise DataError(
                f"group {group}: row {row} of the batch has {first[row]} values of {first_name} but {other[row]} of "
                f"{name}; the sequences of a group must be equally long"
            )
    return first.astype(np.int64)


def _check_range(feature: str, ids: np.ndarray, rows: int) -> None:
    if not ids.size:
        return
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= rows:
        raise DataError(
            f"feature {feature}: id {low if low < 0 else high} is not a row of its table, which has {rows} (0 to "
            f"{rows - 1}); raise the number of buckets or map the value to a default"
        )


def _keyed(stack: Stack, columns: Mapping[str, Ragged], size: int) -> KeyedJaggedTensor:
    items = [columns[lookup.feature] for lookup in stack.lookups]
    shares = [_shares(lookup, item) for lookup, item in zip(stack.lookups, items, strict=True)]
    weights = None
    if any(share is not None for share in shares):
        weights = torch.from_numpy(
            np.concatenate(
                [
                    np.ones(len(item.values), np.float32) if share is None else share
                    for share, item in zip(shares, items, strict=True)
                ]
            )
        )
    return KeyedJaggedTensor(
        keys=stack.keys,
        values=torch.from_numpy(np.concatenate([item.values for item in items], dtype=np.int64)),
        lengths=torch.from_numpy(np.concatenate([item.lengths for item in items], dtype=np.int32)),
        weights=weights,
        stride=size,
    )


def _shares(lookup: Lookup, item: Ragged) -> np.ndarray | None:
    """How much each looked-up row counts in its bag's sum, None when all count once.

    As TensorFlow has it, a weighted mean is divided by the sum of its weights, sqrtn by the root of the sum of squares.
    """
    weights = item.weights
    if lookup.pooling == "none":
        return None
    if lookup.pooling == "sum":
        return None if weights is None else weights.astype(np.float32)
    if weights is None:
        if item.lengths.max(initial=0) <= 1:
            return None
        sizes = np.maximum(item.lengths, 1)
        parts = (1 / sizes if lookup.pooling == "mean" else 1 / np.sqrt(sizes)).astype(np.float32)
        return np.repeat(parts, item.lengths)
    bags = np.repeat(np.arange(len(item.lengths)), item.lengths)
    counted = weights if lookup.pooling == "mean" else weights.astype(np.float64) ** 2
    totals = np.bincount(bags, counted, minlength=len(item.lengths))
    if lookup.pooling == "sqrtn":
        totals = np.sqrt(totals)
    parts = np.divide(1, totals, out=np.zeros_like(totals), where=totals != 0)
    return (weights * parts[bags]).astype(np.float32)


def _single(lists: pa.Array, name: str) -> pa.Array:
    """The values of lists that hold exactly one each, as a label has it that slot text gives for a slot."""
    sizes = compute.fill_null(compute.list_value_length(lists), 0)
    others = compute.not_equal(sizes, 1)
    if compute.any(others).as_py():
        row = int(compute.index(others, True).as_py())
        raise DataError(
            f"column {name}: row {row} of the batch has {sizes[row]} values; a label or weight is one number"
        )
    return lists.flatten()


def _numbers(rows: pa.RecordBatch, name: str, kind: type) -> np.ndarray:
    column = rows.column(name)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = _single(column, name)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        row = int(compute.index(compute.is_null(column), True).as_py())
        raise DataError(f"column {name}: row {row} of the batch has no value; remove such rows")
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = compute.utf8_trim_whitespace(column)
    try:
        values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"column {name}: is not a number: {error}") from None
    if kind is np.int64 and not np.array_equal(values, np.floor(values)):
        row = int(np.argmax(values != np.floor(values)))
        raise DataError(f"column {name}: row {row} of the batch holds {values[row]}; a class is a whole number")
    return values.astype(kind)

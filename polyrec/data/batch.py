"""Record batches to the tensors of one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor
from torchrec.sparse.jagged_tensor import KeyedJaggedTensor

from polyrec.config import Group, RunConfig
from polyrec.data.columns import Column, Dense, Ragged, RaggedBags, RaggedDense, RowError
from polyrec.data.grouping import Grouping
from polyrec.data.lookups import Pooling, Stack, stacks
from polyrec.data.numbers import labels as read_labels
from polyrec.data.numbers import numbers
from polyrec.data.samplers import Sampled
from polyrec.data.sift import Stage
from polyrec.features._program import Program

_ANY_VALUE = 2**63 - 1
"""Values of tables with collisions are less than this."""


@dataclass(frozen=True, slots=True)
class SampledItems:
    """Items that stand after the rows in all that belongs to items, and after their empty places in lookups."""

    count: int
    """All of them; those that stand against all rows come first."""
    owners: Tensor
    """int64 [H], the row that each of the last H stands against."""
    hidden: Tensor
    """int64 [2, M], rows and those among the sampled items that must not count against them."""


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
    counts: Mapping[str, Tensor]
    """For each sequence whose positions hold several ids, how many each position holds, int64 [P]."""
    lengths: Mapping[str, Tensor]
    """Length of each row's sequence in a sequence group, int64 [B]."""
    longest: Mapping[str, int]
    """The longest of those, at least 1."""
    labels: Mapping[str, Tensor]
    """By column, [B]: int64 when a task of several classes reads it, else float32."""
    sample_weights: Mapping[str, Tensor]
    """By column, float32 [B]."""
    groups: Mapping[str, Tensor] = field(default_factory=dict)
    """By column, int64 [B]: the same for rows that losses and metrics take together."""
    sampled: SampledItems | None = None
    """Items that joined the rows."""

    @property
    def places(self) -> int:
        """Bags of each lookup: those of the rows, and those of the sampled items."""
        return self.size + (self.sampled.count if self.sampled else 0)

    @property
    def nbytes(self) -> int:
        """Memory that the tensors take; what several stacks look up stands there once."""
        parts = [self.dense, self.counts, self.lengths, self.labels, self.sample_weights, self.groups]
        tensors = [tensor for part in parts for tensor in part.values()]
        tensors += [tensor for pair in self.sequences.values() for tensor in pair]
        for ids in self.ids.values():
            weights = ids.weights_or_none()
            tensors += [ids.values(), ids.lengths()] + ([] if weights is None else [weights])
        tensors += [] if self.sampled is None else [self.sampled.owners, self.sampled.hidden]
        return sum({(tensor.data_ptr(), tensor.nbytes): tensor.nbytes for tensor in tensors}.values())

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
            counts=move(self.counts),
            lengths=move(self.lengths),
            labels=move(self.labels),
            sample_weights=move(self.sample_weights),
            groups=move(self.groups),
            sampled=self.sampled
            and SampledItems(self.sampled.count, self.sampled.owners.to(device), self.sampled.hidden.to(device)),
        )


class Collator:
    """Record batches to batches; what depends on the config alone is worked out once."""

    def __init__(self, config: RunConfig, with_labels: bool) -> None:
        self._stacks = stacks(config)
        of_items = config.item_features
        self._program = Program(config)
        self._rows_program = Program(config, config.feature_names.keys() - of_items)
        self._items_program = Program(config, of_items)
        self._features = config.feature_names
        self._limits = {
            (lookup.feature, table.rows if table.collisions is None else _ANY_VALUE)
            for stack in self._stacks
            for table in stack.tables
            for lookup in stack.lookups
            if lookup.table == table.name
        }
        self._sequence_groups = {
            group.name: names for group in config.groups if (names := _sequence_inputs(config, group)) is not None
        }
        self._labels = _label_classes(config) if with_labels else {}
        self._weights = list(dict.fromkeys(task.sample_weight for task in config.tasks if task.sample_weight))
        if not with_labels:
            self._weights = []
        self._grouping = Grouping(config) if with_labels else None

    def stages(self) -> list[Stage]:
        """The parts of the work that may fail for some rows, for finding out which rows those are."""
        groups = [
            Stage(partial(self._group_lengths, group, names), self._program.base_columns(self._inputs(names)))
            for group, names in self._sequence_groups.items()
        ]
        limits = [
            Stage(partial(self._in_range, feature, limit), self._program.base_columns(self._inputs([feature])))
            for feature, limit in self._limits
        ]
        labels = [Stage(partial(read_labels, name=name, classes=count)) for name, count in self._labels.items()]
        weights = [Stage(partial(numbers, name=name)) for name in self._weights]
        made = self._program.stages()
        if self._grouping is not None:
            made = [*self._grouping.stages({stage.makes for stage in made}), *made]
        return [*labels, *weights, *made, *limits, *groups]

    @property
    def required(self) -> tuple[str, ...]:
        """Columns without which a row is of no use."""
        return (*self._labels, *self._weights)

    def _inputs(self, features: Iterable[str]) -> list[str]:
        return [column for name in features for column in self._features[name].inputs]

    def _in_range(self, feature: str, limit: int, rows: pa.RecordBatch) -> None:
        found = self._features[feature].transform(rows)
        assert isinstance(found, Ragged | RaggedBags)
        _check_range(feature, _by_row(found), limit)

    def _group_lengths(self, group: str, names: Iterable[str], rows: pa.RecordBatch) -> None:
        found = {name: _lengths(self._features[name].transform(rows)) for name in names}
        _shared_lengths(group, found, rows.num_rows)

    def __call__(self, found: pa.RecordBatch | Sampled) -> Batch:
        sampled = found if isinstance(found, Sampled) else Sampled(found)
        rows, items = sampled.rows, sampled.items
        columns = self._checked(self._rows_program(rows))
        columns |= self._checked(self._items_program(rows if items is None else _with_items(rows, items)))
        bags = {name: item for name, item in columns.items() if isinstance(item, RaggedBags)}
        ids = {name: item for name, item in columns.items() if isinstance(item, Ragged | RaggedBags)}
        places = rows.num_rows + (0 if items is None else items.num_rows)
        lengths = {
            group: _shared_lengths(group, {name: _lengths(columns[name]) for name in names}, rows.num_rows)
            for group, names in self._sequence_groups.items()
        }
        return Batch(
            size=rows.num_rows,
            ids=_keyed(self._stacks, ids, places),
            dense={name: _tensor(item.values) for name, item in columns.items() if isinstance(item, Dense)},
            sequences={
                name: (_tensor(item.values), _tensor(item.lengths.astype(np.int64)))
                for name, item in columns.items()
                if isinstance(item, RaggedDense)
            },
            counts={name: _tensor(item.counts.astype(np.int64)) for name, item in bags.items()},
            lengths={group: _tensor(values) for group, values in lengths.items()},
            longest={group: max(1, int(values.max(initial=0))) for group, values in lengths.items()},
            labels={name: _tensor(read_labels(rows, name, classes)) for name, classes in self._labels.items()},
            sample_weights={name: _tensor(numbers(rows, name).astype(np.float32)) for name in self._weights},
            groups={name: _tensor(found) for name, found in (self._grouping(rows) if self._grouping else {}).items()},
            sampled=None
            if items is None
            else SampledItems(
                items.num_rows,
                _tensor(sampled.owners),
                _tensor(np.stack((sampled.hidden_rows, sampled.hidden_items))),
            ),
        )

    def _checked(self, columns: dict[str, Column]) -> dict[str, Column]:
        for feature, limit in self._limits:
            if feature in columns:
                item = columns[feature]
                assert isinstance(item, Ragged | RaggedBags)
                _check_range(feature, _by_row(item), limit)
        return columns


def empty(config: RunConfig) -> Batch:
    """A batch of no rows, for a rank that has run out of data while others have not."""
    used = dict.fromkeys(item.feature for group in config.groups for item in group.inputs)
    features = [config.feature_names[name] for name in used]
    numbers = [feature for feature in features if feature.rows is None]
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
        counts=dict.fromkeys((feature.name for feature in features if feature.has_bags), nothing),
        lengths=dict.fromkeys(groups, nothing),
        longest=dict.fromkeys(groups, 1),
        labels={
            name: torch.zeros(0, dtype=torch.int64 if classes > 1 else torch.float32)
            for name, classes in _label_classes(config).items()
        },
        sample_weights={task.sample_weight: torch.zeros(0) for task in config.tasks if task.sample_weight},
        groups=dict.fromkeys(config.group_columns, nothing),
    )


def _with_items(rows: pa.RecordBatch, items: pa.RecordBatch) -> pa.RecordBatch:
    """The columns of items for the rows' own items and the sampled ones."""
    own = [rows.column(field.name).cast(field.type) for field in items.schema]
    return pa.concat_batches([pa.record_batch(own, items.schema), items])


def _sequence_inputs(config: RunConfig, group: Group) -> list[str] | None:
    if group.kind != "sequence":
        return None
    return [item.feature for item in group.inputs if config.feature_names[item.feature].is_sequence]


def _label_classes(config: RunConfig) -> dict[str, int]:
    """For each label the fewest classes of any task that reads it; 1 when none of them has several."""
    found: dict[str, int] = {}
    for task in config.tasks:
        known = found.get(task.label, 1)
        found[task.label] = max(known, task.classes) if 1 in (known, task.classes) else min(known, task.classes)
    return found


def _tensor(values: np.ndarray) -> Tensor:
    # Arrow hands out read-only views of its buffers; torch must not be able to write to those.
    return torch.from_numpy(values if values.flags.writeable else values.copy())


def _lengths(item: Column) -> np.ndarray:
    assert not isinstance(item, Dense)
    return item.lengths


def _by_row(item: Ragged | RaggedBags) -> Ragged:
    return item if isinstance(item, Ragged) else item.by_row


def _shared_lengths(group: str, lengths: Mapping[str, np.ndarray], size: int) -> np.ndarray:
    """The lengths of a group's sequences, which stand side by side and so must be equally long."""
    found = list(lengths.items())
    if not found:
        return np.zeros(size, np.int64)
    first_name, first = found[0]
    for name, other in found[1:]:
        if not np.array_equal(first, other):
            row = int(np.argmax(first != other))
            raise RowError(
                f"group {group}",
                row,
                f"{first[row]} values of {first_name} but {other[row]} of {name}; the sequences of a group must be "
                "equally long",
                "size",
                np.flatnonzero(first != other),
            )
    return first.astype(np.int64)


def _check_range(feature: str, item: Ragged, rows: int) -> None:
    """The last thing before ids become addresses, where nothing checks them."""
    ids = item.values
    # As an unsigned number, an id below 0 is larger than any table.
    if not ids.size or int(ids.view(np.uint64).max()) < rows:
        return
    position = int(np.argmax((ids < 0) | (ids >= rows)))
    row = int(np.searchsorted(np.cumsum(item.lengths), position, side="right"))
    raise RowError(
        f"feature {feature}",
        row,
        f"id {ids[position]} is not a row of its table, which has {rows} (0 to {rows - 1}); raise the number of "
        "buckets or map the value to a default",
        "range",
        np.unique(np.searchsorted(np.cumsum(item.lengths), np.flatnonzero((ids < 0) | (ids >= rows)), side="right")),
    )


def _keyed(
    stacks: Sequence[Stack], columns: Mapping[str, Ragged | RaggedBags], size: int
) -> dict[str, KeyedJaggedTensor]:
    """The lookups of each stack; those that look up the same ids share their memory."""
    made: dict[tuple[tuple[str, ...], ...], tuple[Tensor, Tensor, Tensor | None]] = {}
    found = {}
    for stack in stacks:
        what = tuple((lookup.feature, lookup.pooling, lookup.per) for lookup in stack.lookups)
        if what not in made:
            made[what] = _looked_up(stack, columns, size)
        values, lengths, weights = made[what]
        found[stack.name] = KeyedJaggedTensor(
            keys=stack.keys, values=values, lengths=lengths, weights=weights, stride=size
        )
    return found


def _looked_up(
    stack: Stack, columns: Mapping[str, Ragged | RaggedBags], size: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Ids, lengths of bags and weights of all lookups of a stack, one after another."""
    found = [columns[lookup.feature] for lookup in stack.lookups]
    items = [_by_row(item) for item in found]
    shares = [
        _shares(lookup.pooling, _bags(item) if lookup.per == "position" else _by_row(item))
        for lookup, item in zip(stack.lookups, found, strict=True)
    ]
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
    return (
        torch.from_numpy(np.concatenate([item.values for item in items], dtype=np.int64)),
        torch.from_numpy(np.concatenate([_filled_up(item.lengths, size) for item in items], dtype=np.int32)),
        weights,
    )


def _filled_up(lengths: np.ndarray, size: int) -> np.ndarray:
    """With empty bags in the places of sampled items, which features of rows do not have."""
    return lengths if len(lengths) == size else np.concatenate((lengths, np.zeros(size - len(lengths), lengths.dtype)))


def _bags(item: Ragged | RaggedBags) -> Ragged:
    """What is summed to one vector for each position of a sequence."""
    return item if isinstance(item, Ragged) else Ragged(item.values, item.counts, item.weights)


def _shares(pooling: Pooling, item: Ragged) -> np.ndarray | None:
    """How much each looked-up row counts in its bag's sum, None when all count once.

    As TensorFlow has it, a weighted mean is divided by the sum of its weights, sqrtn by the root of the sum of squares.
    """
    weights = item.weights
    if pooling == "none":
        return None
    if pooling == "sum":
        return None if weights is None else weights.astype(np.float32)
    if weights is None:
        if item.lengths.max(initial=0) <= 1:
            return None
        sizes = np.maximum(item.lengths, 1)
        parts = (1 / sizes if pooling == "mean" else 1 / np.sqrt(sizes)).astype(np.float32)
        return np.repeat(parts, item.lengths)
    bags = np.repeat(np.arange(len(item.lengths)), item.lengths)
    counted = weights if pooling == "mean" else weights.astype(np.float64) ** 2
    totals = np.bincount(bags, counted, minlength=len(item.lengths))
    if pooling == "sqrtn":
        totals = np.sqrt(totals)
    parts = np.divide(1, totals, out=np.zeros_like(totals), where=totals != 0)
    return (weights * parts[bags]).astype(np.float32)

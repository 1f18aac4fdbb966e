"""The feature program of a run: record batches to features, the same in training, prediction and exports."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import partial

import numpy as np
import pyarrow as pa

from polyrec.config import Derived, EachPosition, RunConfig
from polyrec.data.columns import Column, RowError
from polyrec.data.masking import hidden_rows
from polyrec.data.sift import Stage, emptied
from polyrec.families import FeatureConfig
from polyrec.features._values import Values, column, values


class Program:
    """The features that groups use, and the derived columns that these need."""

    def __init__(self, config: RunConfig, names: Container[str] | None = None) -> None:
        """Only the features with these names, if they are given."""
        used = dict.fromkeys(item.feature for group in config.groups for item in group.inputs)
        self.features = [config.feature_names[name] for name in used if names is None or name in names]
        self._derived = in_order(config.derived, (name for feature in self.features for name in feature.inputs))
        self._hidden = set(config.data.masking.features) if config.data.masking else set()
        self._base: dict[str, tuple[str, ...]] = {}
        for derived in self._derived:
            self._base[derived.name] = self.base_columns(derived.operator.inputs)

    def __call__(self, rows: pa.RecordBatch) -> dict[str, Column]:
        """Every feature by its name."""
        for derived in self._derived:
            rows = rows.append_column(derived.name, make(derived, rows))
        hidden = hidden_rows(rows) if self._hidden else None
        by_kind: dict[type[FeatureConfig], list[FeatureConfig]] = {}
        found: dict[str, Column] = {}
        for feature in self.features:
            if hidden is not None and feature.name in self._hidden:
                found[feature.name] = feature.transform(emptied(rows, feature.inputs[0], hidden))
            else:
                by_kind.setdefault(type(feature), []).append(feature)
        for kind, features in by_kind.items():
            made = kind.transform_all(features, rows)
            found |= {feature.name: item for feature, item in zip(features, made, strict=True)}
        return {feature.name: found[feature.name] for feature in self.features}

    def base_columns(self, names: Iterable[str]) -> tuple[str, ...]:
        """The columns of the data that these are or are made of."""
        return tuple(dict.fromkeys(base for name in names for base in self._base.get(name, (name,))))

    def stages(self) -> list[Stage]:
        """The parts of the work, for finding out which rows fail in which."""
        made = [Stage(partial(make, item), self._base[item.name], item.name) for item in self._derived]
        return made + [Stage(item.transform, self.base_columns(item.inputs)) for item in self.features]


def in_order(derived: Iterable[Derived], wanted: Iterable[str]) -> list[Derived]:
    """Those that the wanted columns need, each after all that it reads."""
    known = {item.name: item for item in derived}
    found: dict[str, Derived] = {}
    open_names: set[str] = set()
    left = [(name, False) for name in wanted if name in known][::-1]
    while left:
        name, is_ready = left.pop()
        if name in found:
            continue
        if is_ready:
            found[name] = known[name]
            continue
        # A name that is met again while it is open depends on itself; `checks` has refused such a config.
        assert name not in open_names
        open_names.add(name)
        left.append((name, True))
        left += [(other, False) for other in known[name].operator.inputs if other in known and other not in found][::-1]
    return list(found.values())


def make(derived: Derived, rows: pa.RecordBatch) -> pa.Array:
    """The derived column of these rows."""
    if derived.each_position is None:
        return derived.operator.apply(rows)
    spread, lengths, owners = _positions(derived, derived.each_position, rows)
    try:
        made = derived.operator.apply(spread)
    except RowError as error:
        all_rows = None if error.rows is None else np.unique(owners[error.rows])
        raise RowError(error.subject, int(owners[error.row]), error.what, error.kind, all_rows) from None
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    if offsets[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), made)
    return pa.LargeListArray.from_arrays(pa.array(offsets), made)


def _positions(
    derived: Derived, each: EachPosition, rows: pa.RecordBatch
) -> tuple[pa.RecordBatch, np.ndarray, np.ndarray]:
    """A row for each position, how many each row has, and the row of each."""
    sequences = {name: _sequence(rows, name, each) for name in each.columns}
    (first_name, first), *others = sequences.items()
    for name, other in others:
        if not np.array_equal(first.lengths, other.lengths):
            row = int(np.argmax(first.lengths != other.lengths))
            what = f"{other.lengths[row]} positions but {first.lengths[row]} in {first_name}; {derived.name} reads both"
            raise RowError(f"column {name}", row, f"{what} position by position, so make them equally long", "size")
    owners = np.repeat(np.arange(rows.num_rows), first.lengths)
    spread = {
        name: sequences[name].array if name in sequences else _beside(column(rows, name), owners)
        for name in derived.operator.inputs
    }
    return pa.record_batch(spread), first.lengths, owners


def _beside(array: pa.Array, owners: np.ndarray) -> pa.Array:
    """The value of its row for each position; texts, lists and maps stay once, for they may be long."""
    if pa.types.is_primitive(array.type) or pa.types.is_dictionary(array.type) or len(owners) <= len(array):
        return array.take(pa.array(owners))
    return pa.DictionaryArray.from_arrays(pa.array(owners), array)


def _sequence(rows: pa.RecordBatch, name: str, each: EachPosition) -> Values:
    found = values(rows, name, each.separator)
    # Without separators a row has one position, or none when it has no value.
    return (found.drop_missing() if found.single else found).head(each.max_length)

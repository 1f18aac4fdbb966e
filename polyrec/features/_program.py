"""The feature program of a run: record batches to features, the same in training, prediction and exports."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from polyrec.config import Derived, EachPosition, RunConfig
from polyrec.data.columns import Column, RowError
from polyrec.families import FeatureConfig
from polyrec.features._values import Values, column, values


class Program:
    """The features that groups use, and the derived columns that these need."""

    def __init__(self, config: RunConfig) -> None:
        used = dict.fromkeys(item.feature for group in config.groups for item in group.inputs)
        self.features = [config.feature_names[name] for name in used]
        self._derived = in_order(config.derived, (name for feature in self.features for name in feature.inputs))

    def __call__(self, rows: pa.RecordBatch) -> dict[str, Column]:
        """Every feature by its name."""
        for derived in self._derived:
            rows = rows.append_column(derived.name, make(derived, rows))
        by_kind: dict[type[FeatureConfig], list[FeatureConfig]] = {}
        for feature in self.features:
            by_kind.setdefault(type(feature), []).append(feature)
        return {
            feature.name: column
            for kind, features in by_kind.items()
            for feature, column in zip(features, kind.transform_all(features, rows), strict=True)
        }


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
        raise RowError(error.subject, int(owners[error.row]), error.what) from None
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
            raise RowError(f"column {name}", row, f"{what} position by position, so make them equally long")
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

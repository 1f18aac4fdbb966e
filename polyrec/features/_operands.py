"""What operators read and make: texts, pairs of maps, and lists for each row. Nothing here loops over rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyarrow import types

from polyrec.data.columns import RowError
from polyrec.errors import DataError
from polyrec.features._hashing import text_offsets
from polyrec.features._values import (
    Values,
    as_text,
    column,
    compute,
    decode,
    is_list,
    is_text,
    missing,
    places,
    plain,
    split,
    unlist,
    values,
)

# Values that an operator makes of one batch: a mistake in the data must not take all memory.
MOST_VALUES = 10_000_000


def single_values(found: Values) -> Values:
    """The same, when its elements are no lists themselves."""
    if is_list(found.array.type):
        what = f"values of type {found.array.type} cannot be used; give each row one list at most"
        raise DataError(f"column {found.column}: {what}")
    return found


def present(rows: pa.RecordBatch, name: str, separator: str | None) -> Values:
    """The values of each row that are not missing."""
    return single_values(values(rows, name, separator)).drop_missing()


def texts(found: Values) -> pa.Array:
    """The values as string or large_string."""
    return as_text(decode(found.array))


def owners(lengths: np.ndarray) -> np.ndarray:
    """The row of each value."""
    return np.repeat(np.arange(len(lengths)), lengths)


def lists(array: pa.Array, lengths: np.ndarray) -> pa.Array:
    """The values of each row as its list."""
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    if offsets[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), array)
    return pa.LargeListArray.from_arrays(pa.array(offsets), array)


def joined(parts: list[pa.Array], joint: str) -> pa.Array:
    """Texts put together one by one."""
    if len(parts) == 1:
        return parts[0]
    longest = sum(_longest(part) + len(joint.encode()) for part in parts) * len(parts[0])
    is_large = longest >= 2**31 or any(types.is_large_string(part.type) for part in parts)
    kind = pa.large_string() if is_large else pa.string()
    return compute.binary_join_element_wise(*(part.cast(kind) for part in parts), pa.scalar(joint, kind))


def taken(array: pa.Array, at: np.ndarray) -> pa.Array:
    """The values at these places, each perhaps often, for which one string array may be too small."""
    if len(at) == len(array) and np.array_equal(at, np.arange(len(at))):
        return array
    if types.is_string(array.type) and _longest(array) * len(at) >= 2**31:
        array = array.cast(pa.large_string())
    return array.take(pa.array(at))


def _longest(array: pa.Array) -> int:
    return int(np.diff(text_offsets(array)).max(initial=0))


def check_size(counts: np.ndarray, subject: str) -> None:
    """Refuse to make more values than memory is meant for; `counts` are those of each row, as floats."""
    total = float(counts.sum())
    if total > MOST_VALUES:
        row = int(np.argmax(counts))
        what = f"{counts[row]:.0f} values here, {total:.0f} in its batch, where {MOST_VALUES} are the most"
        raise RowError(subject, row, f"{what}; shorten the lists, or make batches smaller", "size")


def operands(
    rows: pa.RecordBatch, columns: tuple[str, ...], separators: tuple[str | None, ...], fill: bool
) -> list[Values]:
    """What is combined of each column; `fill` takes what is missing in a column of one value a row as a value."""
    found = []
    for name, separator in zip(columns, separators or [None] * len(columns), strict=True):
        part = single_values(values(rows, name, separator))
        found.append(_filled(part) if fill and part.single else part.drop_missing())
    return found


def _filled(found: Values) -> Values:
    """Texts that are missing as empty ones, numbers as 0."""
    gaps = missing(found.array)
    if gaps is None:
        return found
    array = decode(found.array)
    filler = pa.scalar("" if is_text(array) else 0).cast(array.type)
    return replace(found, array=compute.if_else(pa.array(gaps), filler, array))


def combinations(lengths: list[np.ndarray], subject: str) -> tuple[list[np.ndarray], np.ndarray]:
    """For each column the place of its value in each combination, the last column's changing first, and how many
    combinations each row has."""
    check_size(np.prod([counts.astype(np.float64) for counts in lengths], axis=0), subject)
    counts = np.prod(lengths, axis=0)
    inner = places(counts)
    chosen: list[np.ndarray] = []
    for of_column in reversed(lengths):
        own = np.repeat(of_column, counts)
        chosen.append(np.repeat(np.cumsum(of_column) - of_column, counts) + inner % own)
        inner = inner // own
    return chosen[::-1], counts


# -- maps


@dataclass(frozen=True, slots=True)
class Entries:
    """The pairs of maps, one after another. Maps that many rows share are there once."""

    keys: Values
    """None is missing."""
    values: Values
    """As many, null where an entry has none."""
    of_row: np.ndarray | None = None
    """int64 [B], the map of each row, -1 for none; None when each row has its own."""

    def keep(self, chosen: np.ndarray) -> Entries:
        return replace(self, keys=self.keys.keep(chosen), values=self.values.keep(chosen))

    def with_values(self) -> Entries:
        """Those that have a value."""
        gaps = missing(self.values.array)
        return self if gaps is None else self.keep(~gaps)

    def maps(self, of_rows: np.ndarray) -> np.ndarray:
        """The maps of rows."""
        return of_rows if self.of_row is None else self.of_row[of_rows]

    def every(self, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Places of the entries of each row, and their rows."""
        lengths = self.keys.lengths
        if self.of_row is None:
            return np.arange(len(self.keys.array)), owners(lengths)
        # A row without a map, -1, has the last one, of nothing.
        lengths = np.append(lengths, 0)
        counts = lengths[self.of_row]
        check_size(counts.astype(np.float64), f"column {self.keys.column}")
        starts = (np.cumsum(lengths) - lengths)[self.of_row]
        return np.repeat(starts, counts) + places(counts), np.repeat(np.arange(rows), counts)


def entries(rows: pa.RecordBatch, name: str, separator: str, kv_separator: str, last: bool = False) -> Entries:
    """The pairs of a map, or of texts that hold one or several; `last` takes the last separator in an entry."""
    array = column(rows, name)
    if not types.is_dictionary(array.type) or len(array.dictionary) > len(array):
        return _entries(rows, name, separator, kv_separator, last)
    words = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    shared = _entries(pa.record_batch({name: array.dictionary}), name, separator, kv_separator, last)
    first_rows = np.zeros(len(array.dictionary), np.int64)
    present_rows = np.flatnonzero(words >= 0)[::-1]
    first_rows[words[present_rows]] = present_rows
    keys, found = (replace(part, origins=first_rows) for part in (shared.keys, shared.values))
    return Entries(keys, found, words)


def _entries(rows: pa.RecordBatch, name: str, separator: str, kv_separator: str, last: bool) -> Entries:
    array = plain(column(rows, name), name)
    if is_list(array.type):
        inner, lengths = unlist(array, name)
        if types.is_struct(inner.type):
            return _pairs(Values(name, inner, lengths))
    return split_entries(present(rows, name, separator), kv_separator, last)


def _pairs(found: Values) -> Entries:
    """Of structs of a key and a value."""
    keys, inner = (plain(compute.struct_field(found.array, [field]), found.column) for field in (0, 1))
    pairs = Entries(single_values(replace(found, array=keys)), replace(found, array=inner))
    gaps = missing(keys)
    return pairs if gaps is None else pairs.keep(~gaps)


def split_entries(found: Values, kv_separator: str, last: bool = False) -> Entries:
    """Of texts `key<kv_separator>value`; one without a separator is a key alone."""
    parts = compute.split_pattern(texts(found), kv_separator, max_splits=1, reverse=last)
    counts = compute.list_value_length(parts).to_numpy()
    firsts = np.cumsum(counts) - counts
    flat = parts.flatten()
    keys = replace(found, array=flat.take(pa.array(firsts)))
    pairs = Entries(keys, replace(found, array=flat.take(pa.array(firsts + 1, mask=counts == 1))))
    gaps = missing(keys.array)
    return pairs if gaps is None else pairs.keep(~gaps)


def inner_entries(found: Values, separator: str, kv_separator: str) -> Entries:
    """Of values that are maps themselves, each counted as a row."""
    if is_list(found.array.type):
        inner, lengths = unlist(found.array, found.column)
        if types.is_struct(inner.type):
            return _pairs(replace(found, array=inner, lengths=lengths))
        found = replace(found, array=inner, lengths=lengths)
    elif is_text(found.array):
        inner, lengths = split(found.array, separator)
        found = replace(found, array=inner, lengths=lengths)
    return split_entries(single_values(found).drop_missing(), kv_separator)


# -- keys


def codes(first: pa.Array, second: pa.Array) -> tuple[np.ndarray, np.ndarray, int]:
    """A whole number for each value, the same for equal ones, and how many numbers there are."""
    # A chunk without values is not always kept.
    chunks = pa.chunked_array(list(_alike(first, second))).dictionary_encode().unify_dictionaries().chunks
    found = np.concatenate([np.zeros(0, np.int64), *(chunk.indices.to_numpy() for chunk in chunks)])
    words = max((len(chunk.dictionary) for chunk in chunks), default=1)
    return found[: len(first)], found[len(first) :], max(words, 1)


def _alike(first: pa.Array, second: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Both in one type in which equal values are equal: whole numbers if both are, else text."""
    first, second = decode(first), decode(second)
    if all(types.is_integer(array.type) and not types.is_uint64(array.type) for array in (first, second)):
        return first.cast(pa.int64()), second.cast(pa.int64())
    first, second = as_text(first), as_text(second)
    if first.type != second.type:
        return first.cast(pa.large_string()), second.cast(pa.large_string())
    return first, second


def among(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether each value is one of the others; several times faster than `np.isin` where rows stand in order."""
    if not len(others):
        return np.zeros(len(values), bool)
    ordered = np.sort(others, kind="stable")
    at = np.searchsorted(ordered, values)
    return ordered[np.minimum(at, len(ordered) - 1)] == values


def matches(pairs: Entries, wanted: Values) -> tuple[np.ndarray, np.ndarray]:
    """Where the map of a row holds a key that is wanted there: places of entries and of the wanted, in the order of
    the wanted, then of entries."""
    keys = pairs.keys
    if pairs.of_row is None and int(wanted.lengths.max(initial=0)) <= 1:
        at = np.flatnonzero(np.repeat(wanted.lengths > 0, keys.lengths))
        who = np.repeat(np.cumsum(wanted.lengths) - wanted.lengths, keys.lengths)[at]
        one, two = _alike(keys.array, wanted.array)
        one = one if len(at) == len(one) else taken(one, at)
        equal = compute.equal(one, taken(two, who)).to_numpy(zero_copy_only=False)
        return at[equal], who[equal]
    key_codes, wanted_codes, words = codes(keys.array, wanted.array)
    key_codes = owners(keys.lengths) * words + key_codes
    wanted_codes = pairs.maps(owners(wanted.lengths)) * words + wanted_codes
    order = np.argsort(key_codes, kind="stable")
    ordered = key_codes[order]
    first = np.searchsorted(ordered, wanted_codes, side="left")
    counts = np.searchsorted(ordered, wanted_codes, side="right") - first
    by_row = np.bincount(owners(wanted.lengths), counts, len(wanted.lengths))
    check_size(by_row, f"column {keys.column}")
    return order[np.repeat(first, counts) + places(counts)], np.repeat(np.arange(len(counts)), counts)

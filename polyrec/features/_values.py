"""Arrow columns of any type as values per row: what every feature begins with. Nothing here loops over rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from polyrec.assets import assets
from polyrec.data.columns import Kind, Ragged, RowError
from polyrec.data.halving import uncastable
from polyrec.errors import DataError, nearest
from polyrec.families import BucketConfig
from polyrec.features._hashing import text_offsets
from polyrec.features._keeping import holds, kept, missing


class _Compute:
    """PyArrow's functions. Their module is loaded when the first is called, since it takes long to make them all."""

    def __getattr__(self, name: str) -> Any:
        import pyarrow.compute

        found = getattr(pyarrow.compute, name)
        setattr(self, name, found)
        return found


# A type checker does not see functions that are made while a module loads.
compute: Any = _Compute()

FloatType = type[np.float32] | type[np.float64]
FILL_IN = "correct it, or leave it empty and set a default"
ACCEPTED = "whole numbers, floats, decimals, bool, times, text, and dictionaries, lists or maps of these"


class ElementError(DataError):
    """A value that cannot be used, found where nobody knows yet which column and row it came from."""

    def __init__(self, position: int, what: str, kind: Kind = "other", positions: np.ndarray | None = None) -> None:
        """`positions` are all that are wrong in this way, where they are known."""
        self.position = position
        self.what = what
        self.kind: Kind = kind
        self.positions = positions
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a column, one after another, and how many each row has."""

    column: str
    array: pa.Array
    """Text, numbers, bool, or a dictionary of these; null where a value is missing."""
    lengths: np.ndarray
    """int64 [B]."""
    weights: np.ndarray | None = None
    """float32 [V]."""
    single: bool = False
    """Whether the column has one value for each row, not a list."""
    origins: np.ndarray | None = None
    """int64 [B], the row that each entry of `lengths` came from; None when they are the rows themselves."""

    def origin(self, entry: int) -> int:
        return entry if self.origins is None else int(self.origins[entry])

    def error(self, position: int, what: str, kind: Kind = "other") -> RowError:
        """About one of the values."""
        entry = int(np.searchsorted(np.cumsum(self.lengths), position, side="right"))
        return self.error_in(self.origin(entry), what, kind)

    def located(self, error: ElementError) -> RowError:
        """What is wrong with some of the values, by row."""
        found = self.error(error.position, error.what, error.kind)
        if error.positions is not None:
            entries = np.unique(np.searchsorted(np.cumsum(self.lengths), error.positions, side="right"))
            found.rows = entries if self.origins is None else np.unique(self.origins[entries])
        return found

    def error_in(self, row: int, what: str, kind: Kind = "other", rows: np.ndarray | None = None) -> RowError:
        return RowError(f"column {self.column}", row, what, kind, rows)

    def keep(self, chosen: np.ndarray) -> Values:
        """Only the values where `chosen` is true; rows stay, with fewer values."""
        if self.single and len(chosen) == len(self.lengths):
            lengths = chosen.astype(np.int64)
        else:
            lengths = kept_lengths(self.lengths, chosen)
        weights = None if self.weights is None else self.weights[chosen]
        return replace(self, array=kept(self.array, chosen), lengths=lengths, weights=weights)

    def head(self, most: int | None) -> Values:
        """At most the first `most` values of each row."""
        if most is None or int(self.lengths.max(initial=0)) <= most:
            return self
        return self.keep(places(self.lengths) < most)

    def drop_missing(self) -> Values:
        gaps = missing(self.array)
        return self if gaps is None else self.keep(~gaps)

    def ids(self, bucket: BucketConfig) -> np.ndarray:
        """int64 [V], -1 where a value has no id; no value may be missing."""
        if is_list(self.array.type):
            raise DataError(
                f"column {self.column}: values of type {self.array.type} cannot be used; give each row one list at most"
            )
        try:
            return bucket_ids(bucket, self.array)
        except ElementError as error:
            raise self.located(error) from None

    def numbers(self, dtype: FloatType = np.float32, remedy: str = FILL_IN) -> np.ndarray:
        """Floats [V], NaN where a value is missing; `remedy` is what to do about one that is no number."""
        if is_list(self.array.type):
            raise DataError(
                f"column {self.column}: values of type {self.array.type} cannot be used; give each row one list at most"
            )
        try:
            return numbers(self.array, dtype, remedy)
        except ElementError as error:
            raise self.located(error) from None

    def weighed(self) -> np.ndarray:
        """The values as weights, float32 [V]; a missing one counts as 1."""
        found = self.numbers()
        return np.where(np.isnan(found), np.float32(1), found)


def column(rows: pa.RecordBatch, name: str) -> pa.Array:
    schema = rows.schema
    place = schema.get_field_index(name)
    if place >= 0:
        return rows.column(place)
    found = schema.get_all_field_indices(name)
    if found:
        raise DataError(f"column {name}: the data has {len(found)} columns of this name; rename all but one")
    hint = nearest(name, schema.names) or f"; columns: {', '.join(schema.names) or 'none'}"
    raise DataError(f"column {name}: not in the data{hint}")


def values(rows: pa.RecordBatch, name: str, separator: str | None = None) -> Values:
    """The values of each row: elements of a list, parts of a text between separators, or the one value itself.

    With a separator, an empty or null text has no values; without, it is one value that is missing.
    """
    array = plain(column(rows, name), name)
    if is_list(array.type):
        inner, lengths = unlist(array, name)
        if types.is_struct(inner.type):
            return pairs(name, inner, lengths)
        return Values(name, inner, lengths)
    if separator is not None and is_text(array):
        inner, lengths = split(array, separator)
        return Values(name, inner, lengths)
    return Values(name, array, np.ones(len(array), np.int64), single=True)


def pairs(name: str, entries: pa.Array, lengths: np.ndarray) -> Values:
    """The keys of a map, weighted by its values; a null weight counts as 1."""
    keys, weights = (plain(compute.struct_field(entries, [field]), name) for field in (0, 1))
    return Values(name, keys, lengths, Values(name, weights, lengths).weighed())


def places(lengths: np.ndarray) -> np.ndarray:
    """Of each value, how many stand before it in its row."""
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(starts, lengths)


# -- types


def is_list(kind: pa.DataType) -> bool:
    return (
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
        or types.is_list_view(kind)
        or types.is_large_list_view(kind)
    )


def is_text(array: pa.Array) -> bool:
    """Whether values are text, directly or by way of a dictionary."""
    kind = array.type.value_type if types.is_dictionary(array.type) else array.type
    return types.is_string(kind) or types.is_large_string(kind)


def plain(array: pa.Array, name: str) -> pa.Array:
    """The same values in one of few types: text, integer, float, bool, a dictionary of those, or a list of anything."""
    kind = array.type
    if types.is_string(kind) or types.is_int64(kind) or types.is_float32(kind) or types.is_float64(kind):
        return array
    if types.is_dictionary(kind):
        dictionary = plain(array.dictionary, name)
        if is_list(dictionary.type) or types.is_dictionary(dictionary.type):
            return plain(dictionary.take(array.indices), name)
        return array if dictionary is array.dictionary else pa.DictionaryArray.from_arrays(array.indices, dictionary)
    if types.is_integer(kind) or types.is_boolean(kind) or types.is_large_string(kind) or is_list(kind):
        return array
    if types.is_map(kind):
        return array.cast(pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)])))
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage, name)
    if types.is_run_end_encoded(kind):
        return plain(compute.run_end_decode(array), name)
    if types.is_float16(kind):
        return array.cast(pa.float32())
    target = _stand_in(kind)
    if target is None:
        raise DataError(f"column {name}: values of type {kind} cannot be used; accepted: {ACCEPTED}")
    try:
        return array.cast(target)
    except pa.ArrowInvalid as error:
        raise DataError(f"column {name}: values of type {kind} cannot be read as {target}: {error}") from None


def _stand_in(kind: pa.DataType) -> pa.DataType | None:
    """The plain type that an odd one is cast to; a time becomes the count of its units."""
    if types.is_large_binary(kind):
        return pa.large_string()
    if (
        types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    ):
        return pa.string()
    if types.is_date32(kind) or types.is_time32(kind):
        return pa.int32()
    if types.is_temporal(kind) and not types.is_interval(kind):
        return pa.int64()
    return None


def unlist(array: pa.Array, name: str) -> tuple[pa.Array, np.ndarray]:
    """The elements of all lists one after another, and how many each has; a null list has none."""
    lengths = compute.list_value_length(array)
    if lengths.null_count:
        lengths = lengths.fill_null(0)
    inner = array.flatten()
    if not types.is_struct(inner.type):
        inner = plain(inner, name)
    elif not (inner.type.num_fields == 2 and inner.type.names == ["key", "value"]):
        raise DataError(f"column {name}: values of type {inner.type} cannot be used; accepted: {ACCEPTED}")
    return inner, lengths.to_numpy(zero_copy_only=False).astype(np.int64)


def split(texts: pa.Array, separator: str) -> tuple[pa.Array, np.ndarray]:
    """The parts of all texts one after another, and how many each has; an empty or null text has none."""
    if not holds(texts.dictionary if types.is_dictionary(texts.type) else texts, separator.encode()):
        gaps = missing(texts)
        if gaps is None:
            return texts, np.ones(len(texts), np.int64)
        return kept(texts, ~gaps), (~gaps).astype(np.int64)
    texts = blank_as_null(decode(texts))
    parts = compute.split_pattern(texts, separator)
    return parts.flatten(), compute.list_value_length(parts).fill_null(0).to_numpy(zero_copy_only=False).astype(
        np.int64
    )


def decode(array: pa.Array) -> pa.Array:
    """Without the dictionary."""
    return array.dictionary.take(array.indices) if types.is_dictionary(array.type) else array


def as_text(array: pa.Array) -> pa.Array:
    """As string or large_string: whole numbers in base 10 (3.0 is 3), bool as true and false, other floats as the
    shortest decimal text that reads back as the same number."""
    if is_text(array):
        return array
    texts = array.cast(pa.string())
    if not types.is_floating(array.type):
        return texts
    # Arrow rounds and writes 12345678901.0 as 1.2345678901e+10; a null makes floats of a column of such ids.
    found = array.to_numpy(zero_copy_only=False)
    long = (np.abs(found) >= 2**24) & (np.abs(found) < 2**63) & (np.trunc(found) == found) | (found == 0)
    if not long.any():
        return texts
    return compute.if_else(pa.array(long), pa.array(np.where(long, found, 0).astype(np.int64)).cast(pa.string()), texts)


# -- values that are missing


def blank_as_null(texts: pa.Array) -> pa.Array:
    """The same texts with null for each empty one."""
    blank = np.diff(text_offsets(texts)) == 0
    if not blank.any():
        return texts
    return compute.if_else(pa.array(blank), pa.scalar(None, texts.type), texts)


# -- ids


def bucket_ids(bucket: BucketConfig, array: pa.Array) -> np.ndarray:
    """int64 [V]; of a dictionary, only the words in use are bucketed, each once."""
    if not types.is_dictionary(array.type):
        return bucket.rows_of(array)
    codes = array.indices.to_numpy(zero_copy_only=False)
    if len(array.dictionary) > len(codes):
        return bucket.rows_of(decode(array))
    used = np.zeros(len(array.dictionary), bool)
    used[codes] = True
    words = np.flatnonzero(used)
    ids = np.full(len(used), -1, np.int64)
    try:
        ids[words] = bucket.rows_of(
            array.dictionary if len(words) == len(used) else array.dictionary.take(pa.array(words))
        )
    except ElementError as error:
        found = None if error.positions is None else np.flatnonzero(np.isin(codes, words[error.positions]))
        position = int(np.argmax(codes == words[error.position]))
        raise ElementError(position, error.what, error.kind, found) from None
    return ids[codes]


def row_of(bucket: BucketConfig, text: str) -> int:
    """Row of a single value, -1 for none."""
    return int(bucket.rows_of(pa.array([text], pa.string()))[0])


def check_default(bucket: BucketConfig, default: str | None) -> None:
    """A default that the bucket refuses is wrong in the config, whatever the data; files are not read for that."""
    if default is not None and not any(assets(bucket)):
        try:
            row_of(bucket, default)
        except ElementError as error:
            raise ValueError(f"default {default!r} cannot be used: {error}") from None


def pad(values: np.ndarray, given: np.ndarray, filler: float) -> np.ndarray:
    """Values at the places that are given, the filler at all others."""
    out = np.full(len(given), filler, values.dtype)
    out[given] = values
    return out


def kept_lengths(lengths: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """How many values of each row are chosen."""
    ends, counts = np.cumsum(lengths), np.concatenate(([0], np.cumsum(chosen)))
    return counts[ends] - counts[ends - lengths]


def ragged(ids: np.ndarray, lengths: np.ndarray, weights: np.ndarray | None = None) -> Ragged:
    """The ids of each row, an id of -1 left out."""
    if int(ids.min(initial=0)) < 0:
        chosen = ids >= 0
        lengths = kept_lengths(lengths, chosen)
        ids, weights = ids[chosen], None if weights is None else weights[chosen]
    return Ragged(ids, lengths.astype(np.int32), weights)


# -- numbers


def numbers(array: pa.Array, dtype: FloatType = np.float32, remedy: str = FILL_IN) -> np.ndarray:
    """Floats [V], NaN where a value is missing."""
    array = decode(array)
    target = pa.from_numpy_dtype(dtype)
    if is_text(array):
        array = parse(blank_as_null(array), target, "a number", remedy)
    elif array.type != target:
        array = array.cast(target, safe=False)
    return array.to_numpy(zero_copy_only=False)


def parse(texts: pa.Array, target: pa.DataType, noun: str, remedy: str = FILL_IN) -> pa.Array:
    """Texts as numbers, spaces around them allowed; null stays null."""
    try:
        return texts.cast(target)
    except pa.ArrowInvalid:
        trimmed = blank_as_null(compute.utf8_trim_whitespace(texts))
    try:
        return trimmed.cast(target)
    except pa.ArrowInvalid:
        positions = uncastable(trimmed, target)
        what = f"cannot read {texts[positions[0]].as_py()!r} as {noun}; {remedy}"
        raise ElementError(positions[0], what, "unreadable", np.array(positions)) from None

"""A table of items: which there are, how likely each is drawn, and what a batch's columns hold for it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
from pydantic import Field

from polyrec.catalog import Frozen
from polyrec.data.readers.parquet import Parquet
from polyrec.data.samplers._alias import AliasTable
from polyrec.data.samplers._read import Ids, Rows, Stamp, hashes, numbers_column, read_rows, stamp, text_column
from polyrec.errors import DataError
from polyrec.features._values import compute, decode, is_list, is_text


class ItemTable(Frozen):
    """Files with an id, a weight and attributes for each item."""

    path: str
    """Files, a folder or a glob; those called `.parquet` are Parquet, all others text."""
    separator: str = Field(default="\t", min_length=1)
    """Between the fields of a line of text: id, weight, attributes."""
    attribute_separator: str = Field(default=":", min_length=1)
    """Between the attributes in their field."""
    value_separator: str | None = Field(default=None, min_length=1)
    """Between the values of an attribute whose column in the data holds lists; None when each holds one value."""


def read_items(config: ItemTable, item_column: str, attributes: Sequence[str]) -> Items:
    return _read(config, item_column, tuple(attributes), stamp(config.path))  # type: ignore[arg-type]  # it has a hash


@lru_cache(maxsize=2)
def _read(config: ItemTable, item_column: str, attributes: tuple[str, ...], files: Stamp) -> Items:
    return Items(config, item_column, attributes, [file for file, _, _ in files])


class Items:
    """All items, numbered in the order of the files."""

    def __init__(self, config: ItemTable, item_column: str, attributes: Sequence[str], files: Sequence[str]) -> None:
        self._config = config
        self.path = config.path
        own = list(attributes)
        is_apart = bool(own) and _has_columns(files, own)
        names = ["id", "weight", *(own if is_apart else ["attributes"])]
        self._rows = read_rows(files, config.separator, names, 0 if own else 1)
        found, given = hashes(self._texts("id"), "id")
        self._rows.check(~given, lambda _: "an item without an id; give it one")
        self.ids = Ids(found)
        self._rows.check(self.ids.repeated(), lambda row: f"item {self._texts('id')[row]} is there twice; keep one")
        self.weights = numbers_column(self._rows, "weight")
        self._rows.check(
            ~(np.isfinite(self.weights) & (self.weights >= 0)),
            lambda row: f"weight {self.weights[row]:g}; a weight is a finite number, and none is less than 0",
        )
        if not self.weights.any():
            raise DataError(f"{files[0]}: every weight is 0, so no item could be drawn")
        self._texts_of = {item_column: self._texts("id"), **(self._apart(own) if is_apart else self._split(own))}
        self._rows = Rows(self._rows.table.select([]), self._rows.pieces)
        self._made: dict[tuple[str, pa.DataType], pa.Array] = {}
        self._making = threading.Lock()

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def alias(self) -> AliasTable:
        return AliasTable(self.weights)

    def place(self, number: int) -> str:
        return self._rows.place(number)

    @property
    def nbytes(self) -> int:
        """Memory of the tables, with the columns made so far."""
        arrays = [*self._texts_of.values(), *self._made.values()]
        return self.ids.nbytes + self.weights.nbytes + self.alias.nbytes + sum(array.nbytes for array in arrays)

    def attribute(self, name: str) -> pa.Array:
        """As the files have it."""
        return self._texts_of[name]

    def take(self, numbers: np.ndarray, schema: pa.Schema) -> pa.RecordBatch:
        """These items in the types of a batch's columns."""
        places = pa.array(numbers)
        columns = [self._as(field.name, field.type).take(places) for field in schema]
        return pa.record_batch(columns, schema)

    def _texts(self, name: str) -> pa.Array:
        return text_column(self._rows, name)

    def _apart(self, names: Sequence[str]) -> dict[str, pa.Array]:
        return {name: self._texts(name) for name in names}

    def _split(self, names: Sequence[str]) -> dict[str, pa.Array]:
        """The attributes of all items, each as one array; an empty text is no value."""
        if not names:
            return {}
        separator = self._config.attribute_separator
        parts = compute.split_pattern(self._texts("attributes").fill_null(""), separator)
        counts = compute.list_value_length(parts).to_numpy(zero_copy_only=False)
        self._rows.check(
            counts != len(names),
            lambda row: (
                f"{counts[row]} attributes where {len(names)} are declared ({', '.join(names)}); "
                f"check attribute_separator ({separator!r})"
            ),
        )
        values = parts.flatten()
        values = compute.if_else(compute.equal(values, ""), pa.scalar(None, values.type), values)
        firsts = np.arange(len(self)) * len(names)
        return {name: values.take(pa.array(firsts + number)) for number, name in enumerate(names)}

    def _as(self, name: str, kind: pa.DataType) -> pa.Array:
        """A column in a type of the data; made once, then kept."""
        with self._making:
            if (name, kind) not in self._made:
                self._made[name, kind] = self._converted(name, kind)
            return self._made[name, kind]

    def _converted(self, name: str, kind: pa.DataType) -> pa.Array:
        values = decode(self._texts_of[name])
        if is_list(kind) and not is_list(values.type):
            values = self._as_lists(values)
        elif is_text(values) and not _is_word(kind):
            values = compute.utf8_trim_whitespace(values)
        try:
            return values.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            row = _first_bad(values, kind)
            raise DataError(
                f"{self.place(row)}: attribute {name}: cannot read {values[row].as_py()!r} as {kind}, the type of the "
                "data's column; correct the row, or the order of the attributes"
            ) from None

    def _as_lists(self, values: pa.Array) -> pa.Array:
        if self._config.value_separator is not None and is_text(values):
            return compute.split_pattern(values, self._config.value_separator)
        # Slot text has lists of one value each.
        ends = np.cumsum(~values.is_null().to_numpy(zero_copy_only=False))
        return pa.LargeListArray.from_arrays(pa.array(np.concatenate(([0], ends))), values.drop_null())


def item_schema(rows: pa.RecordBatch, names: Sequence[str]) -> pa.Schema:
    """The columns of items that the rows have, without dictionaries, which differ from batch to batch."""
    fields = [rows.schema.field(name) for name in names if name in rows.schema.names]
    kinds = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in fields]
    return pa.schema([(field.name, kind) for field, kind in zip(fields, kinds, strict=True)])


def _is_word(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind)


def _has_columns(files: Sequence[str], names: Sequence[str]) -> bool:
    """Whether attributes are columns of their own, as Parquet files may have them."""
    return files[0].endswith(".parquet") and set(names) <= set(Parquet().arrow_schema(files[0]).names)


def _first_bad(values: pa.Array, kind: pa.DataType) -> int:
    """The first value that cannot be cast, found by halving."""
    good, bad = 0, len(values)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            values.slice(good, middle - good).cast(kind)
            good = middle
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            bad = middle
    return good

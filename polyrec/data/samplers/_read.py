"""Tables of items and edges: text with or without a header, or Parquet, whole in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from polyrec.data.files import expand
from polyrec.data.readers import Span
from polyrec.data.readers._text import opened
from polyrec.data.readers.csv import BYTE_ORDER_MARK, Csv, CsvColumn
from polyrec.data.readers.parquet import Parquet
from polyrec.errors import DataError
from polyrec.families import ReaderConfig
from polyrec.features._hashing import hash_texts, murmur64
from polyrec.features._values import as_text, compute, decode, missing, plain, values

_TYPED = re.compile(r"\w+:(int32|int64|float|double|string)", re.IGNORECASE)
"""A field of a header, such as `id:int64`; other first lines are rows."""
Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of the files of a table."""

    table: pa.Table
    pieces: tuple[tuple[ReaderConfig, Span, int], ...]
    """Where rows came from, in their order, and how many from each."""

    def place(self, row: int) -> str:
        """File and line, or file and row, of one of them."""
        for reader, piece, count in self.pieces:
            if row < count:
                return reader.place(piece, row)
            row -= count
        raise AssertionError("the row is one of the table")

    def check(self, wrong: np.ndarray, what: Callable[[int], str]) -> None:
        """An error about the first row that is wrong, if there is one."""
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(f"{self.place(row)}: {what(row)}")


def stamp(path: str) -> Stamp:
    """The files that a path names, with what changes when their contents do."""
    stats = [(file, os.stat(file)) for file in expand([path], ())]
    return tuple((file, found.st_size, found.st_mtime_ns) for file, found in stats)


def read_rows(
    files: Sequence[str], separator: str, names: Sequence[str], optional: int = 0, *, is_named: bool = True
) -> Rows:
    """The columns `names` of all files, of which the last `optional` may be absent, but in all files alike.

    `weight` is a number and every other column of a text file is text. Parquet files have them in their own types,
    under these names if they are `is_named`, else in this order.
    """
    parts: list[pa.Table] = []
    pieces: list[tuple[ReaderConfig, Span, int]] = []
    for file in files:
        if file.endswith(".parquet"):
            reader, found = Parquet(), _parquet_columns(file, names, optional, is_named)
        else:
            reader, found = _text_reader(file, separator, names, optional)
        for piece, rows in reader.read(Span(file, 0, reader.length(file)), tuple(found)):
            parts.append(pa.table(rows.columns, names=list(names[: len(found)])))
            pieces.append((reader, piece, rows.num_rows))
            if parts[-1].schema != parts[0].schema:
                raise DataError(
                    f"{file}: has columns {_shown(parts[-1])}, {files[0]} has {_shown(parts[0])}; write them alike"
                )
    if not pieces:
        raise DataError(f"{', '.join(files)}: no rows")
    return Rows(pa.concat_tables(parts), tuple(pieces))


def _shown(table: pa.Table) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in table.schema)


def _parquet_columns(file: str, names: Sequence[str], optional: int, is_named: bool) -> list[str]:
    """The columns of the file that stand for `names`."""
    known = Parquet().arrow_schema(file).names
    wanted = [name for name in names if name in known] if is_named else known[: len(names)]
    if len(wanted) < len(names) - optional or (is_named and wanted != list(names[: len(wanted)])):
        needed = ", ".join(names[: len(names) - optional])
        raise DataError(f"{file}: needs the columns {needed}; it has: {', '.join(known)}")
    return wanted


def _text_reader(file: str, separator: str, names: Sequence[str], optional: int) -> tuple[ReaderConfig, list[str]]:
    """What reads the file, and what it calls the columns that stand for `names`."""
    with opened(file) as lines:
        first = lines.readline().removeprefix(BYTE_ORDER_MARK).rstrip(b"\r\n").decode(errors="replace").split(separator)
    count = len(first)
    if not len(names) - optional <= count <= len(names):
        what = " or ".join(str(number) for number in range(len(names) - optional, len(names) + 1))
        raise DataError(
            f"{file}:1: {count} fields where {what} are needed ({', '.join(names)}); check separator ({separator!r})"
        )
    has_header = all(_TYPED.fullmatch(field) for field in first)
    columns = first if has_header else list(names[:count])
    declared = tuple(
        CsvColumn(name=column, type="float" if name == "weight" else "string")
        for column, name in zip(columns, names, strict=False)
    )
    return Csv(columns=declared, separator=separator, header=has_header, quotes=False), columns


def hashes(values: pa.Array, name: str) -> tuple[np.ndarray, np.ndarray]:
    """uint64, the values' texts hashed, and where there is a value: 7 and "7" are the same one."""
    found = plain(values, name)
    absent = missing(found)
    texts = as_text(decode(found))
    if texts.null_count:
        texts = texts.fill_null("")
    given = np.ones(len(texts), bool) if absent is None else ~absent
    return hash_texts(texts, murmur64), given


def one_each(rows: pa.RecordBatch, name: str) -> pa.Array:
    """The one value of each row, null for none; slot text gives it as a list."""
    found = values(rows, name)
    if found.single:
        return found.array
    several = found.lengths > 1
    if several.any():
        row = int(np.argmax(several))
        what = f"{found.lengths[row]} values; a row is about one, so correct the row"
        raise found.error_in(row, what, "size", np.flatnonzero(several))
    places = np.maximum(np.cumsum(found.lengths) - 1, 0)
    return found.array.take(pa.array(places, mask=found.lengths == 0))


class Ids:
    """Distinct values, and which number each has; known by their hashes of 64 bits alone."""

    def __init__(self, found: np.ndarray) -> None:
        order = np.argsort(found, kind="stable")
        self._sorted = found[order]
        self._order = order.astype(np.int32) if len(order) < 2**31 else order

    def __len__(self) -> int:
        return len(self._sorted)

    @property
    def nbytes(self) -> int:
        return self._sorted.nbytes + self._order.nbytes

    def repeated(self) -> np.ndarray:
        """Where a value stands that has come before."""
        wrong = np.zeros(len(self._sorted), bool)
        wrong[self._order[1:][self._sorted[1:] == self._sorted[:-1]]] = True
        return wrong

    def numbers(self, values: pa.Array, name: str) -> np.ndarray:
        """int64, -1 for a value that is not known or missing."""
        found, given = hashes(values, name)
        places = np.minimum(np.searchsorted(self._sorted, found), len(self._sorted) - 1)
        return np.where(given & (self._sorted[places] == found), self._order[places], -1).astype(np.int64)


def text_column(rows: Rows, name: str) -> pa.Array:
    """A column as one array; texts with offsets of 64 bits, for they may be long."""
    column = rows.table.column(name)
    if pa.types.is_string(column.type):
        column = column.cast(pa.large_string())
    found = column.combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found


def numbers_column(rows: Rows, name: str) -> np.ndarray:
    """float64; NaN where there is none."""
    return compute.cast(text_column(rows, name), pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False)

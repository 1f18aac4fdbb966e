"""Lines of values between separators: CSV, TSV and their relatives. A value holds no line end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from pydantic import Field, model_validator

from polyrec.catalog import Frozen
from polyrec.data.faults import Fault, marked, unmarked
from polyrec.data.halving import wrong_places
from polyrec.data.readers import Span, check_columns
from polyrec.data.readers._text import (
    blocks,
    first_bad_line,
    line_number,
    lines_per_byte,
    opened,
    pieces_of,
    place_of,
    text_length,
    text_pieces,
)
from polyrec.errors import DataError
from polyrec.families import ReaderConfig

TYPES = {"int": pa.int64(), "float": pa.float32(), "double": pa.float64(), "string": pa.string()}
SHOWN = {"int": "int64", "float": "float32", "double": "float64", "string": "UTF-8 text"}
SAMPLE_BYTES = 1 << 20
"""Beginning of a file from which the types of columns without a declared one are inferred."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class CsvColumn(Frozen):
    name: str
    type: Literal["int", "float", "double", "string"] | None = None
    """None to tell it from the first megabyte of each file: int, float, else string."""
    default: str | None = None
    """Stands for an empty value; None makes it a null."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.default is not None and self.type is None:
            raise ValueError(f"column {self.name} has a default, so it needs a type")
        if self.default is not None and self.type is not None:
            try:
                pa.scalar(self.default).cast(TYPES[self.type])
            except pa.ArrowInvalid as error:
                raise ValueError(f"default {self.default!r} of column {self.name} is no {self.type}") from error
        return self


class Csv(ReaderConfig):
    """Spans count bytes; a line belongs to the span that its first byte lies in. `.gz` files are read by one rank."""

    columns: tuple[CsvColumn, ...] = ()
    """Columns in the order of the file when it has no header; with a header, those whose type or default is given."""
    separator: str = Field(default=",", min_length=1)
    """One character or several. Several split a line wherever they stand, quoted or not."""
    header: bool
    """Whether the first line of each file names the columns."""
    quotes: bool = True
    """Whether a value in double quotes may hold the separator."""

    @model_validator(mode="after")
    def _has_columns(self) -> Self:
        names = [column.name for column in self.columns]
        if not names and not self.header:
            raise ValueError("needs columns, since the files have no header")
        if len(set(names)) < len(names):
            raise ValueError(f"names a column twice: {', '.join(names)}")
        return self

    def suffixes(self) -> tuple[str, ...]:
        return ()

    def arrow_schema(self, path: str) -> pa.Schema:
        declared = {column.name: TYPES[column.type] for column in self.columns if column.type is not None}
        names = self._names(path)
        inferred = {} if declared.keys() >= set(names) else self._inferred(path, names)
        return pa.schema([(name, declared.get(name) or inferred[name]) for name in names])

    def length(self, path: str) -> int:
        return text_length(path)

    def rows_per_unit(self, path: str) -> float | None:
        return lines_per_byte(path)

    def pieces(self, path: str) -> tuple[Span, ...]:
        return text_pieces(path)

    def read(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        schema = self.arrow_schema(span.path)
        check_columns(span.path, columns, schema.names)
        wanted = columns or tuple(schema.names)
        parsed = ((at, block, self._rows(span.path, at, block, schema, wanted)) for at, block in blocks(span))
        yield from pieces_of(span, parsed)

    def read_marked(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        schema = self.arrow_schema(span.path)
        check_columns(span.path, columns, schema.names)
        wanted = columns or tuple(schema.names)
        parsed = ((at, block, self._marked_rows(at, block, schema, wanted)) for at, block in blocks(span))
        yield from pieces_of(span, parsed)

    def place(self, span: Span, row: int) -> str:
        return place_of(span, row, lambda line: bool(line.rstrip(b"\r\n")), header=int(self.header))

    def _rows(self, path: str, at: int, block: bytes, schema: pa.Schema, wanted: Sequence[str]) -> pa.RecordBatch:
        lines = block[self._header_bytes(block) :] if at == 0 else block
        try:
            return self._filled(self._parsed(lines, schema, wanted))
        except pa.ArrowInvalid as error:
            raise self._located(path, at, block, schema, wanted) from error

    def _marked_rows(self, at: int, block: bytes, schema: pa.Schema, wanted: Sequence[str]) -> pa.RecordBatch:
        lines = block[self._header_bytes(block) :] if at == 0 else block
        try:
            return unmarked(self._filled(self._parsed(lines, schema, wanted)))
        except pa.ArrowInvalid:
            return self._salvaged(_rows_of(lines), schema, wanted)

    def _salvaged(self, lines: list[bytes], schema: pa.Schema, wanted: Sequence[str]) -> pa.RecordBatch:
        """A row for each line, null in what cannot be read, with marks that say so."""
        broken = self._broken(lines, schema.names)
        faults: dict[int, list[Fault]] = {}
        for row in broken:
            faults[row] = [Fault("line", "broken", self._wrong_count(lines[row], schema), is_whole=True)]
        whole = np.ones(len(lines), bool)
        whole[broken] = False
        columns = []
        for name in wanted:
            good = whole.copy()
            for row, what in self._unreadable(lines, np.flatnonzero(whole), schema, name):
                good[row] = False
                faults.setdefault(row, []).append(Fault(f"column {name}", "unreadable", what))
            found = self._parsed(b"".join(compress(lines, good)), schema, [name])
            columns.append(found.column(0).take(pa.array(np.cumsum(good) - 1, mask=~good)))
        rows = pa.record_batch(columns, pa.schema([schema.field(name) for name in wanted]))
        return marked(self._filled(rows), faults)

    def _broken(self, lines: list[bytes], names: Sequence[str]) -> list[int]:
        """Lines that cannot be cut into values."""
        texts = pa.schema([(name, pa.binary()) for name in names])

        def is_right(low: int, high: int) -> bool:
            try:
                return self._parsed(b"".join(lines[low:high]), texts, names[:1]).num_rows == high - low
            except pa.ArrowInvalid:
                return False

        return wrong_places(len(lines), is_right)

    def _unreadable(self, lines: list[bytes], rows: np.ndarray, schema: pa.Schema, name: str) -> list[tuple[int, str]]:
        """Of these lines, those whose value in a column is not of its type, and what to say of each."""
        text = b"".join(lines[row] for row in rows)
        if self._can_parse(text, schema, [name]):
            return []
        texts = pa.schema([(other, pa.binary()) for other in schema.names])
        values = [value or b"" for value in self._parsed(text, texts, [name]).column(0).to_pylist()]
        field = schema.field(name)
        wrong = wrong_places(len(values), lambda low, high: _can_read(values[low:high], field))
        return [(int(rows[place]), _cannot_read(values[place], field)) for place in wrong]

    def _header_bytes(self, block: bytes) -> int:
        """Size of what precedes the first row in the first block of a file."""
        if self.header:
            return block.find(b"\n") + 1 or len(block)
        return len(BYTE_ORDER_MARK) if block.startswith(BYTE_ORDER_MARK) else 0

    def _parsed(
        self, lines: bytes, schema: pa.Schema, wanted: Sequence[str], names: Sequence[str] = ()
    ) -> pa.RecordBatch:
        """The wanted columns; a column of `names` that the schema leaves out gets the type that Arrow sees in it."""
        if not lines.strip(b"\r\n"):
            return pa.RecordBatch.from_pylist([], pa.schema([schema.field(name) for name in wanted]))
        separator, quotes = self.separator, self.quotes
        count = None
        if len(separator.encode()) > 1:
            separator, quotes = _unused(lines), False
            lines = lines.replace(self.separator.encode(), separator.encode())
        elif quotes and b'"' in lines:
            # A quote that is not closed would swallow lines: this one, if no other.
            count = _num_rows(lines)
            end = separator.join(['""'] * len(names or schema.names))
            lines += (b"" if lines.endswith(b"\n") else b"\n") + end.encode() + b"\n"
        table = pa_csv.read_csv(
            pa.py_buffer(lines),
            pa_csv.ReadOptions(
                column_names=list(names) or schema.names, block_size=len(lines) + 1, use_threads=len(wanted) > 1
            ),
            pa_csv.ParseOptions(delimiter=separator, quote_char='"' if quotes else False),
            pa_csv.ConvertOptions(
                column_types={field.name: field.type for field in schema},
                include_columns=list(wanted),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        rows = table.combine_chunks().to_batches()[0]
        if count is None:
            return rows
        if rows.num_rows != count + 1:
            raise pa.ArrowInvalid("a quote is not closed")
        return rows.slice(0, count)

    def _filled(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Empty values replaced by the default of their column."""
        for column in self.columns:
            if column.default is None or column.name not in rows.schema.names:
                continue
            values = rows.column(column.name)
            if values.null_count:
                filled = values.fill_null(pa.scalar(column.default).cast(values.type))
                rows = rows.set_column(rows.schema.get_field_index(column.name), column.name, filled)
        return rows

    def _names(self, path: str) -> list[str]:
        if not self.header:
            return [column.name for column in self.columns]
        with opened(path) as file:
            line = file.readline().removeprefix(BYTE_ORDER_MARK).rstrip(b"\r\n").decode(errors="replace")
        names = [name.strip('"') if self.quotes else name for name in line.split(self.separator)]
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise DataError(
                f"{path}:1: the header names {', '.join(twice)} twice; set header to false if it is no header"
            )
        check_columns(path, [column.name for column in self.columns], names)
        return names

    def _inferred(self, path: str, names: list[str]) -> dict[str, pa.DataType]:
        """Types of a file's columns by its first rows: int64, float32, else text."""
        with opened(path) as file:
            sample = file.read(SAMPLE_BYTES)
            sample += file.readline()
        lines = sample[self._header_bytes(sample) :]
        try:
            found = self._parsed(lines, pa.schema([]), names, names)
        except pa.ArrowInvalid:
            # Reading will say what is wrong with such lines, or leave them out.
            rows = _rows_of(lines)
            broken = set(self._broken(rows, names))
            whole = b"".join(line for row, line in enumerate(rows) if row not in broken)
            found = self._parsed(whole, pa.schema([]), names, names) if whole else pa.record_batch({})
        types = {pa.int64(): pa.int64(), pa.float64(): pa.float32()}
        inferred = {field.name: types.get(field.type, pa.string()) for field in found.schema}
        return {name: inferred.get(name, pa.string()) for name in names}

    def _can_parse(self, lines: bytes, schema: pa.Schema, wanted: Sequence[str]) -> bool:
        try:
            self._parsed(lines, schema, wanted)
        except pa.ArrowInvalid:
            return False
        return True

    def _located(self, path: str, at: int, block: bytes, schema: pa.Schema, wanted: Sequence[str]) -> DataError:
        """What is wrong with a block that cannot be parsed, by file, line and column."""
        begin = self._header_bytes(block) if at == 0 else 0
        index, line = first_bad_line(block[begin:], lambda lines: self._can_parse(lines, schema, wanted))
        where = f"{path}:{line_number(path, at + begin, index)}"
        texts = pa.schema([(name, pa.binary()) for name in schema.names])
        if not self._can_parse(line, texts, wanted):
            return DataError(f"{where}: {self._wrong_count(line, schema)}")
        for name in wanted:
            if not self._can_parse(line, schema, [name]):
                value = self._parsed(line, texts, [name]).column(0)[0].as_py() or b""
                return DataError(f"{where}: column {name}: {_cannot_read(value, schema.field(name))}")
        return DataError(f"{where}: cannot be read; check separator ({self.separator!r}) and quotes")

    def _wrong_count(self, line: bytes, schema: pa.Schema) -> str:
        values = line.decode(errors="replace").rstrip("\r\n").count(self.separator) + 1
        if values == len(schema.names):
            return f"a quote is not closed, or stands within a value; check separator ({self.separator!r}) and quotes"
        return (
            f"{values} values where {len(schema.names)} columns are declared; "
            f"check separator ({self.separator!r}) and quotes"
        )

    @classmethod
    def example(cls) -> Csv:
        return cls(columns=(CsvColumn(name="clk", type="int"), CsvColumn(name="city", type="string")), header=False)


def _unused(lines: bytes) -> str:
    """A control character that stands nowhere in the lines, to put in place of a long separator."""
    return next(chr(code) for code in (*range(1, 10), *range(14, 32)) if code not in lines)


def _rows_of(lines: bytes) -> list[bytes]:
    """Lines that are not empty, each with its end."""
    return [line if line.endswith(b"\n") else line + b"\n" for line in lines.splitlines(True) if line.rstrip(b"\r\n")]


def _num_rows(lines: bytes) -> int:
    """Lines that are not empty."""
    if b"\r" in lines or b"\n\n" in lines or lines.startswith(b"\n"):
        return len(_rows_of(lines))
    return lines.count(b"\n") + (not lines.endswith(b"\n"))


def _can_read(values: list[bytes], field: pa.Field) -> bool:
    """Whether Arrow's reader takes these values of one column for its type."""
    text = b"\n".join(values) + b"\n"
    if not text.strip(b"\r\n"):
        return True
    try:
        pa_csv.read_csv(
            pa.py_buffer(text),
            pa_csv.ReadOptions(column_names=[field.name], block_size=len(text) + 1, use_threads=False),
            pa_csv.ParseOptions(delimiter=_unused(text), quote_char=False),
            pa_csv.ConvertOptions(column_types={field.name: field.type}, null_values=[""], strings_can_be_null=True),
        )
    except pa.ArrowInvalid:
        return False
    return True


def _cannot_read(value: bytes, field: pa.Field) -> str:
    kind = next(shown for key, shown in SHOWN.items() if TYPES[key] == field.type)
    shown = repr(value.decode(errors="replace"))
    return f"cannot read {shown} as {kind}; correct the row or declare the column as a string"

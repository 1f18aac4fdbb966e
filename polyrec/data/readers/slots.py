"""Slot text: lines of `slot:value` tokens between blanks, in any order, a slot repeated for each of its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute
from pydantic import Field, model_validator

from polyrec.catalog import Frozen
from polyrec.data.faults import Fault, marked, unmarked
from polyrec.data.halving import wrong_places
from polyrec.data.readers import Span, check_columns
from polyrec.data.readers._text import (
    blocks,
    line_number,
    lines_per_byte,
    pieces_of,
    place_of,
    text_length,
    text_pieces,
)
from polyrec.errors import DataError, nearest
from polyrec.families import ReaderConfig

# PyArrow makes its functions when it is imported, where a type checker does not see them.
compute: Any = pyarrow.compute

BLANKS = b" \t\r\n"
IS_BLANK = np.isin(np.arange(256), list(BLANKS))
"""For each byte, whether it separates tokens."""
COLON = ord(":")
NO_TOKEN = "is no slot:value token; separate tokens by blanks"


class SlotColumn(Frozen):
    name: str
    size: int = Field(gt=0)
    """Numbers in each row."""


class Slots(ReaderConfig):
    """Spans count bytes; a line belongs to the span that its first byte lies in. Undeclared slots are skipped.

    A sparse slot becomes lists of int64, a dense one lists of float32 that all have its size.
    """

    sparse: tuple[str, ...]
    """Slots of ids, labels among them."""
    dense: tuple[SlotColumn, ...] = ()
    """Slots of numbers."""
    padding: int = 0
    """The single id, or every number, of a slot that a line leaves out."""

    @model_validator(mode="after")
    def _declares_each_once(self) -> Self:
        names = [*self.sparse, *(slot.name for slot in self.dense)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"declares a slot twice: {', '.join(twice)}")
        return self

    def suffixes(self) -> tuple[str, ...]:
        return ()

    def arrow_schema(self, path: str) -> pa.Schema:
        ids = [(name, pa.list_(pa.int64())) for name in self.sparse]
        return pa.schema([*ids, *((slot.name, pa.list_(pa.float32())) for slot in self.dense)])

    def length(self, path: str) -> int:
        return text_length(path)

    def rows_per_unit(self, path: str) -> float | None:
        return lines_per_byte(path)

    def pieces(self, path: str) -> tuple[Span, ...]:
        return text_pieces(path)

    def read(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        return pieces_of(span, self._parsed(span, self._wanted(span, columns), is_strict=True))

    def read_marked(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        return pieces_of(span, self._parsed(span, self._wanted(span, columns), is_strict=False))

    def _wanted(self, span: Span, columns: tuple[str, ...]) -> list[str]:
        names = self.arrow_schema(span.path).names
        check_columns(span.path, columns, names)
        return list(columns or names)

    def place(self, span: Span, row: int) -> str:
        return place_of(span, row, lambda line: bool(line.strip(BLANKS)))

    def _parsed(self, span: Span, wanted: list[str], *, is_strict: bool) -> Iterator[tuple[int, bytes, pa.RecordBatch]]:
        is_first = True
        for at, block in blocks(span):
            tokens = _tokens(block)
            told = _Told(span.path, at, tokens.lines, is_strict)
            for row, token in tokens.bare.items():
                told.add(row, Fault("line", "broken", f"{token!r} {NO_TOKEN}", is_whole=True))
            if is_first and tokens.num_rows:
                self._check_present(span.path, set(wanted) - _present(tokens, wanted), tokens)
                is_first = False
            rows = pa.record_batch(self._columns(told, tokens, wanted), wanted)
            yield at, block, rows if is_strict else marked(rows, told.faults) if told.faults else unmarked(rows)

    def _check_present(self, path: str, unseen: set[str], tokens: _Tokens) -> None:
        """A slot missing from the first lines must at least stand somewhere in the file, else it is a wrong name."""
        missing = {name for name in unseen if not _occurs(path, name)}
        if missing:
            known = sorted(set(compute.unique(tokens.names).cast(pa.string()).to_pylist()))
            hints = [f"no line has the declared slot {name}{nearest(name, known)}" for name in sorted(missing)]
            raise DataError(f"{path}: {'; '.join(hints)}; its slots: {', '.join(known[:40])}")

    def _columns(self, told: _Told, tokens: _Tokens, wanted: list[str]) -> list[pa.Array]:
        sizes = {slot.name: slot.size for slot in self.dense}
        slots = compute.index_in(tokens.names, pa.array([name.encode() for name in wanted])).fill_null(len(wanted))
        kinds = slots.to_numpy().astype(np.uint16)
        # A stable sort puts the tokens of each slot together and leaves them in the order of their rows.
        order = np.argsort(kinds, kind="stable")
        ends = np.cumsum(np.bincount(kinds, minlength=len(wanted) + 1))
        columns = []
        for number, name in enumerate(wanted):
            own = order[ends[number - 1] if number else 0 : ends[number]]
            size = sizes.get(name)
            values, rows = _numbers(told, tokens, own, name, is_dense=size is not None)
            counts = np.bincount(rows, minlength=tokens.num_rows)
            if size is not None and len(wrong := np.flatnonzero((counts > 0) & (counts != size))):
                for row in wrong:
                    what = f"{counts[row]} numbers where {size} are declared; give all of them or none"
                    told.add(int(row), Fault(f"slot {name}", "size", what))
                values = values[~np.isin(rows, wrong)]
                counts[wrong] = 0
            columns.append(_padded(values, counts, size or 1, self.padding))
        return columns

    @classmethod
    def example(cls) -> Slots:
        return cls(sparse=("click", "1"), dense=(SlotColumn(name="dense_var", size=2),))


@dataclass(frozen=True, slots=True)
class _Tokens:
    """All tokens of a block, in the order of the text."""

    names: pa.Array
    texts: pa.Array
    """At 2 * i the value of token i; what lies between them is what separates the tokens."""
    rows: np.ndarray
    """Row of each token."""
    num_rows: int
    lines: np.ndarray
    """Index of the line of each row; empty lines make no row."""
    bare: dict[int, str]
    """Rows with a token that has no slot, and that token; the other tokens of such a row are left out."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What is wrong with the rows of a block: the first is an error where lines must be right."""

    path: str
    at: int
    lines: np.ndarray
    is_strict: bool
    faults: dict[int, list[Fault]] = field(default_factory=dict)

    def add(self, row: int, fault: Fault) -> None:
        if self.is_strict:
            subject = "" if fault.is_whole else f"{fault.subject}: "
            where = f"{self.path}:{line_number(self.path, self.at, int(self.lines[row]))}"
            raise DataError(f"{where}: {subject}{fault.what}")
        self.faults.setdefault(row, []).append(fault)


def _tokens(block: bytes) -> _Tokens:
    """Cut a block into tokens without a loop over them."""
    data = np.frombuffer(block, np.uint8)
    is_blank = IS_BLANK[data]
    edges = np.flatnonzero(np.diff(is_blank, prepend=True, append=True))
    starts, stops = edges[0::2], edges[1::2]
    all_colons = np.flatnonzero(data == COLON)
    found = np.searchsorted(all_colons, starts)
    colons = np.append(all_colons, len(data))[found]
    newlines = np.flatnonzero(data == ord("\n"))
    lines, rows = np.unique(np.searchsorted(newlines, starts), return_inverse=True)
    bare: dict[int, str] = {}
    if len(wrong := np.flatnonzero(colons >= stops)):
        bad_rows, first = np.unique(rows[wrong], return_index=True)
        for row, token in zip(bad_rows, wrong[first], strict=True):
            bare[int(row)] = block[starts[token] : stops[token]].decode(errors="replace")
        good = ~np.isin(rows, bad_rows)
        starts, stops, colons, rows = starts[good], stops[good], colons[good], rows[good]
    names = _between(data, starts, colons).take(pa.array(np.arange(len(starts)) * 2))
    return _Tokens(names, _between(data, colons + 1, stops), rows, len(lines), lines, bare)


def _between(data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> pa.Array:
    """The text itself as an array: at 2 * i what lies from start to stop i, then what comes up to the next start."""
    if not len(starts):
        return pa.array([], pa.binary())
    offsets = np.empty(2 * len(starts), np.int32)
    offsets[0::2], offsets[1::2] = starts, stops
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _present(tokens: _Tokens, wanted: Sequence[str]) -> set[str]:
    found = compute.is_in(pa.array([name.encode() for name in wanted]), compute.unique(tokens.names))
    return {name for name, is_there in zip(wanted, found.to_pylist(), strict=True) if is_there}


def _occurs(path: str, name: str) -> bool:
    """Whether any line of the file has the slot."""
    start = f"{name}:".encode()
    for _, block in blocks(Span(path, 0, text_length(path))):
        at = block.find(start)
        while at >= 0:
            if at == 0 or block[at - 1] in BLANKS:
                return True
            at = block.find(start, at + 1)
    return False


def _numbers(
    told: _Told, tokens: _Tokens, own: np.ndarray, name: str, *, is_dense: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of a slot and their rows; `own` are its tokens."""
    kind = pa.float32() if is_dense else pa.int64()
    texts, rows = tokens.texts.take(pa.array(2 * own)), tokens.rows[own]
    try:
        return texts.cast(pa.string()).cast(kind).to_numpy(), rows
    except pa.ArrowInvalid:
        wrong = wrong_places(len(texts), lambda low, high: _can_cast(texts.slice(low, high - low), kind))
    for place in wrong:
        value = texts[place].as_py().decode(errors="replace")
        remedy = f"correct the row or declare the slot as {'sparse' if is_dense else 'dense'}"
        fault = Fault(f"slot {name}", "unreadable", f"cannot read {value!r} as {kind}; {remedy}")
        told.add(int(rows[place]), fault)
    good = np.ones(len(own), bool)
    good[wrong] = False
    if is_dense:
        # A vector lacks nothing or all.
        good &= ~np.isin(rows, rows[wrong])
    return texts.filter(pa.array(good)).cast(pa.string()).cast(kind).to_numpy(), rows[good]


def _can_cast(texts: pa.Array, kind: pa.DataType) -> bool:
    try:
        texts.cast(pa.string()).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _padded(values: np.ndarray, counts: np.ndarray, size: int, padding: int) -> pa.ListArray:
    """One list per row; a row without a value gets `size` times the padding."""
    lengths = np.where(counts == 0, size, counts)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    if len(values) < offsets[-1]:
        is_given = np.repeat(counts > 0, lengths)
        full = np.full(offsets[-1], padding, values.dtype)
        full[is_given] = values
        values = full
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))

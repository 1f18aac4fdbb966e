"""Batches of exactly so many rows from many files: each row once an epoch over all ranks, resumable at any batch."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pyarrow as pa

from polyrec.data.columns import RowError
from polyrec.data.cursor import Cursor, Part, Pieces, Room, Rows
from polyrec.data.draft import Draft
from polyrec.data.faults import MARK, MARKS, FaultLog
from polyrec.data.joining import as_stored, is_encoded, joined
from polyrec.data.numbers import costs, usable_costs
from polyrec.data.position import Position, Work, deal, remaining
from polyrec.data.readers import Span, check_columns
from polyrec.data.sift import Sieve
from polyrec.errors import DataError
from polyrec.families import ReaderConfig
from polyrec.storage import TABLES, last_name, scheme

T = TypeVar("T")
log = logging.getLogger(__name__)

REQUESTS = 16
"""Files of a store that are asked for their length at once."""
TRIED_ROWS = 1024
"""Rows that tell how much memory the others will take."""
FILE_ORDER = 0
ROW_ORDER = 1


class RowLoader:
    """Rows of `files` in batches, this rank's share of them.

    Memory holds one batch of the reader, one batch given out and, when rows are shuffled, one block of `shuffle_rows`.
    """

    def __init__(  # noqa: PLR0913 - each is a separate choice, all but the first three by name
        self,
        reader: ReaderConfig,
        files: Sequence[str],
        columns: Sequence[str],
        *,
        batch_size: int,
        rank: int = 0,
        world: int = 1,
        drop_remainder: bool = False,
        shuffle_rows: int = 0,
        shuffled_files: bool = False,
        seed: int = 0,
        by_file: bool = False,
        sieve: Sieve | None = None,
        cost: tuple[str, float] | None = None,
        shuffle_bytes: int | None = None,
    ) -> None:
        """`cost` is the column of what rows cost, and the most that a batch may; `shuffle_bytes` the most that the rows
        of a shuffled block may take. Without a sieve the first row that cannot be used is an error."""
        assert batch_size > 0
        assert 0 <= rank < world
        self.reader = reader
        self.files = tuple(files)
        self.columns = tuple(columns)
        self.batch_size = batch_size
        self.rank = rank
        self.world = world
        self.drop_remainder = drop_remainder
        self.shuffle_rows = shuffle_rows
        self.shuffled_files = shuffled_files
        self.seed = seed
        self.by_file = by_file
        self.sieve = sieve
        self.faults = None if sieve is None else FaultLog(sieve.config)
        self.cost = cost
        self._files = [
            Work((Span(path, 0, length),)) for path, length in zip(files, lengths(reader, files), strict=True)
        ]
        sizes = [f"{_name_of(work.spans[0].path)}:{work.units}" for work in self._files]
        self.data = zlib.crc32("\n".join(sizes).encode())
        """Checksum of the names and sizes of the files, whichever folder they lie in."""
        self._schema: pa.Schema | None = None
        if shuffle_rows and shuffle_bytes is not None:
            self.shuffle_rows = self._fitting(shuffle_rows, shuffle_bytes)

    def batches(self, epoch: int, start: Position | None = None) -> Iterator[tuple[pa.RecordBatch, Position]]:
        """Batches of `batch_size` rows, the last one smaller, each with the position of the row after it."""
        return self.prepared(lambda rows, _: self.as_stored(rows), epoch, start)

    def prepared(
        self, prepare: Callable[[pa.RecordBatch, int], T], epoch: int, start: Position | None = None
    ) -> Iterator[tuple[T, Position]]:
        """What `prepare` makes of each batch, whose texts may be dictionaries, and its number in the epoch, from 0.

        A row that it refuses is named by its place in the files, or dealt with by the sieve.
        """
        for item, _, position in self._made(prepare, epoch, start):
            yield item, position

    def with_rows(
        self, prepare: Callable[[pa.RecordBatch, int], T], epoch: int, start: Position | None = None
    ) -> Iterator[tuple[T, pa.RecordBatch, Position]]:
        """The same, each with its rows as they were read."""
        for item, draft, position in self._made(prepare, epoch, start):
            yield item, self.as_stored(draft.originals), position

    def as_stored(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of a batch with the types that they have in the first file."""
        assert self._schema is not None
        return as_stored(rows, self._schema)

    def joined(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Rows of several batches as one."""
        assert self._schema is not None
        return joined(batches, self._schema)

    def _made(
        self, prepare: Callable[[pa.RecordBatch, int], T], epoch: int, start: Position | None
    ) -> Iterator[tuple[T, Draft, Position]]:
        position = start or self.begin(epoch)
        if position.epoch != epoch or not self.fits(position):
            raise DataError(f"a position in epoch {position.epoch} of other files cannot begin epoch {epoch} of these")
        if self.faults is not None:
            self.faults.begin_pass()
        cursor = Cursor(self._walk(position), position, None if self.cost is None else self._costs)
        number = position.batches
        while (made := self._next(cursor, prepare, number)) is not None:
            item, draft = made
            number += 1
            yield item, draft, replace(cursor.position, batches=number)
            del item, draft, made  # else two batches of rows are held while the next one is made

    def _next(self, cursor: Cursor, prepare: Callable[[pa.RecordBatch, int], T], number: int) -> tuple[T, Draft] | None:
        """The next batch: filled up again for each row that turns out to be of no use."""
        draft = Draft(self.reader, self.joined, self.sieve, self.faults)
        while True:
            parts = cursor.take(self._room(draft))
            if parts:
                draft.add(parts)
                if draft.count < self.batch_size:
                    continue
            if not draft.count or (draft.count < self.batch_size and self.drop_remainder and cursor.is_at_end):
                return None
            try:
                return prepare(draft.rows, number), draft
            except RowError as error:
                draft.sift(error)

    def _fitting(self, rows: int, most: int) -> int:
        """As many of so many rows as fit into memory, by the first rows of the first file, so that all ranks agree."""
        path = self.files[0]
        _, found = next(self._read(Span(path, 0, self.reader.length(path))), (None, None))
        if found is None:
            return rows
        tried = self.as_stored(self._fitted(path, found.slice(0, TRIED_ROWS)))
        fitting = max(1, int(most / max(tried.nbytes / tried.num_rows, 1.0)))
        if fitting < rows:
            log.info("%d rows are shuffled together, not %d: more do not fit into data.memory", fitting, rows)
        return min(rows, fitting)

    def _room(self, draft: Draft) -> Room:
        left = self.batch_size - draft.count
        if self.cost is None:
            return Room(left)
        name, limit = self.cost
        if not draft.count:
            return Room(left, limit)
        return Room(left, limit, float(np.cumsum(usable_costs(draft.rows, name))[-1]), is_empty=False)

    def _costs(self, rows: Rows) -> np.ndarray:
        """What rows cost in the order in which they are given out."""
        assert self.cost is not None
        name, _ = self.cost
        try:
            found = costs(rows.batch, name)
        except RowError as error:
            if self.sieve is None:
                row = error.row if rows.order is None else int(np.flatnonzero(rows.order == error.row)[0])
                raise error.at(self.reader.place(*Part(rows, row, row + 1).origin(0))) from error
            found = usable_costs(rows.batch, name)
        return found if rows.order is None else found[rows.order]

    def about_rows(self) -> int | None:
        """Rows of an epoch over all ranks; an estimate where the first file's reader knows no better."""
        rate = self.reader.rows_per_unit(self.files[0])
        return None if rate is None else round(rate * sum(work.units for work in self._files))

    def begin(self, epoch: int) -> Position:
        return Position(epoch=epoch, data=self.data, files=self.files if self.reader.has_sessions else ())

    def fits(self, position: Position) -> bool:
        """Whether the position was taken in files of the same names and sizes."""
        return position.data == self.data

    def resume(self, positions: Sequence[Position]) -> Position:
        """Where this rank goes on, given where every rank of an earlier run stood, in the order of their ranks.

        With another number of ranks than before, the rows that none of them has given out are dealt again.
        """
        if len(positions) == self.world:
            return positions[self.rank]
        epochs = {position.epoch for position in positions}
        if len(epochs) > 1:
            raise DataError(
                f"ranks stand in different epochs ({sorted(epochs)}); resume with {len(positions)} processes"
            )
        left: list[Work] = []
        for rank, position in enumerate(positions):
            left += remaining(self._plan(position, rank, len(positions)), position)
        batches = max(position.batches for position in positions)
        start = self.begin(epochs.pop())
        return replace(start, plan=self._share(left, self.rank, self.world), batches=batches)

    def _plan(self, position: Position, rank: int, world: int) -> tuple[Work, ...]:
        if position.plan is not None:
            return position.plan
        works = self._files
        if self.shuffled_files:
            works = [Work((piece,)) for path in self.files for piece in self.reader.pieces(path)]
            order = np.random.default_rng((self.seed, position.epoch, FILE_ORDER)).permutation(len(works))
            works = [works[number] for number in order]
        return self._share(works, rank, world)

    def _share(self, works: Sequence[Work], rank: int, world: int) -> tuple[Work, ...]:
        if not self.by_file:
            return deal(works, world)[rank]
        of_file: dict[str, list[Work]] = {}
        for work in works:
            of_file.setdefault(work.spans[0].path, []).append(work)
        return tuple(work for path in self.files for work in deal(of_file.get(path, []), world)[rank])

    def _walk(self, start: Position) -> Iterator[Rows]:
        """All rows from `start` on, in the order they are given out."""
        plan = self._plan(start, self.rank, self.world)
        if start.block is not None:
            yield self._again(start.block, replace(start, block=None))
        mixer = _Mixer(self, start)
        for index in range(start.index, len(plan)):
            work = plan[index]
            if work.rows:
                yield from mixer.flush()
                yield self._again(work, mixer.after(index + 1, None))
                continue
            span = work.spans[0]
            if index == start.index and start.piece is not None:
                span = replace(start.piece, stop=span.stop)
            for piece, batch in self._read(span):
                yield from mixer.add(index, piece, self._fitted(piece.path, batch))
        yield from mixer.flush()

    def _read(self, span: Span) -> Iterator[tuple[Span, pa.RecordBatch]]:
        return (self.reader.read_encoded if self.sieve is None else self.reader.read_marked)(span, self.columns)

    def _again(self, block: Work, after: Position) -> Rows:
        """A block that was begun earlier, read once more and put in the same order."""
        parts: list[pa.RecordBatch] = []
        pieces: list[tuple[Span, int]] = []
        missing = block.rows
        for span in block.spans:
            for piece, batch in self._read(span):
                parts.append(self._fitted(piece.path, batch.slice(0, missing)))
                pieces.append((piece, parts[-1].num_rows))
                missing -= parts[-1].num_rows
                if not missing:
                    return block_rows(self.joined(parts), pieces, block, after)
        raise DataError(f"{block.spans[-1].path}: has fewer rows than when the checkpoint was written")

    def _fitted(self, path: str, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows in the types of the first file, or dictionaries of those, so that rows of several files join."""
        schema = self._schema = self._schema or self._first_schema(batch.schema.names)
        if batch.schema.equals(schema):
            return batch
        columns, fields = [], []
        for column, field, first in zip(batch.columns, batch.schema, schema, strict=True):
            if field.type == first.type or is_encoded(field.type, first.type):
                columns.append(column)
                fields.append(field)
                continue
            try:
                columns.append(column.cast(first.type))
                fields.append(first)
            except pa.ArrowException as error:
                problem = f"is {field.type} here and {first.type} in {self.files[0]}; write it alike in all files"
                raise DataError(f"{path}: column {field.name}: {problem}") from error
        return pa.record_batch(columns, pa.schema(fields))

    def _first_schema(self, names: Sequence[str]) -> pa.Schema:
        """Of the first file of all, not of the first that this rank reads, so that all ranks agree."""
        schema = self.reader.arrow_schema(self.files[0])
        if MARKS in names:
            schema = schema.append(pa.field(MARKS, MARK))
        check_columns(self.files[0], names, schema.names)
        return pa.schema([schema.field(name).with_type(_movable(schema.field(name).type)) for name in names])


class _Mixer:
    """Hands rows on as they come or, when rows are shuffled, gathers them into blocks of exactly so many."""

    def __init__(self, loader: RowLoader, start: Position) -> None:
        self.rows = loader.shuffle_rows
        self.join = loader.joined
        self.seeds = (loader.seed, start.epoch, ROW_ORDER, loader.rank)
        self.start = start
        self.number = start.number
        self.parts: list[pa.RecordBatch] = []
        self.pieces: list[tuple[Span, int]] = []
        self.spans: list[Span] = []
        self.count = 0
        self.last = (start.index, start.piece)

    def after(self, index: int, piece: Span | None) -> Position:
        return replace(self.start, index=index, piece=piece, block=None, number=self.number)

    def add(self, index: int, piece: Span, batch: pa.RecordBatch) -> Iterator[Rows]:
        if not self.rows:
            pieces = ((piece, batch.num_rows),)
            yield Rows(batch, pieces, None, 0, lambda given: self.after(index, replace(piece, skip=piece.skip + given)))
            return
        at = 0
        while at < batch.num_rows:
            end = min(batch.num_rows, at + self.rows - self.count)
            self.parts.append(batch.slice(at, end - at))
            rest = replace(piece, skip=piece.skip + at)
            self.pieces.append((rest, end - at))
            self._extend(rest, index)
            self.count += end - at
            self.last = (index, replace(piece, skip=piece.skip + end))
            at = end
            if self.count == self.rows:
                yield from self.flush()

    def _extend(self, piece: Span, index: int) -> None:
        """Pieces of the same work join, so a block is described by as many spans as it touches files."""
        if self.spans and self.last[0] == index:
            piece = replace(self.spans.pop(), stop=piece.stop)
        self.spans.append(piece)

    def flush(self) -> Iterator[Rows]:
        """The block gathered so far."""
        if not self.count:
            return
        block = Work(tuple(self.spans), self.count, (*self.seeds, self.number))
        rows, pieces = self.join(self.parts), self.pieces
        self.number += 1
        self.parts, self.pieces, self.spans, self.count = [], [], [], 0
        yield block_rows(rows, pieces, block, self.after(*self.last))


def _name_of(path: str) -> str:
    """A file's name without its folder, a table with its partition and without its session."""
    return path.partition("#")[0] if scheme(path) == TABLES else last_name(path)


def lengths(reader: ReaderConfig, files: Sequence[str]) -> list[int]:
    """Of each file; many at once where each takes the time of a request."""
    if not any(map(scheme, files)):
        return [reader.length(path) for path in files]
    with ThreadPoolExecutor(REQUESTS) as pool:
        return list(pool.map(reader.length, files))


def block_rows(batch: pa.RecordBatch, pieces: Pieces, block: Work, after: Position) -> Rows:
    order = np.random.default_rng(block.key).permutation(block.rows)

    def position(given: int) -> Position:
        return after if given == block.rows else replace(after, block=replace(block, given=given))

    return Rows(batch, pieces, order, block.given, position)


def _movable(kind: pa.DataType) -> pa.DataType:
    """The same type without views of text, whose rows Arrow cannot put in another order."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_movable(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_movable(kind.value_type)))
    return kind

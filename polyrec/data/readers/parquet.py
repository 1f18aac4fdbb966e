"""Parquet files: row groups decoded a few thousand rows at a time, only the columns in use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from polyrec import storage
from polyrec.data.readers import Span, check_columns
from polyrec.errors import DataError
from polyrec.families import ReaderConfig

if TYPE_CHECKING:
    import pyarrow.parquet as pq

BATCH_ROWS = 65_536
"""Rows decoded together at most: enough to make Arrow's cost for each batch and column small."""
BATCH_BYTES = 16 << 20
"""Memory that they may take: of rows that are long, fewer are decoded together."""
TRIED_ROWS = 64
"""Rows that are decoded to see how long texts are, where a file does not say."""
LONG_BYTES = 64
"""Texts that may be longer than this on average are looked at, where a file does not say."""
ENCODED_ROWS = 8192
"""Rows that row groups need on average for texts to come as dictionaries, since each group has dictionaries of its own.
"""
WORD_BYTES, COLUMN_BYTES = 2, 8
"""Bytes a row that the words of a column of text may take in the file, packed, and all of it, unpacked, for a
dictionary to be faster: of more words Arrow's table of them costs more than it saves."""


class Parquet(ReaderConfig):
    """Spans count rows. Every Arrow type is passed on as it is stored."""

    def suffixes(self) -> tuple[str, ...]:
        return (".parquet",)

    def arrow_schema(self, path: str) -> pa.Schema:
        with _opened(path) as file:
            return file.schema_arrow.remove_metadata()

    def length(self, path: str) -> int:
        with _opened(path) as file:
            return file.metadata.num_rows

    def rows_per_unit(self, path: str) -> float | None:
        return 1.0

    def pieces(self, path: str) -> tuple[Span, ...]:
        with _opened(path) as file:
            return tuple(Span(path, start, stop) for _, start, stop in _row_groups(file) if stop > start)

    def read(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        return _read(span, columns)

    def read_encoded(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        return _read(span, columns, partial(_of_few_words, span=span, columns=columns))

    @classmethod
    def example(cls) -> Parquet:
        return cls()


def _read(
    span: Span, columns: tuple[str, ...], encoded: Callable[[pq.ParquetFile], list[str]] | None = None
) -> Iterator[tuple[Span, pa.RecordBatch]]:
    begin = span.start + span.skip
    with _opened(span.path, encoded) as file:
        names = file.schema_arrow.names
        check_columns(span.path, columns, names)
        wanted = list(columns or names)
        groups = _groups_of(file, span)
        if not groups:
            return
        row = groups[0][1]
        is_remote = storage.is_remote(span.path)
        for batch in _batches(file, [group[0] for group in groups], wanted, is_remote):
            first, last = max(begin, row), min(span.stop, row + batch.num_rows)
            if first < last:
                piece = batch.slice(first - row, last - first).select(wanted).replace_schema_metadata(None)
                yield Span(span.path, first, last), piece
            row += batch.num_rows
            if row >= span.stop:
                return


def _of_few_words(file: pq.ParquetFile, span: Span, columns: tuple[str, ...]) -> list[str]:
    """Columns of text of which few words make up all of the span's row groups."""
    schema, groups = file.schema_arrow, _groups_of(file, span)
    if not groups or groups[-1][2] - groups[0][1] < ENCODED_ROWS * len(groups):
        return []
    found = {name for name in columns or schema.names if schema.names.count(name) == 1}
    found = {name for name in found if schema.field(name).type == pa.string()}
    for number, _, _ in groups:
        group = file.metadata.row_group(number)
        for place in range(group.num_columns):
            column = group.column(place)
            name = column.path_in_schema
            if name in found and not _has_few_words(column):
                found.remove(name)
    return sorted(found)


def _has_few_words(column: pq.ColumnChunkMetaData) -> bool:
    if not column.has_dictionary_page:
        return False
    words = column.data_page_offset - column.dictionary_page_offset
    # The second holds only where next to no texts stand in full after a dictionary that has become too large.
    return (
        words <= WORD_BYTES * min(column.num_values, BATCH_ROWS)
        and column.total_uncompressed_size <= COLUMN_BYTES * column.num_values
    )


def _rows_together(file: pq.ParquetFile, groups: list[int], columns: list[str], is_remote: bool) -> int:
    """How many rows of these row groups take at most `BATCH_BYTES` in memory, about; by the file's own word alone where
    a look at some rows would be fetched for."""
    width, unknown = 0.0, dict[str, None]()
    codes = {field.name for field in file.schema_arrow if pa.types.is_dictionary(field.type)}
    for group in groups:
        found = file.metadata.row_group(group)
        size = 0.0
        for number in range(found.num_columns):
            column = found.column(number)
            name = column.path_in_schema.partition(".")[0]
            if name not in columns:
                continue
            if column.physical_type != "BYTE_ARRAY" or name in codes:
                # Numbers are 8 bytes at most once they are decoded, and codes and the few words that they are of too.
                size += column.num_values * 8
                continue
            # Texts that stand in full say how long they are.
            length = _average_text(column) if column.has_dictionary_page else 0.0
            size += max(column.total_uncompressed_size, column.num_values * min(length, LONG_BYTES))
            if length > LONG_BYTES:
                unknown[name] = None
        width = max(width, size / max(1, found.num_rows))
    if unknown and not is_remote and file.metadata.row_group(groups[0]).num_rows > TRIED_ROWS:
        # A text that many rows share stands once in the file, and in memory for each of them.
        tried = next(file.iter_batches(TRIED_ROWS, groups[:1], list(unknown)), None)
        width += 0.0 if tried is None else tried.nbytes / tried.num_rows
    return max(1, min(BATCH_ROWS, int(BATCH_BYTES / max(width, 1.0))))


def _average_text(column: pq.ColumnChunkMetaData) -> float:
    """About the most bytes that the words of a dictionary have on average: its bytes among the fewest words that codes
    of such a size tell apart."""
    words = column.data_page_offset - column.dictionary_page_offset
    codes = column.total_compressed_size - words
    bits = min(8 * codes / max(1, column.num_values), 32)
    return max(0, column.total_uncompressed_size - codes) / 2 ** (bits - 1)


@contextmanager
def _opened(path: str, encoded: Callable[[pq.ParquetFile], list[str]] | None = None) -> Iterator[pq.ParquetFile]:
    """The file, with every way in which it can be damaged as one error that names it.

    `encoded` names columns of text that it shall give as dictionaries.
    """
    import pyarrow.parquet as pq

    is_remote = storage.is_remote(path)
    # Without a buffer Arrow takes each column of a row group whole, so memory would follow the size of row groups.
    # A store answers few large requests faster than many small ones, so there the columns are taken whole.
    options = {"pre_buffer": True} if is_remote else {"pre_buffer": False, "buffer_size": 1 << 20}
    try:
        with ExitStack() as stack:
            source = storage.source(path)
            if not isinstance(source, str):
                stack.callback(source.close)
            file = stack.enter_context(pq.ParquetFile(source, **options))
            texts = [] if encoded is None else encoded(file)
            if texts:
                options |= {"metadata": file.metadata, "read_dictionary": texts}
                file = stack.enter_context(pq.ParquetFile(source, **options))
            yield file
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: cannot be read as Parquet ({reason}); write it again or leave it out") from error


def _batches(file: pq.ParquetFile, groups: list[int], columns: list[str], is_remote: bool) -> Iterator[pa.RecordBatch]:
    """The rows of some row groups; of a store, one group by one, so that no more than one is fetched ahead."""
    rows = _rows_together(file, groups, columns, is_remote)
    # Each group has dictionaries of its own, so batches end with it.
    is_apart = is_remote or any(_holds_dictionaries(file.schema_arrow.field(name).type) for name in columns)
    for part in [[group] for group in groups] if is_apart else [groups]:
        # With one thread to hand work to, handing it over only costs.
        yield from file.iter_batches(rows, part, columns, use_threads=pa.cpu_count() > 1)


def _holds_dictionaries(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) or any(
        _holds_dictionaries(kind.field(number).type) for number in range(kind.num_fields)
    )


def _row_groups(file: pq.ParquetFile) -> list[tuple[int, int, int]]:
    """Number, first row and end row of each row group."""
    groups: list[tuple[int, int, int]] = []
    start = 0
    for number in range(file.metadata.num_row_groups):
        stop = start + file.metadata.row_group(number).num_rows
        groups.append((number, start, stop))
        start = stop
    return groups


def _groups_of(file: pq.ParquetFile, span: Span) -> list[tuple[int, int, int]]:
    """Those row groups that hold rows of the span."""
    begin = span.start + span.skip
    return [group for group in _row_groups(file) if group[1] < span.stop and group[2] > begin]

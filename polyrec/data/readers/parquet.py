"""Parquet files: row groups decoded a few thousand rows at a time, only the columns in use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from polyrec.data.readers import Span, check_columns
from polyrec.errors import DataError
from polyrec.families import ReaderConfig

BATCH_ROWS = 65_536
"""Rows decoded together at most: enough to make Arrow's cost for each batch and column small."""
BATCH_BYTES = 16 << 20
"""Memory that they should take: few enough rows that long lists and texts stay in megabytes."""


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
        begin = span.start + span.skip
        with _opened(span.path) as file:
            names = file.schema_arrow.names
            check_columns(span.path, columns, names)
            wanted = list(columns or names)
            groups = [group for group in _row_groups(file) if group[1] < span.stop and group[2] > begin]
            if not groups:
                return
            row = groups[0][1]
            for batch in file.iter_batches(
                _batch_rows(file, groups[0][0], wanted), [group[0] for group in groups], wanted
            ):
                first, last = max(begin, row), min(span.stop, row + batch.num_rows)
                if first < last:
                    piece = batch.slice(first - row, last - first).select(wanted).replace_schema_metadata(None)
                    yield Span(span.path, first, last), piece
                row += batch.num_rows
                if row >= span.stop:
                    return

    @classmethod
    def example(cls) -> Parquet:
        return cls()


@contextmanager
def _opened(path: str) -> Iterator[pq.ParquetFile]:
    """The file, with every way in which it can be damaged as one error that names it."""
    try:
        # Without a buffer Arrow takes each column of a row group whole, so memory would follow the size of row groups.
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: cannot be read as Parquet ({reason}); write it again or leave it out") from error


def _batch_rows(file: pq.ParquetFile, number: int, wanted: list[str]) -> int:
    """Rows to decode together, by what the wanted columns of a row group hold."""
    group = file.metadata.row_group(number)
    chunks = [group.column(place) for place in range(group.num_columns)]
    # What is stored in few bits becomes numbers of up to eight bytes.
    size = sum(
        max(8 * chunk.num_values, chunk.total_uncompressed_size)
        for chunk in chunks
        if chunk.path_in_schema.partition(".")[0] in wanted
    )
    return max(1, min(BATCH_ROWS, BATCH_BYTES * group.num_rows // max(size, 1)))


def _row_groups(file: pq.ParquetFile) -> list[tuple[int, int, int]]:
    """Number, first row and end row of each row group."""
    groups: list[tuple[int, int, int]] = []
    start = 0
    for number in range(file.metadata.num_row_groups):
        stop = start + file.metadata.row_group(number).num_rows
        groups.append((number, start, stop))
        start = stop
    return groups

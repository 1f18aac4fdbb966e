"""MaxCompute tables, by the storage service that streams their rows as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from polyrec import maxcompute
from polyrec.data.readers import Span, check_columns
from polyrec.families import ReaderConfig
from polyrec.maxcompute import sessions

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 16_384
"""Rows of a batch; the service gives 20,000 at most."""
PIECE_ROWS = 1 << 18
"""Rows that keep their order when files are shuffled."""


class Odps(ReaderConfig):
    """Spans count rows of a table or of one partition. Columns have the Arrow types of their MaxCompute types."""

    has_sessions: ClassVar[bool] = True

    quota: str = maxcompute.DEFAULT_QUOTA
    """Quota that reading is charged to."""
    compression: Literal["LZ4_FRAME", "ZSTD", "UNCOMPRESSED"] = "LZ4_FRAME"
    """Of rows on their way."""

    def suffixes(self) -> tuple[str, ...]:
        return ()

    def shared(self, files: Sequence[str], columns: Sequence[str]) -> list[str]:
        for path in files:
            check_columns(path, columns, self.arrow_schema(path).names)
        return [sessions.name(sessions.begin(path, columns, self.quota)) for path in files]

    def is_there(self, files: Sequence[str]) -> bool:
        return all(sessions.is_open(path, self.quota) for path in files)

    def release(self, files: Sequence[str]) -> None:
        sessions.release(files, self.quota)

    def arrow_schema(self, path: str) -> pa.Schema:
        return maxcompute.arrow_schema(maxcompute.table(sessions.path_of(path)))

    def length(self, path: str) -> int:
        return sessions.opened(path, self.quota).rows

    def rows_per_unit(self, path: str) -> float | None:
        return 1.0

    def pieces(self, path: str) -> tuple[Span, ...]:
        rows = self.length(path)
        return tuple(Span(path, start, min(rows, start + PIECE_ROWS)) for start in range(0, rows, PIECE_ROWS))

    def read(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        session = sessions.opened(span.path, self.quota)
        check_columns(session.path, columns, session.columns)
        row = span.start + span.skip
        for batch in session.read(row, span.stop, BATCH_ROWS, self.compression):
            rows = batch.select(list(columns or session.columns)).replace_schema_metadata(None)
            yield Span(span.path, row, row + rows.num_rows), rows
            row += rows.num_rows

    def place(self, span: Span, row: int) -> str:
        return f"{sessions.path_of(span.path)}: row {span.start + span.skip + row} of the session"

    @classmethod
    def example(cls) -> Odps:
        return cls()

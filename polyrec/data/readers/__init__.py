"""File formats, one file each, and the piece of a file that they read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyrec.errors import DataError, nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from polyrec.families import ReaderConfig


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a file: rows `start` to `stop` of Parquet, or those bytes of a text, without its first `skip` rows."""

    path: str
    start: int
    stop: int
    skip: int = 0


def check_columns(path: str, columns: Iterable[str], known: Sequence[str]) -> None:
    """Every column that is asked for must be in the file; all that are not are named at once."""
    unknown = [f"no column {name}{nearest(name, known)}" for name in columns if name not in known]
    if unknown:
        shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
        raise DataError(f"{path}: {'; '.join(unknown)}; it has: {shown}")


def first_rows(reader: ReaderConfig, files: Sequence[str], columns: Sequence[str], count: int) -> pa.RecordBatch:
    """The first `count` rows of the first file that has any, as they stand in it; all of them if it has fewer."""
    import pyarrow as pa

    for path in files:
        parts: list[pa.RecordBatch] = []
        left = count
        for _, rows in reader.read(Span(path, 0, reader.length(path)), tuple(columns)):
            parts.append(rows.slice(0, left))
            left -= parts[-1].num_rows
            if not left:
                break
        if left < count:
            return pa.concat_batches(parts)
    raise DataError(f"{', '.join(files)}: no rows")

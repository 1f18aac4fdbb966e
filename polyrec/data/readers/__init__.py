"""File formats, one file each, and the piece of a file that they read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from polyrec.errors import DataError, nearest


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

"""File formats, one file each, and the piece of a file that they read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a file: rows `start` to `stop` of Parquet, or those bytes of a text; `skip` rows of it are left out."""

    path: str
    start: int
    stop: int
    skip: int = 0

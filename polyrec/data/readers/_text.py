"""Text files in blocks of whole lines: who reads which line, and how to find the one that is wrong."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pyarrow as pa

from polyrec import storage
from polyrec.data.readers import Span
from polyrec.errors import DataError

BLOCK_BYTES = 4 << 20
"""Bytes parsed together: long enough for Arrow's cost per block not to count, short enough to hold a few."""
SAMPLE_BYTES = 1 << 16
"""Beginning of a file from which the length of its lines is taken."""
PIECE_BYTES = 64 << 20
"""Bytes that keep their order when files are shuffled."""


def is_packed(path: str) -> bool:
    """A gzip file cannot be entered in the middle: its length is one unit, and whoever has that unit reads it all."""
    return storage.split(path)[0].endswith(".gz")


def text_length(path: str) -> int:
    with _named(path):
        size = storage.size(path)
    return min(size, 1) if is_packed(path) else size


def lines_per_byte(path: str) -> float | None:
    """As the beginning of the file has it; None for packed files, whose length says nothing of their lines."""
    if is_packed(path):
        return None
    with opened(path) as file:
        sample = file.read(SAMPLE_BYTES)
    return sample.count(b"\n") / len(sample) if sample else None


def text_pieces(path: str) -> tuple[Span, ...]:
    size = text_length(path)
    return tuple(Span(path, start, min(size, start + PIECE_BYTES)) for start in range(0, size, PIECE_BYTES))


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    with _named(path), storage.opened(path) as file:
        yield file


@contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({error})") from error


def blocks(span: Span) -> Iterator[tuple[int, bytes]]:
    """Whole lines whose first byte lies in the span, with the place of the first byte of each block."""
    with opened(span.path) as file:
        if is_packed(span.path):
            at, stop = 0, None
        else:
            at, stop = _line_start(file, span.start), span.stop
        while stop is None or at < stop:
            size = BLOCK_BYTES if stop is None else min(BLOCK_BYTES, stop - at)
            block = file.read(size)
            if not block:
                return
            if not block.endswith(b"\n"):
                block += file.readline()
            yield at, block
            at += len(block)


def _line_start(file: BinaryIO, at: int) -> int:
    """The first line that begins at `at` or after it."""
    if at == 0:
        return 0
    file.seek(at - 1)
    return at - 1 + len(file.readline())


def pieces_of(span: Span, parsed: Iterable[tuple[int, bytes, pa.RecordBatch]]) -> Iterator[tuple[Span, pa.RecordBatch]]:
    """The rows of each block without those that the span leaves out, and what part of the file they are."""
    left, before = span.skip, 0
    for at, block, rows in parsed:
        if rows.num_rows > left and is_packed(span.path):
            yield Span(span.path, span.start, span.stop, before + left), rows.slice(left)
        elif rows.num_rows > left:
            yield Span(span.path, at, min(at + len(block), span.stop), left), rows.slice(left)
        left = max(0, left - rows.num_rows)
        before += rows.num_rows


def first_bad_line(block: bytes, is_good: Callable[[bytes], bool]) -> tuple[int, bytes]:
    """Index and text of the line that spoils a block, found by halving.

    `is_good` must hold of no lines, and fail for more lines once it fails.
    """
    lines = block.splitlines(keepends=True)
    good, bad = 0, len(lines)
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_good(b"".join(lines[:middle])):
            good = middle
        else:
            bad = middle
    return bad - 1, lines[bad - 1]


def place_of(span: Span, row: int, is_row: Callable[[bytes], bool], header: int = 0) -> str:
    """File and line of a row that came with the span; lines that are no rows, and those of the header, do not count."""
    left = span.skip + row
    with opened(span.path) as file:
        begin = 0 if is_packed(span.path) else _line_start(file, span.start)
        first = line_number(span.path, begin, 0)
        file.seek(begin)
        for number, line in enumerate(file, first):
            if number > header and is_row(line):
                if not left:
                    return f"{span.path}:{number}"
                left -= 1
    return span.path


def line_number(path: str, at: int, index: int) -> int:
    """Number, from 1, of the line `index` lines after the byte `at`."""
    count, left = 1 + index, at
    with opened(path) as file:
        while left > 0:
            block = file.read(min(BLOCK_BYTES, left))
            if not block:
                break
            count += block.count(b"\n")
            left -= len(block)
    return count

"""Rows into a folder, one part per process, each part there only when it is whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from polyrec.errors import DataError
from polyrec.storage import copies, is_remote, joined, last_name, listing, plain, split

# PyArrow makes its functions when it is imported, where a type checker does not see them.
compute: Any = pyarrow.compute

LIST_SEPARATOR = "|"
"""Between the values of a list in CSV."""
Format = Literal["parquet", "csv"]


class Writer(AbstractContextManager["Writer"], Protocol):
    """Takes the rows of one process; leaving a `with` block by an error leaves nothing of them."""

    rows: int
    receipt: str
    """What the process that finishes the output must know of this part."""

    def write(self, batch: pa.RecordBatch) -> None: ...


class Output(Protocol):
    """Where rows go, as all processes of a run see it."""

    def begin(self, schema: Callable[[], pa.Schema], overwrite: bool) -> str:
        """Make it ready, in one process; the others get what it returns."""
        ...

    def writer(self, begun: str, part: int) -> Writer: ...
    def finish(self, begun: str, receipts: Sequence[str]) -> None:
        """After all parts are written, in one process."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder by path or URL with one file of each process."""

    place: str
    format: Format

    def begin(self, schema: Callable[[], pa.Schema], overwrite: bool) -> str:
        prepare_folder(self.place, overwrite)
        return self.place

    def writer(self, begun: str, part: int) -> PartWriter:
        return open_writer(self.place, self.format, part)

    def finish(self, begun: str, receipts: Sequence[str]) -> None:
        """Each part is there by itself."""


def prepare_folder(folder: str, overwrite: bool = False) -> None:
    """Make the output folder; one process does this before any opens a writer.

    A folder that holds anything is refused; with `overwrite`, parts that earlier runs wrote are removed from it first.
    """
    if is_remote(folder):
        _prepare_remotely(folder, overwrite)
        return
    path = Path(plain(folder))
    if path.exists() and not path.is_dir():
        raise DataError(f"{folder}: is a file; name a folder for the output")
    path.mkdir(parents=True, exist_ok=True)
    inside = sorted(item.name for item in path.iterdir())
    for name in _replaced(folder, inside, overwrite):
        (path / name).unlink()


def _prepare_remotely(folder: str, overwrite: bool) -> None:
    if listing.kind_of(folder) == "File":
        raise DataError(f"{folder}: is a file; name a folder for the output")
    for name in _replaced(folder, listing.names_in(folder), overwrite):
        copies.remove(joined(folder, name))


def _replaced(folder: str, inside: Sequence[str], overwrite: bool) -> list[str]:
    """Parts of earlier runs, which must go."""
    if inside and not overwrite:
        held = ", ".join(inside[:5])
        raise DataError(f"{folder}: is not empty ({held}); name another folder, or replace its parts with --overwrite")
    ends = (".parquet", ".csv", ".partial")
    return [name for name in inside if name.removeprefix(".").startswith("part-") and name.endswith(ends)]


def open_writer(folder: str, format: Format, part: int, schema: pa.Schema | None = None) -> PartWriter:
    """A writer of `part-{part}.parquet` or `.csv`; with a schema, a part of no rows becomes a file too."""
    name = f"part-{part}.{format}"
    if is_remote(folder):
        return _SentWriter(joined(folder, name), schema)
    path = Path(plain(folder))
    path.mkdir(parents=True, exist_ok=True)
    return PartWriter(path / name, schema)


class _Sink(Protocol):
    """What writes batches in one format; Arrow's writers have more than this."""

    def write_batch(self, batch: pa.RecordBatch) -> None: ...
    def close(self) -> None: ...


class PartWriter:
    """One file under a hidden name, renamed at `close`. Leaving a `with` block by an error removes it."""

    def __init__(self, path: Path, schema: pa.Schema | None = None) -> None:
        self.path = path
        self.rows = 0
        self.receipt = ""
        self._hidden = path.with_name(f".{path.name}.partial")
        self._file: pa.NativeFile | None = None
        self._sink: _Sink | None = None
        self._schema: pa.Schema | None = None
        if schema is not None:
            self._open(schema)

    def write(self, batch: pa.RecordBatch) -> None:
        if self.path.suffix == ".csv":
            batch = _texts(self.path, batch)
        if self._sink is None:
            self._open(batch.schema)
        assert self._sink is not None
        if batch.schema != self._schema:
            raise DataError(f"{self.path}: columns changed from {self._schema} to {batch.schema}")
        with self._named():
            self._sink.write_batch(batch)
        self.rows += batch.num_rows

    def close(self) -> None:
        """Finish the file and give it its name; without a schema or any batch there is none."""
        if self._sink is None or self._file is None:
            return
        with self._named():
            self._sink.close()
            self._file.close()
        self._sink = None
        with open(self._hidden, "rb") as file:
            os.fsync(file.fileno())
        os.replace(self._hidden, self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def abort(self) -> None:
        """Leave nothing behind."""
        for opened in (self._sink, self._file):
            # Closing writes what is left, which fails again on a disk that is full.
            with suppress(OSError):
                if opened is not None:
                    opened.close()
        self._sink = self._file = None
        self._hidden.unlink(missing_ok=True)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise DataError(f"{self.path}: cannot be written: {reason}") from error

    def _open(self, schema: pa.Schema) -> None:
        is_csv = self.path.suffix == ".csv"
        self._schema = _texts(self.path, pa.RecordBatch.from_pylist([], schema)).schema if is_csv else schema
        with self._named():
            self._file = pa.OSFile(str(self._hidden), "wb")
            if is_csv:
                self._sink = pa_csv.CSVWriter(self._file, self._schema, write_options=_QUOTED)
            else:
                self._sink = pq.ParquetWriter(self._file, self._schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            try:
                self.close()
            except BaseException:
                self.abort()
                raise
        else:
            self.abort()


class _SentWriter(PartWriter):
    """Stores cannot rename: the part is written on this machine and sent when it is whole."""

    def __init__(self, url: str, schema: pa.Schema | None = None) -> None:
        self._url = url
        self._folder = tempfile.TemporaryDirectory(prefix="polyrec-")
        copies.stands_for(Path(self._folder.name), split(url)[0].rpartition("/")[0])
        super().__init__(Path(self._folder.name, last_name(url)), schema)

    def close(self) -> None:
        super().close()
        if self.path.exists():
            copies.send(self.path, self._url)
        self._folder.cleanup()

    def abort(self) -> None:
        super().abort()
        self._folder.cleanup()


_QUOTED = pa_csv.WriteOptions(include_header=True, quoting_style="needed")


def _texts(path: Path, batch: pa.RecordBatch) -> pa.RecordBatch:
    """CSV has no lists: each becomes its values with `|` between them, a null value an empty text."""
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        kind = field.type
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
        if pa.types.is_nested(kind) and (not is_list or pa.types.is_nested(kind.value_type)):
            raise DataError(f"{path}: column {field.name}: CSV cannot hold {kind}; write Parquet")
        columns.append(_joined(column) if is_list else column)
    return pa.record_batch(columns, batch.schema.names)


def _joined(column: pa.Array) -> pa.Array:
    texts = column.cast(pa.list_(pa.string()))
    values = texts.values
    if values.null_count:
        mask = texts.is_null() if texts.null_count else None
        texts = pa.ListArray.from_arrays(texts.offsets, values.fill_null(""), mask=mask)
    return compute.binary_join(texts, LIST_SEPARATOR)

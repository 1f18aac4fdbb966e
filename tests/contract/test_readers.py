"""What every reader must do: each row once however a file is cut, from any place in it, and named when it is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fake_maxcompute import KEY, SECRET, FakeMaxCompute
from pydantic import TypeAdapter

from polyrec import catalog, maxcompute, scripts
from polyrec.data.readers import Span, _text, first_rows, odps, parquet
from polyrec.data.readers.csv import Csv, CsvColumn
from polyrec.data.readers.script import Script
from polyrec.data.readers.slots import SlotColumn, Slots
from polyrec.errors import DataError
from polyrec.families import ReaderConfig

ROWS = 60
Written = tuple[ReaderConfig, str, str]
"""A reader, the file it reads, and the column that holds 0, 1, 2 and so on."""


def _parquet(folder: Path) -> Written:
    path = str(folder / "data.parquet")
    table = pa.table({"other": ["x"] * ROWS, "row": range(ROWS), "last": [[1.5]] * ROWS})
    pq.write_table(table, path, row_group_size=13)
    return parquet.Parquet(), path, "row"


def _csv(folder: Path) -> Written:
    path = folder / "data.csv"
    path.write_text("".join(f"x,{row},1.5\n" for row in range(ROWS)))
    kinds: dict[str, Any] = {"other": "string", "row": "int", "last": "float"}
    columns = tuple(CsvColumn(name=name, type=kind) for name, kind in kinds.items())
    return Csv(columns=columns, header=False), str(path), "row"


def _slots(folder: Path) -> Written:
    path = folder / "data.txt"
    path.write_text("".join(f"9:1 row:{row} last:1.5 last:2\n" for row in range(ROWS)))
    return Slots(sparse=("9", "row"), dense=(SlotColumn(name="last", size=2),)), str(path), "row"


def _script(folder: Path) -> Written:
    (folder / "own.py").write_text(READER, encoding="utf-8")
    scripts.trust(folder / "own.py")
    path = folder / "lines.txt"
    path.write_text("".join(f"row {row}\n" for row in range(ROWS)))
    dense = (SlotColumn(name="last", size=2),)
    return Script(script=str(folder / "own.py"), sparse=("9", "row"), dense=dense), str(path), "row"


def _odps(folder: Path) -> Written:
    """Each test has a service of its own; it ends with the process."""
    service = FakeMaxCompute()
    service.start()
    maxcompute._opened.cache_clear()
    lines = (f"access_id={KEY}", f"access_key={SECRET}", f"end_point={service.endpoint}")
    (folder / "odps.conf").write_text("\n".join(lines))
    table = pa.table({"other": ["x"] * ROWS, "row": range(ROWS), "last": [[1.5]] * ROWS})
    columns = {"other": "string", "row": "bigint", "last": "array<double>"}
    return odps.Odps(), service.add("data", table, columns, "pt=1"), "row"


READER = """
from paddlerec.core.reader import ReaderBase

class Reader(ReaderBase):
    def generate_sample(self, line):
        def samples():
            yield [("row", [int(line.split()[1])]), ("9", [1]), ("last", [1.5, 2])]
        return samples
"""

WRITERS: dict[str, Callable[[Path], Written]] = {
    "csv": _csv,
    "odps": _odps,
    "parquet": _parquet,
    "script": _script,
    "slots": _slots,
}
"""For each reader how to write a file of three columns or more in its format; a new reader gets a line."""


@pytest.fixture(params=catalog.names(ReaderConfig))
def written(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Read in blocks of a few rows, so that the small file has many."""
    monkeypatch.setattr(_text, "BLOCK_BYTES", 40)
    monkeypatch.setattr(_text, "PIECE_BYTES", 150)
    monkeypatch.setattr(parquet, "BATCH_ROWS", 5)
    monkeypatch.setattr(odps, "BATCH_ROWS", 5)
    monkeypatch.setattr(odps, "PIECE_ROWS", 13)
    monkeypatch.setenv("ODPS_CONFIG_FILE_PATH", str(tmp_path / "odps.conf"))
    monkeypatch.delenv("ODPS_ENDPOINT", raising=False)
    return WRITERS[request.param](tmp_path)


def rows_of(written: Written, span: Span) -> list[int]:
    reader, _, column = written
    return [row for _, batch in reader.read(span, (column,)) for row in plain(batch.column(0))]


def plain(values: pa.Array) -> list[int]:
    return [value[0] if isinstance(value, list) else value for value in values.to_pylist()]


def cuts(length: int, parts: int) -> Iterator[tuple[int, int]]:
    places = [part * length // parts for part in range(parts + 1)]
    return pairwise(places)


def test_shards_cover_each_row_once(written: Written) -> None:
    reader, path, _ = written
    for parts in (1, 2, 3, 7, 50):
        spans = [Span(path, start, stop) for start, stop in cuts(reader.length(path), parts)]
        assert [row for span in spans for row in rows_of(written, span)] == list(range(ROWS))


def test_pieces_cover_each_row_once(written: Written) -> None:
    reader, path, _ = written
    pieces = reader.pieces(path)
    assert len(pieces) > 1
    assert (pieces[0].start, pieces[-1].stop) == (0, reader.length(path))
    assert [row for piece in pieces for row in rows_of(written, piece)] == list(range(ROWS))


def test_reading_resumes_at_any_row(written: Written) -> None:
    reader, path, column = written
    whole = Span(path, 0, reader.length(path))
    done = 0
    for piece, batch in reader.read(whole, (column,)):
        for given in range(batch.num_rows + 1):
            rest = Span(path, piece.start, whole.stop, piece.skip + given)
            assert rows_of(written, rest) == list(range(done + given, ROWS))
        done += batch.num_rows
    assert done == ROWS


def test_columns_come_in_the_order_asked_for(written: Written) -> None:
    reader, path, _ = written
    known = reader.arrow_schema(path)
    assert len(known) >= 3
    span = Span(path, 0, reader.length(path))
    for names in (tuple(known.names), tuple(reversed(known.names)), (known.names[1],)):
        for _, batch in reader.read(span, names):
            assert batch.schema == pa.schema([known.field(name) for name in names])
    assert next(reader.read(span, ()))[1].schema == known
    assert first_rows(reader, [path], known.names, 3).num_rows == 3


def test_a_column_that_is_not_there_is_named(written: Written) -> None:
    reader, path, column = written
    with pytest.raises(DataError, match=f"no column {column}x; did you mean {column}"):
        list(reader.read(Span(path, 0, reader.length(path)), (f"{column}x",)))


def test_each_row_has_a_place_of_its_own(written: Written) -> None:
    reader, path, column = written
    places = [
        reader.place(piece, row)
        for start, stop in cuts(reader.length(path), 3)
        for piece, batch in reader.read(Span(path, start, stop), (column,))
        for row in range(batch.num_rows)
    ]
    numbers = [int("".join(filter(str.isdigit, place.removeprefix(path)))) for place in places]
    assert all(place.startswith(f"{path}:") for place in places)
    assert numbers in (list(range(ROWS)), list(range(1, ROWS + 1)))


def test_it_is_read_back_from_its_text(written: Written) -> None:
    assert TypeAdapter(ReaderConfig).validate_python(written[0].dump()) == written[0]

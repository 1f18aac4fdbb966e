"""CSV against Python's own csv module and hand-written rows."""

from __future__ import annotations

import csv as plain_csv
import gzip
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from polyrec.data.readers import Span, _text
from polyrec.data.readers.csv import Csv, CsvColumn
from polyrec.errors import DataError

COLUMNS = (
    CsvColumn(name="id", type="int"),
    CsvColumn(name="price", type="float"),
    CsvColumn(name="city", type="string"),
)


def write(folder: Path, text: str | bytes, name: str = "part-0.csv") -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def rows(reader: Csv, path: str, columns: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    found = reader.read(Span(path, 0, reader.length(path)), columns)
    return [row for _, batch in found for row in batch.to_pylist()]


def test_types_and_nulls(tmp_path: Path) -> None:
    path = write(tmp_path, '1,2.5,rome\n-9007199254740993,,\n3,1e3,"a,b"\n')
    assert rows(Csv(columns=COLUMNS, header=False), path) == [
        {"id": 1, "price": 2.5, "city": "rome"},
        {"id": -9007199254740993, "price": None, "city": None},
        {"id": 3, "price": 1000.0, "city": "a,b"},
    ]


def test_a_column_without_a_type_is_told_from_its_values(tmp_path: Path) -> None:
    columns = tuple(CsvColumn(name=name) for name in ("id", "price", "city", "none"))
    path = write(tmp_path, "1,2.5,rome,\n2,,,\n")
    reader = Csv(columns=columns, header=False)
    assert rows(reader, path) == [
        {"id": 1, "price": 2.5, "city": "rome", "none": None},
        {"id": 2, "price": None, "city": None, "none": None},
    ]
    assert reader.arrow_schema(path).types == [pa.int64(), pa.float32(), pa.string(), pa.string()]
    with pytest.raises(ValidationError, match="column id has a default, so it needs a type"):
        CsvColumn(name="id", default="1")


def test_an_empty_value_takes_the_default(tmp_path: Path) -> None:
    columns = (
        CsvColumn(name="id", type="int", default="7"),
        CsvColumn(name="price", type="float", default="-0.5"),
        CsvColumn(name="city", type="string", default=""),
    )
    path = write(tmp_path, ",,\n1,2,x\n")
    first, second = rows(Csv(columns=columns, header=False), path)
    assert first == {"id": 7, "price": -0.5, "city": ""}
    assert second == {"id": 1, "price": 2.0, "city": "x"}


def test_only_the_columns_asked_for_are_parsed(tmp_path: Path) -> None:
    path = write(tmp_path, "1,not a number,rome\n")
    assert rows(Csv(columns=COLUMNS, header=False), path, ("city", "id")) == [{"city": "rome", "id": 1}]


@pytest.mark.parametrize("separator", ["\t", "\x01", ";", "|", "||", "\x01\x02", "::"])
def test_separators(tmp_path: Path, separator: str) -> None:
    text = "".join(separator.join(row) + "\n" for row in (["1", "2", "a,b"], ["2", "", "c d"]))
    path = write(tmp_path, text)
    reader = Csv(columns=COLUMNS, separator=separator, header=False)
    assert [list(row.values()) for row in rows(reader, path)] == [[1, 2.0, "a,b"], [2, None, "c d"]]


def test_quotes_can_be_plain_characters(tmp_path: Path) -> None:
    path = write(tmp_path, '1,2,"x"\n')
    assert rows(Csv(columns=COLUMNS, header=False, quotes=False), path)[0]["city"] == '"x"'
    assert rows(Csv(columns=COLUMNS, header=False), path)[0]["city"] == "x"


def test_a_header_names_the_columns_and_types_are_inferred(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeffcity,"id",price,day\r\nrome,1,2,2024-01-01\r\noslo,2,0.5,\r\n')
    reader = Csv(columns=(CsvColumn(name="price", type="float"),), header=True)
    assert [str(field.type) for field in reader.arrow_schema(path)] == ["string", "int64", "float", "string"]
    assert rows(reader, path, ("id", "day")) == [{"id": 1, "day": "2024-01-01"}, {"id": 2, "day": None}]


def test_a_file_may_lack_its_last_line_end_and_hold_empty_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "1,1,a\n\n2,2,b\n\n\n3,3,c")
    assert [row["id"] for row in rows(Csv(columns=COLUMNS, header=False), path)] == [1, 2, 3]


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("block", [1, 10, 64, 1 << 20])
def test_every_cut_gives_each_line_to_one_span(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: bool, block: int
) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", block)
    text = ("id,price,city\n" if header else "") + "".join(f"{row},{row}.5,{'x' * (row % 9)}\n" for row in range(30))
    path = write(tmp_path, text)
    reader = Csv(columns=COLUMNS, header=header)
    for cut in range(len(text) + 1):
        found = [
            row["id"]
            for start, stop in ((0, cut), (cut, len(text)))
            for _, batch in reader.read(Span(path, start, stop), ("id",))
            for row in batch.to_pylist()
        ]
        assert found == list(range(30)), cut


@pytest.mark.parametrize("name", ["part-0.csv", "part-0.csv.gz"])
def test_any_piece_can_be_read_again_from_any_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", 40)
    text = "".join(f"{row},0,x\n" for row in range(50)).encode()
    path = write(tmp_path, gzip.compress(text) if name.endswith("gz") else text, name)
    reader = Csv(columns=COLUMNS, header=False)
    whole = Span(path, 0, reader.length(path))
    pieces = list(reader.read(whole, ("id",)))
    assert len(pieces) > 5
    for piece, batch in pieces:
        for skip in range(2 * batch.num_rows):
            rest = reader.read(Span(path, piece.start, whole.stop, piece.skip + skip), ("id",))
            again = list(rest)
            found = [row for _, batch in again for row in batch.column("id").to_pylist()]
            first = batch.column("id")[0].as_py() + skip
            assert found == list(range(first, 50))
            if again:
                once_more = next(reader.read(replace(again[0][0], stop=whole.stop), ("id",)))[1]
                assert once_more.column("id")[0].as_py() == first


def test_random_rows_agree_with_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", 1000)
    random = np.random.default_rng(0)
    letters = np.array(list('ab,"; |é'))
    written = [
        [str(random.integers(-(10**12), 10**12)), repr(float(random.normal())), "".join(random.choice(letters, 6))]
        for _ in range(500)
    ]
    buffer = io.StringIO()
    plain_csv.writer(buffer, lineterminator="\n").writerows(written)
    path = write(tmp_path, buffer.getvalue())
    found = rows(Csv(columns=COLUMNS, header=False), path)
    assert [row["city"] for row in found] == [row[2] for row in written]
    assert [row["id"] for row in found] == [int(row[0]) for row in written]
    assert [np.float32(row["price"]) for row in found] == [np.float32(row[1]) for row in written]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("5,n/a,x", "column price: cannot read 'n/a' as float32"),
        ("1.5,0,x", "column id: cannot read '1.5' as int64"),
        ("99999999999999999999,0,x", "column id: cannot read '99999999999999999999' as int64"),
        ("5,0", "2 values where 3 columns are declared"),
        ("5,0,x,y", "4 values where 3 columns are declared"),
    ],
)
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("bad", [0, 1, 777, 1999])
def test_what_cannot_be_read_is_named_by_file_line_and_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, message: str, header: bool, bad: int
) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", 3000)
    lines = ["id,price,city"] * header + [f"{row},1.5,x" for row in range(2000)]
    lines[bad + header] = line
    path = write(tmp_path, "\n".join(lines) + "\n")
    with pytest.raises(DataError) as caught:
        rows(Csv(columns=COLUMNS, header=header), path)
    assert str(caught.value).startswith(f"{path}:{bad + 1 + header}: {message}")


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, b"1,2,ok\n2,3,\xff\xfe\n")
    with pytest.raises(DataError, match=r"part-0\.csv:2: column city: cannot read .* as UTF-8 text"):
        rows(Csv(columns=COLUMNS, header=False), path)


def test_an_unknown_column_is_answered_by_the_nearest(tmp_path: Path) -> None:
    path = write(tmp_path, "1,2,x\n")
    with pytest.raises(DataError, match="no column prise; did you mean price"):
        rows(Csv(columns=COLUMNS, header=False), path, ("prise",))
    with pytest.raises(DataError, match="no column city; did you mean citty"):
        Csv(columns=COLUMNS, header=True).arrow_schema(write(tmp_path, "id,price,citty\n", "other.csv"))
    with pytest.raises(DataError, match=r":1: the header names id twice"):
        Csv(header=True).arrow_schema(write(tmp_path, "id,id\n", "twice.csv"))


def test_configs_that_cannot_work_are_refused() -> None:
    with pytest.raises(ValidationError, match="needs columns"):
        Csv(header=False)
    with pytest.raises(ValidationError, match="default 'x' of column id is no int"):
        CsvColumn(name="id", type="int", default="x")
    with pytest.raises(ValidationError, match="twice"):
        Csv(columns=(COLUMNS[0], COLUMNS[0]), header=False)


def test_a_damaged_gzip_file_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress(b"1,2,x\n" * 1000)[:-20], "part-0.csv.gz")
    with pytest.raises(DataError, match=r"part-0\.csv\.gz: cannot be read"):
        rows(Csv(columns=COLUMNS, header=False), path)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_row_is_placed_by_its_line_and_lines_that_are_no_rows_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", 6)
    path = str(tmp_path / name)
    with pa.output_stream(path) as file:
        file.write(b"id\n10\n\n11\n\r\n12\n13")
    reader = Csv(header=True)
    found = reader.read(Span(path, 0, reader.length(path)), ("id",))
    places = [reader.place(piece, row) for piece, batch in found for row in range(batch.num_rows)]
    assert places == [f"{path}:{line}" for line in (2, 4, 6, 7)]


def test_a_double_keeps_what_a_float_rounds(tmp_path: Path) -> None:
    columns = (CsvColumn(name="narrow", type="float"), CsvColumn(name="wide", type="double", default="0.1"))
    path = write(tmp_path, "16777217,16777217\n1,\n")
    assert rows(Csv(columns=columns, header=False), path) == [
        {"narrow": 16777216.0, "wide": 16777217.0},
        {"narrow": 1.0, "wide": 0.1},
    ]

"""What readers make of lines and values that they cannot read: a row each, null or padded, with its faults told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyrec import scripts
from polyrec.data.faults import MARKS, marks_of
from polyrec.data.readers import Span, _text
from polyrec.data.readers.csv import Csv, CsvColumn
from polyrec.data.readers.script import Script
from polyrec.data.readers.slots import SlotColumn, Slots
from polyrec.errors import DataError
from polyrec.families import ReaderConfig

Found = tuple[list[dict[str, Any]], dict[int, list[tuple[str, str, bool]]], list[str]]


def read(reader: ReaderConfig, path: Path, *columns: str) -> Found:
    """Rows, their faults by row, and the places of the rows that have some."""
    rows: list[dict[str, Any]] = []
    faults: dict[int, list[tuple[str, str, bool]]] = {}
    places = []
    for piece, batch in reader.read_marked(Span(str(path), 0, reader.length(str(path))), columns):
        for row, found in marks_of(batch).items():
            faults[len(rows) + row] = [(fault.subject, fault.kind, fault.is_whole) for fault in found]
            places.append(reader.place(piece, row).removeprefix(f"{path}:"))
        rows += batch.drop_columns(MARKS).to_pylist()
    return rows, faults, places


def csv(**options: Any) -> Csv:
    columns = [("row", "int", None), ("price", "float", "9"), ("city", "string", None)]
    declared = tuple(CsvColumn(name=name, type=kind, default=default) for name, kind, default in columns)  # type: ignore[arg-type]
    return Csv(**{"columns": declared, "header": False, **options})


LINES = b'0,1.5,a\n1,x,b\n2\n\n3,2.5,"c,c"\ny,z,d\n5,,\xff\xfe\n6,1,2,3\n7,"3",e\n8,1,"f\n9,1,g\n'


@pytest.mark.parametrize("block", [10, 40, 1 << 20])
def test_csv(tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", block)
    path = tmp_path / "a.csv"
    path.write_bytes(LINES)
    rows, faults, places = read(csv(), path)
    good = {row["row"]: (row["price"], row["city"]) for number, row in enumerate(rows) if number not in faults}
    assert good == {0: (1.5, "a"), 3: (2.5, "c,c"), 7: (3.0, "e"), 9: (1.0, "g")}
    line, price = ("line", "broken", True), ("column price", "unreadable", False)
    assert faults == {
        1: [price],
        2: [line],
        4: [("column row", "unreadable", False), price],
        5: [("column city", "unreadable", False)],
        6: [line],
        8: [line],
    }
    # A value that cannot be read counts as empty, so the column's own default stands for it.
    assert [(rows[at]["row"], rows[at]["price"], rows[at]["city"]) for at in (1, 4, 5)] == [
        (1, 9.0, "b"), (None, 9.0, "d"), (5, 9.0, None)
    ]  # fmt: skip
    assert places == ["2", "3", "6", "7", "8", "10"]
    only, faults, _ = read(csv(), path, "city")
    assert set(faults) == {2, 5, 6, 8}
    assert [row["city"] for row in only][:5] == ["a", "b", None, "c,c", "d"]


@pytest.mark.parametrize(("separator", "quotes"), [("\t", True), ("||", False)])
def test_csv_of_other_separators_and_a_header(tmp_path: Path, separator: str, quotes: bool) -> None:
    path = tmp_path / "a.csv"
    text = "\ufeffrow,price,city\n0,1,a\n1\n2,x,c\n".replace(",", separator)
    path.write_text(text)
    reader = Csv(header=True, separator=separator, quotes=quotes, columns=csv().columns[1:2])
    rows, faults, places = read(reader, path)
    assert [row["row"] for row in rows] == [0, None, 2]
    assert faults == {1: [("line", "broken", True)], 2: [("column price", "unreadable", False)]}
    assert places == ["3", "4"]


def test_a_block_without_one_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("1\n2,3\n")
    rows, faults, _ = read(csv(), path)
    assert [row["row"] for row in rows] == [None, None]
    assert sorted(faults) == [0, 1]


@pytest.mark.parametrize("block", [10, 1 << 20])
def test_slots(tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", block)
    path = tmp_path / "a.txt"
    path.write_text("id:1 v:1 v:2\nid:x id:3\n\nbare id:4\nv:1\nid:5 v:y v:2\nid:6 v:1 v:2\n")
    reader = Slots(sparse=("id",), dense=(SlotColumn(name="v", size=2),), padding=7)
    rows, faults, places = read(reader, path)
    assert [row["id"] for row in rows] == [[1], [3], [7], [7], [5], [6]]
    assert [row["v"] for row in rows] == [[1, 2], [7, 7], [7, 7], [7, 7], [7, 7], [1, 2]]
    assert faults == {
        1: [("slot id", "unreadable", False)],
        2: [("line", "broken", True)],
        3: [("slot v", "size", False)],
        4: [("slot v", "unreadable", False)],
    }
    assert places == ["2", "4", "5", "6"]


READER = """
class Reader:
    def __init__(self, config): pass
    def init(self): pass
    def generate_sample(self, line):
        def samples():
            for part in line.split(";"):
                if part:
                    click, price = part.split(",")
                    yield [("click", [int(click)]), ("price", [float(x) for x in price.split()])]
        return samples
"""


def test_scripts(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text(READER)
    scripts.trust(script)
    reader = Script(script=str(script), sparse=("click",), dense=(SlotColumn(name="price", size=1),), padding=7)
    path = tmp_path / "a.txt"
    path.write_text("1,2;0,3\n;\n1,2;oh\n1,2 3\n0,4\n")
    rows, faults, places = read(reader, path)
    assert rows == [
        {"click": [1], "price": [2.0]},
        {"click": [0], "price": [3.0]},
        {"click": [7], "price": [7.0]},
        {"click": [1], "price": [7.0]},
        {"click": [0], "price": [4.0]},
    ]
    assert faults == {2: [("line", "broken", True)], 3: [("slot price", "size", False)]}
    assert places == ["3", "4"]


@pytest.mark.parametrize(("text", "line"), [('1,1,a\n2,1,"b\n3,1,c\n', 2), ('1,1,a\n2,1,b\n3,1,"c\n', 3)])
def test_a_quote_that_is_not_closed_swallows_no_lines(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"a\.csv:{line}: a quote is not closed"):
        list(csv().read(Span(str(path), 0, len(text)), ()))
    rows, faults, _ = read(csv(), path)
    assert [row["row"] for row in rows] == [None if row == line else row for row in (1, 2, 3)]
    assert faults == {line - 1: [("line", "broken", True)]}

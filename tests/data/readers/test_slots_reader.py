"""Slot text by hand-written lines, and against a parser that loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from polyrec.data.readers import Span, _text
from polyrec.data.readers.slots import SlotColumn, Slots
from polyrec.errors import DataError

READER = Slots(sparse=("click", "1", "2"), dense=(SlotColumn(name="dense_var", size=2),), padding=0)


def write(folder: Path, text: str) -> str:
    path = folder / "part-0"
    path.write_text(text)
    return str(path)


def rows(path: str, reader: Slots = READER, columns: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    found = reader.read(Span(path, 0, reader.length(path)), columns)
    return [row for _, batch in found for row in batch.to_pylist()]


def test_lines_by_hand(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "click:1 dense_var:0.5 dense_var:-2 1:7 2:8\n"
        "2:9 1:3 77:5 click:0 1:4 dense_var:1 dense_var:1e2\n"  # any order, several values, an unknown slot
        "\n"
        "click:0\r\n",  # everything else is left out
    )
    assert rows(path) == [
        {"click": [1], "1": [7], "2": [8], "dense_var": [0.5, -2.0]},
        {"click": [0], "1": [3, 4], "2": [9], "dense_var": [1.0, 100.0]},
        {"click": [0], "1": [0], "2": [0], "dense_var": [0.0, 0.0]},
    ]


def test_padding_stands_for_what_is_left_out(tmp_path: Path) -> None:
    reader = Slots(sparse=("click", "1"), dense=(SlotColumn(name="d", size=3),), padding=9)
    path = write(tmp_path, "click:1 1:5\nclick:0 d:1 d:2 d:3\n")
    assert rows(path, reader, ("1", "d")) == [{"1": [5], "d": [9.0] * 3}, {"1": [9], "d": [1.0, 2.0, 3.0]}]


def test_types_are_as_declared(tmp_path: Path) -> None:
    path = write(tmp_path, "click:1 1:9223372036854775807 2:-1 dense_var:0.1 dense_var:2\n")
    _, batch = next(READER.read(Span(path, 0, READER.length(path)), ()))
    assert batch.schema.equals(READER.arrow_schema(path))
    assert batch.column("1").to_pylist() == [[9223372036854775807]]


def looped(line: str) -> dict[str, list[float]]:
    """The rules once more, a token at a time."""
    found: dict[str, list[float]] = {"click": [], "1": [], "2": [], "dense_var": []}
    for token in line.split():
        slot, value = token.split(":")
        if slot in found:
            found[slot].append(float(value) if slot == "dense_var" else int(value))
    return {slot: values or [0] * (2 if slot == "dense_var" else 1) for slot, values in found.items()}


@pytest.mark.parametrize("block", [1, 50, 1000, 1 << 20])
def test_random_lines_agree_with_a_parser_that_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", block)
    random = np.random.default_rng(0)
    lines = []
    for _ in range(200):
        tokens = [f"click:{random.integers(2)}"] * (random.random() < 0.9)
        tokens += [
            f"{slot}:{random.integers(1000)}" for slot in ("1", "2", "3", "11") for _ in range(random.integers(4))
        ]
        if random.random() < 0.7:
            tokens += [f"dense_var:{random.integers(100) / 4}" for _ in range(2)]
        random.shuffle(tokens)
        lines.append(" ".join(tokens))
    path = write(tmp_path, "\n".join(lines) + "\n")
    assert rows(path) == [looped(line) for line in lines if line]


def test_every_cut_gives_each_line_to_one_span(tmp_path: Path) -> None:
    text = "".join(f"click:{row} 1:{'1' * (row % 5 + 1)} 2:1 dense_var:1 dense_var:2\n" for row in range(12))
    path = write(tmp_path, text)
    for cut in range(len(text) + 1):
        found = [
            row
            for start, stop in ((0, cut), (cut, len(text)))
            for _, batch in READER.read(Span(path, start, stop), ("click",))
            for row in batch.column("click").flatten().to_pylist()
        ]
        assert found == list(range(12)), cut


def test_a_dense_slot_is_filled_or_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "click:1 1:1 2:1\n\n" * 3 + "click:1 1:1 2:1 dense_var:3\n")
    with pytest.raises(DataError, match=r"part-0:7: slot dense_var: 1 numbers where 2 are declared"):
        rows(path)


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("1:x", "slot 1: cannot read 'x' as int64"),
        ("1:", "slot 1: cannot read '' as int64"),
        ("1:1.5", "slot 1: cannot read '1.5' as int64; correct the row or declare the slot as dense"),
        ("dense_var:1 dense_var:?", "slot dense_var: cannot read '?' as float"),
        ("word", "'word' is no slot:value token"),
    ],
)
@pytest.mark.parametrize("bad", [1, 2, 500, 999])
def test_what_cannot_be_read_is_named_by_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str, message: str, bad: int
) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", 2000)
    lines = ["click:1 1:2 2:3 dense_var:1 dense_var:2"] + ["click:1 1:2 2:3"] * 999
    lines[bad] += f" {token}"
    path = write(tmp_path, "\n".join(lines) + "\n")
    with pytest.raises(DataError) as caught:
        rows(path)
    assert str(caught.value).startswith(f"{path}:{bad + 1}: {message}")


def test_a_slot_that_no_line_has_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    path = write(tmp_path, "click:1 1:1 2:1 dense_feature:1 dense_feature:2\n" * 5)
    message = r"part-0: no line has the declared slot dense_var; did you mean dense_feature\?; its slots: 1, 2, click"
    with pytest.raises(DataError, match=message):
        rows(path)
    assert len(rows(path, columns=("1", "click"))) == 5


def test_a_slot_may_come_late_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", 100)
    text = "click:1 12:1 2:1\n" * 100 + "1:5 click:0\n"
    path = write(tmp_path, text)
    assert [row["1"] for row in rows(path, columns=("1", "click"))] == [[0]] * 100 + [[5]]
    reader = Slots(sparse=("1",))
    first_half = [batch for _, batch in reader.read(Span(path, 0, len(text) // 2), ("1",))]
    assert sum(batch.num_rows for batch in first_half) > 40


def test_a_slot_is_declared_once() -> None:
    with pytest.raises(ValidationError, match="declares a slot twice: a"):
        Slots(sparse=("a",), dense=(SlotColumn(name="a", size=1),))


def test_a_row_is_placed_by_its_line_and_lines_of_blanks_count(tmp_path: Path) -> None:
    path = write(tmp_path, "1:5 2:1 click:1\n \t\n1:6\n\n1:7\n")
    (piece, batch), *_ = READER.read(Span(path, 0, READER.length(path)), ("1",))
    assert [READER.place(piece, row) for row in range(batch.num_rows)] == [f"{path}:{line}" for line in (1, 3, 5)]

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyrec import scripts
from polyrec.data.readers import Span, _text
from polyrec.data.readers.script import Script
from polyrec.data.readers.slots import SlotColumn
from polyrec.errors import ConfigError, DataError

HEAD = "from paddlerec.core.reader import ReaderBase\nfrom paddlerec.core.utils import envs\n"
CLASS = """
class Reader(ReaderBase):
    def init(self):
        self.more = envs.get_global_env("hyper_parameters.more", 100)
        self.scale = envs.get_global_env("scale", 1, "dataset.rows")

    def generate_sample(self, line):
        def samples():
            for part in line.split(";"):
                label, ids, price = part.split(",")
                yield zip(["click", "ids", "price"],
                          [[int(label)], [int(id) + self.more for id in ids.split()], [float(price) * self.scale]])
        return samples
"""


def reader_of(folder: Path, text: str, **settings: Any) -> Script:
    script = folder / "own_reader.py"
    script.write_text(text, encoding="utf-8")
    scripts.trust(script)
    price = SlotColumn(name="price", size=1)
    return Script(script=str(script), sparse=("click", "ids", "other"), dense=(price,), padding=7, settings=settings)


def rows_of(reader: Script, folder: Path, lines: str, *columns: str) -> list[dict[str, Any]]:
    path = folder / "lines.txt"
    path.write_text(lines, encoding="utf-8")
    found = reader.read(Span(str(path), 0, reader.length(str(path))), columns)
    return [row for _, batch in found for row in batch.to_pylist()]


def test_a_line_gives_samples_whose_missing_slots_are_padded(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, HEAD + CLASS)
    assert rows_of(reader, tmp_path, "1,2 3,0.5;0,,2\n0,4,1\n") == [
        {"click": [1], "ids": [102, 103], "other": [7], "price": [0.5]},
        {"click": [0], "ids": [7], "other": [7], "price": [2.0]},
        {"click": [0], "ids": [104], "other": [7], "price": [1.0]},
    ]


def test_reading_resumes_within_a_line_that_gives_several_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_text, "BLOCK_BYTES", 30)
    reader = reader_of(tmp_path, HEAD + CLASS.replace('line.split(";")', 'filter(None, line.split(";"))'))
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{row},1,1;{row + 1},2,1;{row + 2},3,1\n;\n" for row in range(0, 30, 3)))
    whole = Span(str(path), 0, reader.length(str(path)))
    done = 0
    for piece, batch in reader.read(whole, ("click",)):
        for given in range(batch.num_rows + 1):
            rest = Span(whole.path, piece.start, whole.stop, piece.skip + given)
            found = [row["click"] for _, rows in reader.read(rest, ("click",)) for row in rows.to_pylist()]
            assert found == [[row] for row in range(done + given, 30)]
        done += batch.num_rows
        assert reader.place(piece, 0) == f"{path}:{2 * ((done - batch.num_rows) // 3) + 1}"
    assert done == 30


def test_the_class_asks_for_settings_by_path_and_namespace(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, HEAD + CLASS, **{"hyper_parameters.more": 1000, "dataset.rows.scale": 4})
    assert rows_of(reader, tmp_path, "1,2,0.5\n", "ids", "price") == [{"ids": [1002], "price": [2.0]}]


def test_classes_of_paddles_data_generator_work_too(tmp_path: Path) -> None:
    head = "import paddle.fluid.incubate.data_generator as dg\n"
    text = (HEAD + head + CLASS).replace("(ReaderBase)", "(dg.MultiSlotDataGenerator)")
    assert rows_of(reader_of(tmp_path, text), tmp_path, "1,2,0.5\n", "click") == [{"click": [1]}]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("1,2", "own_reader.py cannot read the line: ValueError: not enough values to unpack"),
        ("1,x,2", "own_reader.py cannot read the line: ValueError: invalid literal"),
    ],
)
def test_a_line_that_the_class_cannot_read_is_named(tmp_path: Path, line: str, what: str) -> None:
    with pytest.raises(DataError, match=r"lines\.txt:2: ") as caught:
        rows_of(reader_of(tmp_path, HEAD + CLASS), tmp_path, f"1,2,0.5\n{line}\n")
    assert what in str(caught.value)
    assert "correct the line or the reader" in str(caught.value)


def test_values_that_are_no_slots_of_that_kind_are_named(tmp_path: Path) -> None:
    broken = CLASS.replace("[float(price) * self.scale]", "[1.0, 2.0]")
    with pytest.raises(DataError, match=r"lines.txt:1: slot price: 2 numbers where 1 are declared"):
        rows_of(reader_of(tmp_path, HEAD + broken), tmp_path, "1,2,0.5\n")
    halves = CLASS.replace("int(id) + self.more", "0.5")
    (tmp_path / "second").mkdir()
    tmp_path = tmp_path / "second"
    with pytest.raises(DataError, match=r"lines.txt:1: slot ids: 0.5 is not a whole number"):
        rows_of(reader_of(tmp_path, HEAD + halves), tmp_path, "1,2,0.5\n")


def test_only_files_that_a_config_brings_are_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    script = tmp_path / "stranger.py"
    script.write_text(f"open({str(marker)!r}, 'w')\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"stranger\.py: is not run"):
        rows_of(Script(script=str(script), sparse=("click",)), tmp_path, "1,2,0.5\n")
    assert not marker.exists()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (HEAD + CLASS.replace("Reader(", "Raeder("), "has no class Reader; did you mean Raeder"),
        ("import nothing_of_this_name\n", "cannot be run: ModuleNotFoundError"),
        (HEAD + CLASS.replace("self.more =", "self.less = 1 / 0 #"), "Reader cannot be prepared: ZeroDivisionError"),
        (HEAD + CLASS + "    def generate_batch_from_trainfiles(self, files): pass\n", "reads files by itself"),
    ],
)
def test_a_file_that_cannot_serve_says_why(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        rows_of(reader_of(tmp_path, text), tmp_path, "1,2,0.5\n")


def test_a_file_that_is_not_there_is_named_with_its_neighbour(tmp_path: Path) -> None:
    reader_of(tmp_path, HEAD + CLASS)
    missing = Script(script=str(tmp_path / "own_raeder.py"), sparse=("click",))
    with pytest.raises(ConfigError, match=r"no such reader file; did you mean own_reader\.py"):
        rows_of(missing, tmp_path, "1,2,0.5\n")

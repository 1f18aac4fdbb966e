"""Which files a path stands for."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from polyrec.data.files import expand, look
from polyrec.errors import DataError

PARQUET = (".parquet",)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        *("b.parquet", "a.parquet", "day=1/c.parquet", "notes.md", "_SUCCESS", ".hidden.parquet"),
        *("_temporary/d.parquet", ".git/e.parquet"),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    return tmp_path


def names(folder: Path, found: list[str]) -> list[str]:
    return [str(Path(path).relative_to(folder)) for path in found]


def test_a_folder_stands_for_all_below_it(folder: Path) -> None:
    assert names(folder, expand([str(folder)], PARQUET)) == ["a.parquet", "b.parquet", "day=1/c.parquet"]
    assert "notes.md" in names(folder, expand([str(folder)], ()))
    assert "_SUCCESS" not in names(folder, expand([str(folder)], ()))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.parquet", ["a.parquet", "b.parquet"]),
        (r"\*.parquet", ["a.parquet", "b.parquet"]),
        ("[ab].parquet", ["a.parquet", "b.parquet"]),
        ("**/*.parquet", ["a.parquet", "b.parquet", "day=1/c.parquet"]),
        ("day=*", ["day=1/c.parquet"]),
        ("notes.md", ["notes.md"]),
    ],
)
def test_globs(folder: Path, pattern: str, expected: list[str]) -> None:
    assert names(folder, expand([f"{folder}/{pattern}"], PARQUET)) == expected


def test_lists_keep_their_order_and_name_no_file_twice(folder: Path) -> None:
    listed = f"{folder}/b.parquet, {folder}/a.parquet"
    assert names(folder, expand([listed, f"{folder}/*.parquet"], PARQUET)) == ["b.parquet", "a.parquet"]


def test_a_comma_may_belong_to_a_name(folder: Path) -> None:
    (folder / "x,y.csv").write_text("1")
    assert names(folder, expand([f"{folder}/x,y.csv"], ())) == ["x,y.csv"]


def test_empty_files_are_left_out_and_reported(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "z.parquet").write_text("")
    with caplog.at_level(logging.WARNING):
        assert "z.parquet" not in names(folder, expand([str(folder)], PARQUET))
    assert f"; 1 empty ({folder}/z.parquet)" in caplog.text
    with pytest.raises(DataError, match="only empty files"):
        expand([f"{folder}/z.parquet"], PARQUET)


def test_hidden_files_are_listed_in_one_line_of_the_log(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "_x").mkdir()
    found, left_out = look([str(folder)], PARQUET)
    assert len(found) == 3
    hidden = [".git", ".hidden.parquet", "_SUCCESS", "_temporary", "_x"]
    assert names(folder, list(left_out.hidden)) == hidden
    assert names(folder, list(look([f"{folder}/*"], PARQUET)[1].hidden)) == ["_SUCCESS", "_temporary", "_x"]
    assert not look([f"{folder}/_SUCCESS"], ())[1]
    with caplog.at_level(logging.INFO):
        expand([str(folder)], PARQUET)
        expand([str(folder)], PARQUET)
    shown = ", ".join(f"{folder}/{name}" for name in hidden[:3])
    assert [record.message for record in caplog.records] == [
        f"left out of the data: 5 with a hidden name ({shown}, ...)"
    ]


def test_nothing_found_names_the_nearest_path(folder: Path) -> None:
    with pytest.raises(DataError, match=rf"day=2/x.*: no such file; the nearest path that exists is {folder} with"):
        expand([f"{folder}/day=2/x*.parquet"], PARQUET)
    with pytest.raises(DataError, match=r"holds no \.csv file; it holds: .*\.parquet"):
        expand([str(folder)], (".csv",))
    with pytest.raises(DataError, match="no path is given"):
        expand([], ())

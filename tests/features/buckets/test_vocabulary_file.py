from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from polyrec.assets import with_assets
from polyrec.errors import ConfigError
from polyrec.features.buckets.vocabulary_file import VocabularyFileBucket
from polyrec.features.id import IdFeature


def bucket(folder: Path, text: str, rows: int = 9, **fields: object) -> VocabularyFileBucket:
    file = folder / "words.txt"
    file.write_bytes(text.encode())
    return VocabularyFileBucket.model_validate({"file": str(file), "rows": rows, "unknown": 0, **fields})


def test_a_word_is_its_line(tmp_path: Path) -> None:
    found = bucket(tmp_path, "rome\noslo\r\n kyiv \n\n")
    assert found.rows_of(pa.array(["oslo", "kyiv", "rome", "?"])).tolist() == [1, 2, 0, 0]


def test_ids_beside_the_words(tmp_path: Path) -> None:
    found = bucket(tmp_path, "rome 7\noslo\t3\n", unknown=None)
    assert found.rows_of(pa.array(["oslo", "rome", "?"])).tolist() == [3, 7, -1]


def test_words_with_blanks_are_whole_lines(tmp_path: Path) -> None:
    assert bucket(tmp_path, "new york\nrome\n").rows_of(pa.array(["new york"])).tolist() == [0]


def test_reserved_words_come_first(tmp_path: Path) -> None:
    found = bucket(tmp_path, "rome\noslo\n", first=2, reserved=("none", "other"), unknown=1)
    assert found.rows_of(pa.array(["none", "rome", "oslo", "?"])).tolist() == [0, 2, 3, 1]
    # A reserved word that the file lists too keeps the id reserved for it.
    found = bucket(tmp_path, "rome\nnone\n", first=2, reserved=("none",), unknown=1)
    assert found.rows_of(pa.array(["none", "rome"])).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\nb\na\n", r"words\.txt:3: 'a' stands in an earlier line already"),
        ("a 1\nb\n", r"words\.txt:2: needs a word and its id, as in the first line; found 'b'"),
        ("\n\n", r"words\.txt: holds no words"),
        ("a 1\nb 9\n", r"words\.txt: ids reach from 0 to 9, outside 0 to 8; raise rows"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        bucket(tmp_path, text).rows_of(pa.array(["a"]))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    lost = VocabularyFileBucket(file=str(tmp_path / "lost.txt"), rows=3, unknown=None)
    with pytest.raises(ConfigError, match=r"lost\.txt: no such file of words"):
        lost.rows_of(pa.array(["a"]))


def test_a_default_is_looked_up_when_the_file_is_there(tmp_path: Path) -> None:
    """A config of an export is read before the place of its files is known."""
    feature = IdFeature(
        name="f", column="c", bucket=VocabularyFileBucket(rows=9, file="none.txt", unknown=0), default="b"
    )
    moved = with_assets(feature, lambda name: str(tmp_path / name))
    (tmp_path / "none.txt").write_text("a\nb\n")
    assert moved.transform(pa.record_batch({"c": pa.array(["a", None])})).values.tolist() == [0, 1]


def test_whether_lines_hold_ids_can_be_told(tmp_path: Path) -> None:
    lines = "iphone 5\ngalaxy 4\n"
    found = bucket(tmp_path, lines, has_ids=False)
    assert found.rows_of(pa.array(["galaxy 4", "iphone 5", "iphone"])).tolist() == [1, 0, 0]
    with pytest.raises(ConfigError, match="needs a word and its id"):
        bucket(tmp_path, "rome\n", has_ids=True).rows_of(pa.array(["rome"]))


def test_a_default_is_not_looked_up_before_the_file_is_needed() -> None:
    lost = VocabularyFileBucket(file="assets/lost.txt", rows=3, unknown=0)
    assert IdFeature(name="f", column="c", bucket=lost, default="rome").rows == 3

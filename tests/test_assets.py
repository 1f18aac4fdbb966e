from __future__ import annotations

from pathlib import Path

from polyrec.assets import Asset, asset_name, assets, with_assets
from polyrec.catalog import Frozen


class Words(Frozen):
    file: Asset
    other: Asset | None = None
    name: str = "kept"


class Holder(Frozen):
    words: tuple[Words, ...]
    one: Words | None = None


def test_every_file_that_is_named() -> None:
    holder = Holder(words=(Words(file="a.txt"), Words(file="b.txt", other="c.txt")), one=Words(file="a.txt"))
    assert list(assets(holder)) == ["a.txt", "b.txt", "c.txt", "a.txt"]
    changed = with_assets(holder, lambda path: f"new/{path}")
    assert list(assets(changed)) == ["new/a.txt", "new/b.txt", "new/c.txt", "new/a.txt"]
    assert changed.words[0].name == "kept"
    assert holder.words[0].file == "a.txt"


def test_a_config_without_files_stays_itself() -> None:
    holder = Holder(words=())
    assert list(assets(holder)) == []
    assert with_assets(holder, str.upper) is holder


def test_copies_of_other_contents_have_other_names(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "words.txt").write_text("a")
    (tmp_path / "words.txt").write_text("b")
    first, second = asset_name(str(tmp_path / "one" / "words.txt")), asset_name(str(tmp_path / "words.txt"))
    assert first != second
    assert first.startswith("words_")
    assert first.endswith(".txt")

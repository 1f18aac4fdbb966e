from __future__ import annotations

import importlib
from pathlib import Path

from polyrec.cli import VERBS

PAGE = Path(__file__).parents[2] / "docs/commands.md"
HIDDEN = {"-h", "--help", "--debug"}


def test_the_page_names_every_verb_and_flag() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for verb in VERBS:
        flags = importlib.import_module(f"polyrec.cli.{verb}").flags()
        missing = [name for name in flags.names if name not in HIDDEN and f"`{name}" not in text]
        assert f"`{verb}" in text
        assert not missing, (verb, missing)

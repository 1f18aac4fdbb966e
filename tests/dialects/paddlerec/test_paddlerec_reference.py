from __future__ import annotations

from pathlib import Path

from polyrec.dialects.paddlerec.reference import tables

PAGE = Path(__file__).parents[3] / "docs/dialects/paddlerec.md"


def test_the_page_has_the_fields_that_the_code_reads() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.partition("<!-- fields -->\n\n")[2] == tables()
    assert "| hyper_parameters.optimizer | class, learning_rate |" in text

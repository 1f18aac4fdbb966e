from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pytest
from pydantic import Field

from polyrec.assets import Asset
from polyrec.catalog import Frozen
from polyrec.cli import main, reference
from polyrec.config import RunConfig
from polyrec.families import ScheduleConfig
from polyrec.workflow import Workflow


class Inner(Frozen):
    x: tuple[int, float] = (1, 2.0)


class Outer(Frozen):
    """Two lines
    of text."""

    inner: Inner = Inner()
    several: tuple[Inner, ...] = Field(min_length=1)
    """One | or more."""
    choice: Literal["a", "b"] | None = None
    rows: int = Field(ge=0, lt=2**63)
    numbers: Mapping[str, float] | None = None
    schedule: ScheduleConfig
    named: dict[str, float]
    file: Asset | None = None


def test_each_message_is_shown_once_with_types_limits_and_defaults() -> None:
    page = reference.page((Outer,))
    assert page.count("## Inner\n") == 1
    assert "Two lines of text." in page
    assert "| `inner` | [Inner](#inner) | its defaults |  |" in page
    assert "| `several` | list of [Inner](#inner), not empty | required | One \\| or more. |" in page
    assert "| `choice` | `a`, `b` or null | `null` |  |" in page
    assert "| `rows` | integer, >= 0, < 2^63 | required |  |" in page
    assert "| `numbers` | map of text to number or null | `null` |  |" in page
    assert "| `named` | map of text to number | required |  |" in page
    assert "| `file` | text or null | `null` |  |" in page
    assert "| `x` | [integer, number] | `[1, 2.0]` |  |" in page


def test_a_family_is_shown_with_every_kind() -> None:
    page = reference.page((Outer,))
    assert "## ScheduleConfig\n" in page
    assert "### kind: constant\n" in page
    assert "### kind: exponential\n" in page


def test_the_verb_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--markdown"]) == 0
    assert capsys.readouterr().out == reference.page((RunConfig, Workflow))

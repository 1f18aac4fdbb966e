"""Every script of bench/ still runs and prints one JSON line; growth of memory with the data is held by a number."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "bench").glob("*.py"))


def run(script: Path, *words: str) -> dict[str, Any]:
    """What the script prints, which is one line."""
    done = subprocess.run(
        [sys.executable, str(script), *words],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def numbers(found: Any) -> list[float]:
    """Every number of a nested result."""
    if isinstance(found, dict):
        return [number for value in found.values() for number in numbers(value)]
    return [found] if isinstance(found, int | float) and not isinstance(found, bool) else []


@pytest.mark.parametrize(
    "script", [script for script in SCRIPTS if script.stem != "memory"], ids=lambda script: script.stem
)
def test_the_small_form_prints_one_line_of_figures(script: Path) -> None:
    found = run(script, "--small")
    assert found["bench"] == script.stem
    assert len(numbers(found)) >= 3


def test_ten_times_the_rows_take_no_more_memory() -> None:
    """The largest resident set of a whole training process, rows in order and shuffled."""
    found = run(ROOT / "bench" / "memory.py", "--repeats", "1")
    assert found["bench"] == "memory"
    assert found["rows"] * found["times"] == 5_000_000
    growth = {name: found[name]["growth"] for name in ("in_order", "shuffled")}
    assert max(growth.values()) < 0.10, found

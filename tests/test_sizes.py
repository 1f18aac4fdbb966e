"""Files, functions and signatures stay small enough to read in one go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILE_LINES, FUNCTION_LINES, PARAMETERS = 400, 60, 6
EXCEPTIONS: dict[str, str] = {
    "polyrec/data/loader.py:__init__": "each is a separate choice, all but the first three by name",
}
"""`path` or `path:function`, and why it may be larger."""


def sources() -> list[Path]:
    folders = [folder for name in ("polyrec", "aliases", "bench") if (folder := ROOT / name).is_dir()]
    return sorted(file for folder in folders for file in folder.rglob("*.py") if "zoo" not in file.parts)


def functions(file: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def name_of(file: Path, function: ast.AST | None = None) -> str:
    path = file.relative_to(ROOT).as_posix()
    return f"{path}:{getattr(function, 'name', '')}" if function else path


def num_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def too_large(file: Path) -> Iterator[tuple[str, str]]:
    lines = len(file.read_text("utf-8").splitlines())
    if lines > FILE_LINES:
        yield name_of(file), f"{lines} lines"
    for function in functions(file):
        length = (function.end_lineno or function.lineno) - function.lineno + 1
        if length > FUNCTION_LINES:
            yield name_of(file, function), f"{length} lines"
        if num_parameters(function) > PARAMETERS:
            yield name_of(file, function), f"{num_parameters(function)} parameters"


@pytest.mark.parametrize("file", sources(), ids=name_of)
def test_sizes(file: Path) -> None:
    assert {name: size for name, size in too_large(file) if name not in EXCEPTIONS} == {}


def test_every_exception_is_still_needed_and_has_a_reason() -> None:
    needed = {name for file in sources() for name, _ in too_large(file)}
    assert set(EXCEPTIONS) <= needed
    assert all(EXCEPTIONS.values())


def test_sizes_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The measuring itself: one function of 61 lines with seven parameters."""
    monkeypatch.setattr("test_sizes.ROOT", tmp_path)
    file = tmp_path / "large.py"
    file.write_text("def f(a, b, c, d, *, e, g, h):\n" + "    a += 1\n" * 60)
    assert list(too_large(file)) == [("large.py:f", "61 lines"), ("large.py:f", "7 parameters")]

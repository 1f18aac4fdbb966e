from __future__ import annotations

from typing import Any

import pytest

from polyrec.dialects.node import Report, Value
from polyrec.dialects.settings import apply, set_values
from polyrec.dialects.structure import assemble
from polyrec.errors import ConfigError, Origin
from polyrec.inits.normal import Normal


def put(draft: Any, path: str, value: Any) -> tuple[Any, list[str]]:
    report = Report()
    data, _ = assemble(apply(draft, {path: value}, report), Origin("f", 1, 1))
    return data, [str(problem) for problem in report.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [("a.b=1", 1), ("a.b=1e-3", 0.001), ("a.b=[x, y]", ["x", "y"]), ("a.b=x=y", "x=y"), ("a.b=", None),
     ("a.b='1'", "1"), ("a.b={c: true}", {"c": True}), ("a.b=2024-01-01", "2024-01-01")],
)  # fmt: skip
def test_values_are_written_as_in_yaml(text: str, value: Any) -> None:
    assert set_values(text) == ("a.b", value)


def test_a_condition_may_hold_an_equals_sign() -> None:
    assert set_values("features[name=x].rows=3") == ("features[name=x].rows", 3)


@pytest.mark.parametrize("text", ["a.b", "=1", "a=[1"])
def test_what_is_no_setting(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^--set "):
        set_values(text)


def test_puts_values_into_a_draft() -> None:
    draft = {"a": {"b": Value(1, Origin("f", 1, 1))}, "l": [{"name": "x"}, {"name": Value("y", Origin("f", 2, 1))}]}
    assert put(draft, "a.b", 2)[0]["a"] == {"b": 2}
    assert put(draft, "a.new.c", 3)[0]["a"]["new"] == {"c": 3}
    assert put(draft, "l[-1].v", 4)[0]["l"][1] == {"name": "y", "v": 4}
    assert put(draft, "l[name=y].v", 5)[0]["l"][1]["v"] == 5
    assert put({"init": Normal(std=1)}, "init.std", 2)[0]["init"] == {"kind": "normal", "mean": 0.0, "std": 2}


def test_the_place_of_a_setting_is_the_flag() -> None:
    _, origins = assemble(apply({}, {"a": [1]}, Report()), Origin("f", 1, 1))
    assert str(origins["a[0]"]) == "--set a:1:1"


def test_a_path_counts_for_each_run_of_a_workflow() -> None:
    data, _ = put({"steps": [{"run": {"x": 1}}, {"run": {"x": 2}}]}, "x", 3)
    assert data == {"steps": [{"run": {"x": 3}}, {"run": {"x": 3}}]}
    data, _ = put({"steps": [{"run": {"x": 1}}, {"run": {"x": 2}}]}, "steps[1].run.x", 3)
    assert data == {"steps": [{"run": {"x": 1}}, {"run": {"x": 3}}]}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("l[2].v", "there are 2; the last is [1]"),
        ("l[name=z].v", "none has name=z"),
        ("l.v", "needs an index before v: there are 2"),
        ("a.b.c", "b is a value and has no fields"),
        ("a[0]", "[0] needs a list"),
        ("a..b", "an empty part is not a name or name[index]"),
    ],
)
def test_a_wrong_path_is_a_problem(path: str, message: str) -> None:
    draft = {"a": {"b": 1}, "l": [{"name": "x"}, {"name": "y"}]}
    assert put(draft, path, 1)[1] == [f"--set {path}:1:1: {path}: {message}"]

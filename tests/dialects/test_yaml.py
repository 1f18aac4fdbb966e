from __future__ import annotations

from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st

from polyrec.dialects import yaml
from polyrec.dialects.node import Node, Report
from polyrec.dialects.structure import bare


def tree(text: str) -> Node:
    return yaml.parse(text, "f", Report())


def problems(text: str) -> list[str]:
    return [str(problem) for problem in tree(text).report.problems]


def test_lists_are_repeated_fields() -> None:
    node = tree("mode: [a, b]\none: a\nrunner:\n- name: x\n- name: y\nnone: []\n")
    assert [value.value for value in node.texts("mode")] == ["a", "b"]
    assert [value.value for value in node.texts("one")] == ["a"]
    assert [child.text("name").value for child in node.children("runner")] == ["x", "y"]
    assert [name for name in ("mode", "one", "runner", "none") if node.is_list(name)] == ["mode", "runner", "none"]


def test_scalars_have_the_types_of_yaml_1_1() -> None:
    node = tree("a: 1\nb: 0x10\nc: 1.5\nd: 1e-3\ne: yes\nf: '1'\ng: ~\nh: word\ni: -.inf\nj: 1_000")
    assert bare(node) == {
        "a": 1, "b": 16, "c": 1.5, "d": 0.001, "e": True,
        "f": "1", "g": None, "h": "word", "i": float("-inf"), "j": 1000,
    }  # fmt: skip
    assert [name for name in "acefh" if node.ask(name)[0].quoted] == ["f", "h"]


def test_places_of_names_values_and_lists() -> None:
    node = tree("a:\n  b: 1\nc: [x,\n  y]\n")
    assert str(node.ask("a")[0].origin) == "f:1:1"
    assert str(node.ask("a")[0].ask("b")[0].origin) == "f:2:6"
    assert str(node.lists["c"]) == "f:3:1"
    assert [str(item.origin) for item in node.ask("c")] == ["f:3:5", "f:4:3"]


def test_anchors_and_merges() -> None:
    text = "x: &x {a: 1, l: [1]}\ny: {<<: *x, a: 2}\nz: {<<: [*x, {b: 3, a: 4}], l: 7}\nw: *x\n"
    assert bare(tree(text)) == pyyaml.safe_load(text)


def test_a_name_given_twice_names_the_first() -> None:
    assert problems("a:\n  b: 1\n  c: 2\n  b: 3\n") == ["f:4:3: a.b: is given twice, first on line 2"]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: [1, 2\nb: 3", 1, 4),
        ("a: 1\n b: 2", 2, 3),
        ("a: 'x\n", 1, 4),
        ("\ta: 1", 1, 1),
        ("a: *x", 1, 4),
        ("- a", 1, 1),
    ],
)
def test_a_syntax_error_has_a_place(text: str, line: int, column: int) -> None:
    node = tree(text)
    origin = node.report.problems[0].origin
    assert origin is not None
    assert (origin.line, origin.column) == (line, column)
    assert node.report.is_broken


def test_no_text_can_make_it_run_on_or_crash() -> None:
    assert problems("a: &a\n  b: *a\n") == ["f:1:4: holds itself"]
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )
    assert "stands for more than 1000000 values" in problems(bomb)[0]
    assert problems("a: " + "[" * 5000)[0].startswith("f:")
    assert problems("a: \x00")[0] == "f:1:4: cannot be read as YAML: special characters are not allowed"


@given(st.dictionaries(st.text(min_size=1, alphabet=st.characters(codec="utf-8")), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3),
    max_leaves=8,
)))  # fmt: skip
def test_reads_what_pyyaml_writes(value: dict[str, Any]) -> None:
    text = pyyaml.dump(value, Dumper=_Quoting)
    node = tree(text)
    assert node.report.problems == []
    assert bare(node) == value


class _Quoting(pyyaml.SafeDumper):
    """Writes every text in quotes, so that no text looks like a number."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))

from __future__ import annotations

import json as standard
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyrec.dialects import json
from polyrec.dialects.node import Report
from polyrec.dialects.structure import bare

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3),
    max_leaves=8,
)


def problems(text: str, **options: bool) -> list[str]:
    report = Report()
    json.parse(text, "f", report, **options)
    return [str(problem) for problem in report.problems]


@given(st.dictionaries(st.text(min_size=1), JSON), st.sampled_from([None, 1]), st.booleans())
def test_agrees_with_the_standard_library(value: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    report = Report()
    node = json.parse(standard.dumps(value, indent=indent, ensure_ascii=ascii_only), "f", report)
    assert report.problems == []
    assert bare(node) == value


def test_places() -> None:
    node = json.parse('{"a": {\n  "b": [1,\n 2]}}', "f", Report())
    child = node.children("a")[0]
    assert str(child.origin) == "f:1:2"
    assert str(child.lists["b"]) == "f:2:3"
    assert [(str(item.origin), item.path) for item in child.ask("b")] == [("f:2:9", "a.b[0]"), ("f:3:2", "a.b[1]")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[1]", "f:1:1: needs an object in braces"),
        ('{"a": 1', "f:1:8: needs a comma or }, not the end of the text ({ of line 1 is open)"),
        ('{"a" 1}', 'f:1:6: needs a colon after "a", not 1'),
        ("{a: 1}", "f:1:2: needs a name in double quotes, not a"),
        ('{"a": 1,\n}', "f:1:8: has a comma before }"),
        ('{"a": tru}', "f:1:7: needs a value, not tru"),
        ('{"a": "x\n"}', "f:1:7: has a text that is not closed on its line"),
        ('{"a": "\\q"}', "f:1:8: has the unknown escape \\q"),
        ('{"a": 1} 2', "f:1:10: has more text after its end"),
        ('{"a": 1,\n "a": 2}', "f:2:2: a: is given twice, first on line 1"),
        ('{"a": 01}', "f:1:8: needs a comma or }, not 1"),
        ("", "f:1:1: needs an object in braces"),
    ],
)
def test_what_is_wrong_is_told_where_it_is(text: str, found: str) -> None:
    assert problems(text) == [found]


def test_deep_nesting_is_a_problem() -> None:
    assert problems('{"a":' * 200)[0].endswith("is nested more than 100 deep")
    assert problems('{"a":' + "[" * 5000)[0].endswith("is nested more than 100 deep")


def test_brackets_with_backslashes_are_taken_on_request() -> None:
    text = r'{"a\[0\].b":\[4,5\]}'
    node = json.parse(text, "f", Report(), shell_brackets=True)
    assert bare(node) == {"a[0].b": [4, 5]}
    assert problems(text) == [r"f:1:4: has the unknown escape \["]


@given(st.text(alphabet='{}[]":,\\u01aet \n'))
def test_any_text_ends_in_a_tree_or_problems(text: str) -> None:
    json.parse("{" + text, "f", Report())

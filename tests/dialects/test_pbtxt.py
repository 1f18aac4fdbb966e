from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyrec.dialects import pbtxt
from polyrec.dialects.node import Node, Report


def plain(node: Node) -> Any:
    if node.fields is None:
        return node.scalar
    return {name: [plain(child) for child in nodes] for name, nodes in node.fields.items()}


def read(text: str) -> Any:
    report = Report()
    node = pbtxt.parse(text, "f", report)
    assert report.problems == []
    return plain(node)


def problems(text: str) -> list[str]:
    report = Report()
    pbtxt.parse(text, "f", report)
    return [str(problem) for problem in report.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1 # a comment\n# another\nb: 2", {"a": [1], "b": [2]}),
        ("a: {b: 1}", {"a": [{"b": [1]}]}),
        ("a {b: 1}", {"a": [{"b": [1]}]}),
        ("a < b: 1 >", {"a": [{"b": [1]}]}),
        ("a {}", {"a": [{}]}),
        ("a: [1, 2] a: 3", {"a": [1, 2, 3]}),
        ("a: []", {}),
        ("a: [{b: 1}, <b: 2>]", {"a": [{"b": [1]}, {"b": [2]}]}),
        ("a [{b: 1}]", {"a": [{"b": [1]}]}),
        ("a: 1; b: 2, c { d: 3 };", {"a": [1], "b": [2], "c": [{"d": [3]}]}),
        ("a: 0x1F b: 017 c: -5 d: - 5 e: 0", {"a": [31], "b": [15], "c": [-5], "d": [-5], "e": [0]}),
        ("a: 1e-3 b: 1.f c: .5 d: 2F e: -1.5E+2", {"a": [0.001], "b": [1.0], "c": [0.5], "d": [2.0], "e": [-150.0]}),
        ("a: inf b: -inf c: nan", {"a": ["inf"], "b": ["-inf"], "c": ["nan"]}),
        ("a: SUM b: true", {"a": ["SUM"], "b": ["true"]}),
        ("[x.y/z.W] { a: 1 }", {"[x.y/z.W]": [{"a": [1]}]}),
        ("\ufeffa: 1\r\nb: 2\r\n", {"a": [1], "b": [2]}),
        ("", {}),
    ],
)
def test_every_form_of_a_field(text: str, value: Any) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"a\tb\n\"\'\\\?"', "a\tb\n\"'\\?"),
        (r"'say \"hi\"'", 'say "hi"'),
        (r'"\001\x02\101\x41"', "\x01\x02AA"),
        (r'"\346\227\245\xe6\x9c\xac"', "\u65e5\u672c"),
        (r'"\u65e5\U0001F600"', "\u65e5\U0001f600"),
        ('"\u65e5"', "\u65e5"),
        ('"one " \'two\'\n"three"', "one twothree"),
        (r'"\346" "\227\245"', "\u65e5"),
        ('"# no comment { } : "', "# no comment { } : "),
        ('""', ""),
    ],
)
def test_texts(text: str, value: str) -> None:
    assert read(f"a: {text}") == {"a": [value]}


def test_places_count_from_one() -> None:
    node = pbtxt.parse('a {\n  b: "x"\n  c: [1,\n    2]\n}', "f", Report())
    (message,) = node.children("a")
    assert str(message.origin) == "f:1:1"
    assert str(message.text("b").origin) == "f:2:6"
    assert [str(item.origin) for item in message.integers("c")] == ["f:3:7", "f:4:5"]
    assert message.ask("b")[0].quoted


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a {\n  b {\n    c: 1\n  }\n", ["f:1:1: a: needs a closing brace, before the end of the file"]),
        (
            "a {\n  b {\n    c: 1\n  d {\n  }\n}\ne {\n}\n",
            ["f:2:3: a.b: needs a closing brace, before the brace of line 6"],
        ),
        ("a {\n  b: 1\n}\n}\n", ["f:4:1: has a closing brace too many"]),
        ("a {\n  b {\n    c: 1\n  }\n  }\n  d: 1\n}\n", ["f:5:3: has a closing brace too many"]),
        ("a {\n  b 1\n}", ["f:2:3: a.b: needs a colon between name and value"]),
        ("a:\nb: 1", ["f:1:1: a: needs a value"]),
        ("a: }", ["f:1:1: a: needs a value", "f:1:4: has a closing brace too many"]),
        ('a: "x\nb: 1', ["f:1:4: a: has a text that is not closed on its line"]),
        ("a: 1x\nb: 08", ["f:1:4: a: 1x is not a number", "f:2:4: b: 08 is not a number"]),
        ("$$ ???\na: 1", ["f:1:1: $$ does not belong here, where the name of a field is expected"]),
        ("a\n  b: 1\n}", ["f:1:1: a: needs an opening brace"]),
        ("a: [1, 2\nb: 3", ["f:1:4: a: needs a closing bracket"]),
        ("a: [1 2]\nb: 3", ["f:1:7: a: 2 does not belong in the list that begins on line 1"]),
        (r'a: "\q"', [r"f:1:4: a: has the unknown escape \q"]),
        (r'a: "\xff"', ["f:1:4: a: has escapes that are not UTF-8"]),
        ("a { b: 1 >", ["f:1:10: a: > closes what { opened on line 1"]),
        ("a: -x", ["f:1:5: a: needs a number after the minus"]),
        ("a", ["f:1:1: a: needs a colon and a value, or a message"]),
    ],
)
def test_what_is_wrong_is_told_where_it_is(text: str, found: list[str]) -> None:
    assert problems(text) == found


def test_reading_goes_on_behind_a_mistake() -> None:
    report = Report()
    node = pbtxt.parse('a 1\n$ $\nb: 2\nc: "x\nd { e: 3 }', "f", report)
    assert plain(node) == {"a": [1], "b": [2], "c": ["x"], "d": [{"e": [3]}]}
    assert not report.is_broken


def test_a_lost_brace_breaks_the_nesting() -> None:
    report = Report()
    pbtxt.parse("a {", "f", report)
    assert report.is_broken


def test_very_deep_nesting_is_a_problem_and_no_crash() -> None:
    assert problems("a{" * 100_000)[0].endswith("is nested more than 100 deep")


@given(st.text(alphabet="ab:{}<>[]\"'\\ \n#,;-1.0xe"))
def test_any_text_ends_in_a_tree_or_problems(text: str) -> None:
    pbtxt.parse(text, "f", Report()).check_unread()


@given(st.text())
def test_every_text_can_be_written_with_escapes(text: str) -> None:
    try:
        octal = "".join(f"\\{byte:03o}" for byte in text.encode())
    except UnicodeEncodeError:
        return
    assert read(f'a: "{octal}"') == {"a": [text]}


def test_five_thousand_lines_take_less_than_fifty_milliseconds() -> None:
    message = 'feature_configs {\n  id_feature {\n    feature_name: "u"\n    expression: "user:u"\n' + (
        "    num_buckets: 100\n    embedding_dim: 16\n  }\n}\n"
    )
    text = message * 625
    assert text.count("\n") == 5000
    spent = []
    for _ in range(5):
        start = time.process_time()
        pbtxt.parse(text, "f", Report())
        spent.append(time.process_time() - start)
    assert min(spent) < 0.05

from __future__ import annotations

import pytest

from polyrec.dialects import json, pbtxt
from polyrec.dialects.node import Node, Report, likeliest
from polyrec.errors import ConfigError, Origin, nearest


def tree(text: str) -> Node:
    return pbtxt.parse(text, "f", Report())


def problems(node: Node) -> list[str]:
    return [str(problem) for problem in node.report.problems]


def test_the_last_scalar_wins_and_messages_merge() -> None:
    node = tree("a: 1 a: 2 m { x: 1 l: 1 } m { x: 3 l: 2 }")
    assert node.integer("a").value == 2
    message = node.child("m")
    assert message is not None
    assert message.integer("x").value == 3
    assert [value.value for value in message.integers("l")] == [1, 2]


def test_the_last_of_a_oneof_wins_and_the_other_is_noted() -> None:
    node = tree("adam {} sgd {}")
    assert node.one_of(["adam", "sgd"]) == "sgd"
    assert [str(note) for note in node.report.notes] == ["f:1:1: adam: has no effect, sgd is given as well"]
    node.check_unread()
    assert problems(node) == []


def test_a_field_of_an_edit_wins_a_oneof() -> None:
    node = tree("adam {} sgd {}")
    node.add("lamb", Node.message(node.report, Origin("--edit", 1, 1), "lamb"))
    assert node.one_of(["adam", "lamb", "sgd"]) == "lamb"


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("x: 1.5", "integer", "needs a whole number, not 1.5"),
        ("x: true", "integer", "needs a whole number, not true"),
        ('x: "1"', "integer", 'needs a whole number, not "1"'),
        ("x: abc", "number", "needs a number, not abc"),
        ("x: 2", "flag", "needs true or false, not 2"),
        ('x: "true"', "flag", 'needs true or false, not "true"'),
        ("x: 3", "text", "needs a text in quotes, not 3"),
        ("x: true", "text", "needs a text in quotes, not true"),
        ("x {}", "text", "needs a text in quotes, not a message"),
        ("", "text", "is required"),
    ],
)
def test_a_wrong_value_is_a_problem_at_its_place(text: str, kind: str, message: str) -> None:
    node = tree(text)
    getattr(node, kind)("x")
    assert [problem.message for problem in node.report.problems] == [message]
    assert node.report.problems[0].path == "x"


def test_words_numbers_and_flags() -> None:
    node = tree("a: inf b: -nan c: t d: 0 e: Infinity f: 7")
    assert node.number("a").value == float("inf")
    assert node.number("b").value != node.number("b").value
    assert node.flag("c").value is True
    assert node.flag("d").value is False
    assert node.number("e").value == float("inf")
    assert node.number("f").value == 7.0


def test_a_choice_by_word_or_number() -> None:
    node = tree("a: SUM b: 2 c: MAEN")
    choices = {"SUM": "sum", "MEAN": "mean"}
    assert node.choice("a", choices).value == "sum"
    assert node.choice("b", choices, numbers={1: "SUM", 2: "MEAN"}).value == "mean"
    node.choice("c", choices)
    assert problems(node) == ["f:1:16: c: MAEN is not supported; did you mean MEAN?; known: SUM, MEAN"]


def test_a_default_stands_where_the_message_does() -> None:
    child = tree("\n m { }").child("m")
    assert child is not None
    value = child.integer("x", 4)
    assert (value.value, value.origin) == (4, Origin("f", 2, 2))


def test_what_nothing_asks_for_is_unknown_with_the_nearest_name() -> None:
    node = tree("m {\n hidden_unit: 1\n}\nn: []\nfoo { deep: 1 }")
    child = node.child("m")
    assert child is not None
    child.integers("hidden_units")
    node.ignore({"foo": "has no meaning here"})
    node.check_unread()
    assert problems(node) == [
        "f:4:4: n: unknown field",
        "f:2:15: m.hidden_unit: unknown field; did you mean hidden_units?",
    ]
    assert [str(item) for item in node.report.ignored] == ["f:5:1: foo: has no meaning here"]


def test_refused_fields_are_problems() -> None:
    node = tree("kafka { x: 1 }")
    node.refuse({"kafka": "reads no Kafka; use files"})
    node.check_unread()
    assert problems(node) == ["f:1:1: kafka: reads no Kafka; use files"]


def test_all_problems_are_raised_in_the_order_of_the_text() -> None:
    node = tree("a: x\nb: y")
    node.integer("b")
    node.integer("a")
    with pytest.raises(ConfigError) as caught:
        node.report.finish()
    assert str(caught.value) == "f:1:4: a: needs a whole number, not x\nf:2:4: b: needs a whole number, not y"


def test_json_names_in_camel_case_and_numbers_in_quotes() -> None:
    node = json.parse('{"modelDir": "x", "num_steps": "12", "l2Reg": "NaN", "akId": null}', "f", Report())
    assert node.text("model_dir").value == "x"
    assert node.integer("num_steps").value == 12
    assert node.number("l2_reg").value != node.number("l2_reg").value
    assert node.text("akId", "none").value == "none"
    node.check_unread()
    assert problems(node) == []


def test_repeated_fields_are_numbered_in_paths() -> None:
    node = tree("m { x: 1 } m { x: [1, 2] } s { y: 1 }")
    first, second = node.children("m")
    assert [first.ask("x")[0].path, second.ask("x")[1].path] == ["m[0].x", "m[1].x[1]"]
    assert node.children("s")[0].ask("y")[0].path == "s.y"
    assert second.is_list("x")
    assert not first.is_list("x")


def test_an_unknown_name_stands_for_a_missing_one() -> None:
    root = tree("folder_every: 3 folder_dir: 4")
    root.integer("folder_every")
    root.integer("folder_path")
    root.check_unread()
    assert [text.partition(": ")[2] for text in problems(root)] == [
        "folder_dir: unknown field; did you mean folder_path?"
    ]


SLIPS = {"c41": "c14", "cat0": "cat_0", "cat2_4": "cat_24", "cat20": "cat_20", "INT_0": "int_0", "zzz": ""}


@pytest.mark.parametrize(("word", "meant"), SLIPS.items())
def test_letters_that_changed_places_are_the_likeliest_slip(word: str, meant: str) -> None:
    known = ["c1", "c14", "c4", "cat_0", "cat_20", "cat_24", "cat_4", "int_0"]
    assert nearest(word, known) == (f"; did you mean {meant}?" if meant else "")
    assert likeliest(word, known, []) == meant

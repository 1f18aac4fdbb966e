from __future__ import annotations

from typing import Any

import pytest

from polyrec.dialects import pbtxt, yaml
from polyrec.dialects.edits import Edit, apply, parse, parse_json
from polyrec.dialects.node import Node, Report
from polyrec.dialects.structure import bare
from polyrec.errors import ConfigError, Origin

EASYREC = """\
model_dir: "out"
train_config {
  num_steps: 100
  optimizer_config { adam_optimizer { lr: 0.1 } }
  sync: false
}
feature_config {
  features { feature_name: "f1" input_names: "x1" feature_type: IdFeature embedding_dim: 4 }
  features { feature_name: "f2" input_names: "x2" feature_type: RawFeature embedding_dim: 8 boundaries: [1.0, 2.0] }
  features { feature_name: "f3" input_names: "x3" feature_type: IdFeature embedding_dim: 16 }
}
data_config { label_fields: "clk" }
"""
TORCH = """\
feature_configs { id_feature { feature_name: "user" embedding_dim: 4 } }
feature_configs { raw_feature { feature_name: "price" boundaries: [1, 2] } }
feature_configs { sequence_feature { sequence_name: "clicks" features { id_feature { feature_name: "item" } } } }
"""


def edited(text: str, edits: dict[str, Any]) -> Node:
    node = pbtxt.parse(text, "f", Report())
    apply(
        node, [Edit(path, value) for path, value in edits.items()], {"feature_type": {1: "IdFeature", 2: "RawFeature"}}
    )
    return node


def problem(text: str, path: str, value: Any = 1) -> str:
    node = edited(text, {path: value})
    (found,) = node.report.problems
    assert found.origin == Origin("--edit", 1, 1)
    assert found.path == path
    return found.message


def dims(node: Node) -> list[int]:
    config = node.child("feature_config")
    assert config is not None
    return [feature.integer("embedding_dim").value for feature in config.children("features")]


@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("feature_config.features[0].embedding_dim", [1, 8, 16]),
        ("feature_config.features[-1].embedding_dim", [4, 8, 1]),
        ("feature_config.features[:].embedding_dim", [1, 1, 1]),
        ("feature_config.features[1:].embedding_dim", [4, 1, 1]),
        ("feature_config.features[:2].embedding_dim", [1, 1, 16]),
        ("feature_config.features[0:-2].embedding_dim", [1, 8, 16]),
        ("feature_config.features[feature_name=f2].embedding_dim", [4, 1, 16]),
        ("feature_config.features[feature_name='f2'].embedding_dim", [4, 1, 16]),
        ("feature_config.features[input_names[0]=x3].embedding_dim", [4, 8, 1]),
        ("feature_config.features[input_names[0]>=x2].embedding_dim", [4, 1, 1]),
        ("feature_config.features[embedding_dim>4].embedding_dim", [4, 1, 1]),
        ("feature_config.features[embedding_dim<=8].embedding_dim", [1, 1, 16]),
        ("feature_config.features[embedding_dim<8].embedding_dim", [1, 8, 16]),
        ("feature_config.features[feature_type=RawFeature].embedding_dim", [4, 1, 16]),
        ("feature_config.features[feature_type=1].embedding_dim", [1, 8, 1]),
    ],
)
def test_chooses_elements(path: str, after: list[int]) -> None:
    node = edited(EASYREC, {path: 1})
    assert node.report.problems == []
    assert dims(node) == after


@pytest.mark.parametrize(
    ("path", "value", "after"),
    [
        ("train_config.num_steps", 5, {"num_steps": 5}),
        ("train_config.num_steps", "5", {"num_steps": "5"}),
        ("train_config.new", "a=b", {"new": "a=b"}),
        ("train_config.sync", True, {"sync": True}),
        ("train_config.list", [4, 5, 6], {"list": [4, 5, 6]}),
        ("train_config.list", "[4,5,6]", {"list": [4, 5, 6]}),
        ("train_config.list", '["clk","buy"]', {"list": ["clk", "buy"]}),
        ("train_config.list", [], {"list": []}),
        ("train_config.made", "{}", {"made": {}}),
        ("train_config.made", {"a": {"b": [1, 2]}}, {"made": {"a": {"b": [1, 2]}}}),
        ("train_config.made", '{ a { b: [1, 2] } c: "x" }', {"made": {"a": {"b": [1, 2]}, "c": "x"}}),
        ("train_config.made.deep", 3, {"made": {"deep": 3}}),
        ("train_config.optimizer_config", "sgd { lr: 2 }", {"optimizer_config": {"sgd": {"lr": 2}}}),
        ("train_config.optimizer_config", "{sgd { lr: 2 }}", {"optimizer_config": {"sgd": {"lr": 2}}}),
        ("train_config.num_steps", None, {}),
    ],
)
def test_gives_values(path: str, value: Any, after: dict[str, Any]) -> None:
    node = edited(EASYREC, {path: value})
    assert node.report.problems == []
    before = bare(pbtxt.parse(EASYREC, "f", Report()))["train_config"]
    name = path.split(".")[1]
    before.pop(name, None)
    assert bare(node)["train_config"] == {**before, **after}


def test_a_text_becomes_what_the_reader_asks_for() -> None:
    node = edited("", {"a": "100", "b": "1e-3", "c": "True", "d": "1", "e": "100", "f": "inf"})
    assert node.integer("a").value == 100
    assert node.number("b").value == 0.001
    assert node.flag("c").value is True
    assert node.flag("d").value is True
    assert node.text("e").value == "100"
    assert node.number("f").value == float("inf")
    assert node.report.problems == []


def test_one_element_or_every_element_is_replaced() -> None:
    node = edited(EASYREC, {"feature_config.features[1].boundaries[1]": "21.0"})
    feature = node.children("feature_config")[0].children("features")[1]
    assert [value.value for value in feature.numbers("boundaries")] == [1, 21]
    node = edited(EASYREC, {"feature_config.features[1:]": "{ feature_name: 'new' }"})
    features = node.children("feature_config")[0].children("features")
    assert [feature.text("feature_name").value for feature in features] == ["f1", "new", "new"]


def _all(node: Node, name: str) -> list[Any]:
    return [bare(item) for item in node.ask(name)]


def test_looks_through_the_message_of_a_oneof() -> None:
    node = edited(
        TORCH,
        {
            "feature_configs[feature_name=user].embedding_dim": 9,
            "feature_configs[feature_name=price].raw_feature.boundaries": [7],
            "feature_configs[id_feature.feature_name=user].id_feature.x": 1,
            "feature_configs[sequence_name=clicks].features[feature_name=item].embedding_dim": 3,
        },
    )
    assert node.report.problems == []
    item = {"id_feature": {"feature_name": "item", "embedding_dim": 3}}
    assert _all(node, "feature_configs") == [
        {"id_feature": {"feature_name": "user", "embedding_dim": 9, "x": 1}},
        {"raw_feature": {"feature_name": "price", "boundaries": [7]}},
        {"sequence_feature": {"sequence_name": "clicks", "features": item}},
    ]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("feature_config.features[3].x", "there are 3 features; the last is features[2]"),
        ("feature_config.features[-4].x", "there are 3 features; the first is features[0]"),
        ("feature_config.features[7:].x", "[7:] chooses none of the 3 features"),
        ("feature_config.features[feature_name=f22].x", "no features has feature_name=f22; did you mean f2?"),
        ("feature_config.features[feature_nam=f1].x", "no features has a feature_nam; did you mean feature_name?"),
        ("feature_config.features[what].x", "[what] is not an index, a slice or a condition such as [name=value]"),
        ("feature_config.feature[0].x", "there is no feature; did you mean features?"),
        ("feature_config.features.x", "there are 3 features; choose with features[0] to [2]"),
        ("model_dir.x", "model_dir is a value and has no fields"),
        ("a..b", "an empty part is not a name or name[choice]"),
        ("a[0.b", "a[0 is not a name or name[choice]"),
    ],
)
def test_a_wrong_path_is_answered_with_a_right_one(path: str, message: str) -> None:
    assert problem(EASYREC, path) == message


def test_a_value_that_cannot_be_read_is_a_problem() -> None:
    message = problem(EASYREC, "train_config", "{ a: }")
    assert message == "its value { a: } cannot be read: needs a value"


def test_what_an_edit_made_stands_at_the_flag() -> None:
    node = edited(EASYREC, {"train_config.num_stepz": 1})
    train = node.children("train_config")[0]
    train.integer("num_steps")
    train.check_unread()
    assert "--edit:1:1: train_config.num_stepz: unknown field; did you mean num_steps?" in [
        str(found) for found in node.report.problems
    ]


def test_yaml_trees_are_edited_too() -> None:
    node = yaml.parse("runner:\n- {name: a, epochs: 1}\n- {name: b, epochs: 2}\nmode: [a, b]\n", "f", Report())
    apply(node, [Edit("runner[name=b].epochs", 7), Edit("mode", "b")])
    assert bare(node) == {"runner": [{"name": "a", "epochs": 1}, {"name": "b", "epochs": 7}], "mode": "b"}


def test_the_json_of_the_command_line() -> None:
    edits = parse_json(
        r'{"model_dir":"experiments/","feature_configs\[0\].raw_feature.boundaries":\[4,5,6,7\], "a": {}, "b": []}'
    )
    assert [(edit.path, edit.value) for edit in edits] == [
        ("model_dir", "experiments/"),
        ("feature_configs[0].raw_feature.boundaries", [4, 5, 6, 7]),
        ("a", {}),
        ("b", []),
    ]
    assert str(edits[0].origin) == "--edit_config_json:1:14"


def test_several_pairs_in_one() -> None:
    (first, second) = parse_json('{"a.x;a.y": "1;2"}')
    assert (first.path, first.value, second.path, second.value) == ("a.x", "1", "a.y", "2")
    (only,) = parse_json('{"model_dir": "a;b"}')
    assert only.value == "a;b"
    with pytest.raises(ConfigError, match="has 2 paths and 1 values"):
        parse_json('{"a;b": "1"}')


def test_bad_json_has_line_and_column() -> None:
    with pytest.raises(ConfigError, match=r"^--edit_config_json:1:7: needs a value, not x$"):
        parse_json('{"a": x}')


def test_pairs_of_the_command_line() -> None:
    words = ["--train_config.x=a=b", "--features[name=f].dim=3", "train_config.x=1", ' {"a.b": 1}']
    edits = [edit for word in words for edit in parse(word)]
    assert [(edit.path, edit.value, str(edit.origin)) for edit in edits] == [
        ("train_config.x", "a=b", "--train_config.x:1:1"),
        ("features[name=f].dim", "3", "--features[name=f].dim:1:1"),
        ("train_config.x", "1", "--edit train_config.x:1:1"),
        ("a.b", 1, "--edit_config_json:1:10"),
    ]
    with pytest.raises(ConfigError, match=r"^--edit_config_json:1:1: needs an object in braces, or path=value$"):
        parse("features[name=f].dim")

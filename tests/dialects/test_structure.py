from __future__ import annotations

from typing import Literal

import pytest
from pydantic import Field, model_validator

from polyrec.catalog import Frozen
from polyrec.dialects import pbtxt
from polyrec.dialects.node import Node, Report, Value
from polyrec.dialects.structure import Draft, assemble, build, message, origin_of
from polyrec.errors import Origin
from polyrec.families import InitConfig, OptimizerConfig
from polyrec.learning import Learning
from polyrec.parts import MLP


class Inner(Frozen):
    size: int = Field(gt=0)
    mode: Literal["sum", "mean"] = "sum"


class Outer(Frozen):
    name: str
    rates: tuple[float, ...] = ()
    inner: Inner | None = None
    many: tuple[Inner, ...] = ()
    init: InitConfig | None = None
    is_on: bool = False
    either: int | tuple[int, ...] = 0
    some: tuple[Inner, ...] = Field(default=(Inner(size=1),), min_length=1)

    @model_validator(mode="after")
    def _agrees(self) -> Outer:
        if self.name == "bad":
            raise ValueError("bad is no name")
        return self


def at(line: int) -> Origin:
    return Origin("f", line, 1)


def tree(text: str) -> Node:
    return pbtxt.parse(text, "f", Report())


def test_a_draft_becomes_data_and_places() -> None:
    draft = {
        "a": {"kind": Value("x", at(2)), "b": Value(1, at(3))},
        "c": [Value(1, at(4)), {"d": Value(2, at(5))}],
        "e": 1,
    }
    data, origins = assemble(draft, at(1))
    assert data == {"a": {"kind": "x", "b": 1}, "c": [1, {"d": 2}], "e": 1}
    assert {path: origin.line for path, origin in origins.items()} == {
        "": 1, "a": 2, "a.kind": 2, "a.b": 3, "c": 4, "c[0]": 4, "c[1]": 5, "c[1].d": 5,
    }  # fmt: skip
    assert origin_of(origins, "a.zz.y[3]") == at(2)
    assert origin_of(origins, "c[1].x") == at(5)


def test_the_place_of_a_container_may_be_given() -> None:
    draft = Draft(x=Value(1, at(9)))
    draft.origin = at(7)
    _, origins = assemble({"a": draft, "b": Value([], at(8))}, at(1))
    assert (origins["a"], origins["b"]) == (at(7), at(8))
    assert assemble({}, at(1))[1] == {"": at(1)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "f:1:1: name: is required"),
        ('name: "a"\nnam: 1', ""),
        ('name: "bad"', "f:1:1: bad is no name"),
        ('name: "a"\ninner { }', "f:2:1: inner.size: is required"),
        ('name: "a"\ninner { size: 0 }', "f:2:15: inner.size: needs more than 0"),
        ('name: "a"\nmany { size: 1 }\nmany {\n  size: -1 }', "f:4:9: many[1].size: needs more than 0"),
        ('name: "a"\ninit { normal { } }', "f:2:8: init.std: is required"),
    ],
)
def test_errors_of_validation_have_a_place(text: str, found: str) -> None:
    node = tree(text)
    result = build(Outer, message(node, Outer), node.report)
    assert "\n".join(str(problem) for problem in node.report.problems) == found
    assert (result is None) == bool(found)


@pytest.mark.parametrize(
    ("draft", "found"),
    [
        ({"name": "a", "rate": Value(1, at(2))}, "f:2:1: rate: unknown field; did you mean rates?"),
        ({"name": Value(1, at(2))}, "f:2:1: name: needs a text, not 1"),
        ({"name": "a", "rates": [1, Value("x", at(3))]}, 'f:3:1: rates[1]: needs a number, not "x"'),
        ({"name": "a", "is_on": Value(3, at(2))}, "f:2:1: is_on: needs true or false, not 3"),
        (
            {"name": "a", "inner": {"size": 1, "mode": Value("maen", at(4))}},
            "f:4:1: inner.mode: maen is not supported; did you mean mean?; known: sum, mean",
        ),
        (
            {"name": "a", "inner": {"size": 1, "mod": Value("x", at(4))}},
            "f:4:1: inner.mod: unknown field; did you mean mode?",
        ),
        ({"name": "a", "inner": Value(4, at(5))}, "f:5:1: inner: needs fields, not 4"),
        ({"name": "a", "many": Value(4, at(5))}, "f:5:1: many: needs a list, not 4"),
        (
            {"name": "a", "init": {"kind": "normal", "std": 1, "maen": Value(1, at(6))}},
            "f:6:1: init.maen: unknown field; did you mean mean?",
        ),
        ({"name": "a", "init": {"kind": "normal", "std": Value(-1, at(6))}}, "f:6:1: init.std: needs at least 0"),
        ({"name": "a", "some": Value([], at(7))}, "f:7:1: some: needs 1 or more, not 0"),
        ({"name": "a", "some": Value([{"size": Value(0, at(8))}], at(7))}, "f:8:1: some[0].size: needs more than 0"),
    ],
)
def test_errors_are_in_our_words(draft: dict[str, object], found: str) -> None:
    report = Report()
    assert build(Outer, draft, report, at(1)) is None
    assert [str(problem) for problem in report.problems] == [found]


def test_an_unknown_kind_is_answered_with_the_nearest() -> None:
    report = Report()
    build(Outer, {"name": "a", "init": {"kind": Value("nromal", at(2))}}, report, at(1))
    assert str(report.problems[0]).startswith("f:2:1: init.kind: nromal is not known; did you mean normal?; known: ")


def test_a_union_is_told_once_for_each_branch_without_its_tags() -> None:
    report = Report()
    build(Outer, {"name": "a", "either": Value("x", at(2))}, report, at(1))
    assert {problem.path for problem in report.problems} == {"either"}


def test_a_stand_in_is_not_told_of_twice() -> None:
    node = tree('name: "a" inner { size: "x" }')
    draft = message(node, Outer)
    draft["inner"]["size"] = Value(0, draft["inner"]["size"].origin)
    build(Outer, draft, node.report)
    assert [problem.message for problem in node.report.problems] == ['needs a whole number, not "x"']


def test_a_message_is_read_by_the_types_of_the_fields() -> None:
    node = tree(
        'name: "a" rates: 1 rates: [2, 3.5] inner { size: 3 mode: mean } many { size: 1 } many { size: 2 }'
        " init { truncated_normal { std: 0.5 } } is_on: true either: [1, 2]"
    )
    found = build(Outer, message(node, Outer), node.report)
    node.check_unread()
    assert node.report.problems == []
    assert found is not None
    assert found.rates == (1.0, 2.0, 3.5)
    assert found.inner == Inner(size=3, mode="mean")
    assert [item.size for item in found.many] == [1, 2]
    assert found.init is not None
    assert found.init.kind == "truncated_normal"
    assert found.is_on
    assert found.either == (1, 2)


def test_a_component_by_kind_and_by_old_names() -> None:
    node = tree("sgd_optimizer { learning_rate: 0.5 }")
    draft = message(node, OptimizerConfig, {"sgd_optimizer": "sgd", "learning_rate": "lr"})
    assert (draft["kind"].value, draft["lr"].value, draft.origin) == ("sgd", 0.5, Origin("f", 1, 1))
    node = tree('kind: "sgd" lr: 0.5')
    draft = message(node, OptimizerConfig)
    assert (draft["kind"].value, draft["lr"].value) == ("sgd", 0.5)


def test_an_unknown_component_is_answered_with_the_nearest() -> None:
    node = tree("sdg { lr: 0.5 }")
    draft = {"optimizer": message(node, OptimizerConfig), "schedule": {"kind": "constant"}}
    node.check_unread()
    build(Learning, draft, node.report)
    unknown, missing = [str(problem) for problem in node.report.problems]
    assert unknown == "f:1:1: sdg: unknown field; did you mean sgd?"
    assert missing.startswith("f:1:1: optimizer.kind: needs one of ad")


def test_a_class_of_polyrec_itself() -> None:
    node = tree("hidden: [8, 4] activation: relu dropout: 0.5 norm { kind: batch } kernel { linear {} }")
    mlp = build(MLP, message(node, MLP), node.report)
    node.check_unread()
    assert node.report.problems == []
    assert mlp is not None
    assert (mlp.hidden, mlp.dropout, mlp.norm is not None, mlp.kernel.kind) == ((8, 4), (0.5,), True, "linear")

"""Ways to read fields as PaddleRec's YAML has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from polyrec.dialects.node import Node, Value
from polyrec.errors import Problem, nearest

T = TypeVar("T")


def no_lists(node: Node, *except_for: str) -> None:
    """Report fields given as a list where one value is needed."""
    for name, origin in node.lists.items():
        if name not in except_for:
            node.report.problem(origin, node.at(name), "needs one value, not a list")


def one_of(node: Node, name: str, choices: Mapping[str, T], default: str | None = None) -> Value[T]:
    """A word from a closed list; upper and lower case are the same, and errors write it as the list does."""
    value = node.text(name) if default is None else node.text(name, default)
    for word, meaning in choices.items():
        if word.lower() == value.value.lower():
            return Value(meaning, value.origin)
    if value.value:
        known = ", ".join(choices)
        node.ask(name)[-1].wrong(f"{value.value} is not supported{nearest(value.value, choices)}; known: {known}")
    return Value(next(iter(choices.values())), value.origin)


def above_zero(node: Node, name: str, value: Value[int]) -> Value[int]:
    if value.value <= 0 and node.has(name):
        node.ask(name)[-1].wrong(f"needs a number above 0, not {value.value}")
        return Value(1, value.origin)
    return value


def note(node: Node, message: str) -> None:
    found = Problem(node.origin, node.path, message)
    if found not in node.report.notes:
        node.report.notes.append(found)

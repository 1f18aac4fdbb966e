"""A formula as a tree, and as the steps that compute it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constant:
    value: float
    column: int


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    column: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator of its arguments."""

    function: str
    arguments: tuple[Node, ...]
    column: int


Node = Constant | Variable | Call


def steps(tree: Node) -> Iterator[Node]:
    """Every node after its arguments; needs no recursion, so that a sum of thousands is no matter."""
    left: list[tuple[Node, bool]] = [(tree, False)]
    while left:
        node, is_ready = left.pop()
        if is_ready or not isinstance(node, Call):
            yield node
            continue
        left.append((node, True))
        left += [(argument, False) for argument in reversed(node.arguments)]

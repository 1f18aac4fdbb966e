"""What is common to features of all types: where a feature is read from, and what the groups need to know of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from polyrec.dialects.easyrec.data import DataSection
from polyrec.dialects.fields import is_known, positive, text_or_none
from polyrec.dialects.node import Node, Value

POOLINGS = {"sum": "sum", "mean": "mean", "sqrtn": "sqrtn"}
GLOROT = 0.87962566103423978
"""Standard deviation of a normal distribution that is cut at two of its own."""


@dataclass(frozen=True)
class Source:
    """A message of a feature, and what it is read with."""

    node: Node
    name: Value[str]
    columns: list[Value[str]]
    data: DataSection
    ev_params: Node | None
    """Those of the model, for features without their own."""

    def derived_name(self, what: str) -> str:
        """The name of a column that is made for this feature alone."""
        return f"{self.name.value}/{what}"

    def columns_of(self, least: int, most: int | None, words: str) -> list[Value[str]]:
        """The columns; a problem when there are too few or too many, and a stand-in for each that is missing."""
        given = self.columns
        if not least <= len(given) <= (most or len(given)):
            origin = given[most].origin if most is not None and len(given) > most else self.node.origin
            if self.node.ask("input_names"):
                self.node.report.problem(origin, self.node.at("input_names"), f"this type of feature reads {words}")
        return [*given, *[Value("", self.node.origin)] * (least - len(given))]

    def is_number(self, column: Value[str]) -> bool:
        """Whether a column was declared as one of numbers that are not whole."""
        return self.data.fields.get(column.value) in ("float", "double")

    def ignore_rest(self, fields: Iterable[str], kind: str) -> None:
        """The fields that nothing has asked for do not concern this type."""
        self.node.ignore({name: f"{kind} does not use it" for name in fields if name not in self.node.known})


@dataclass(frozen=True)
class Feature:
    """A feature of the core, and what the groups need to know of it."""

    name: Value[str]
    draft: dict[str, Any] | None
    """None for one that groups cannot take."""
    width: int
    """Numbers per row or position; 0 for ids."""
    rows: Value[int] | None = None
    """Rows of a table of its ids, None for numbers."""
    embedding_dim: Value[int] | None = None
    """None for numbers that are handed on as they are."""
    embedding_name: Value[str] | None = None
    pooling: Value[str] | None = None
    init: dict[str, Any] | None = None
    """None for the default, which depends on the width."""
    collisions: dict[str, Any] | None = None
    is_sequence: bool = False
    reading: dict[str, Any] | None = None
    """For a sequence: the encoder that a flat group reads it by."""
    derived: tuple[dict[str, Any], ...] = ()
    """Columns that are made for it."""

    @property
    def has_table(self) -> bool:
        return self.rows is not None


def columns_of(node: Node, data: DataSection) -> list[Value[str]]:
    """The columns that a message names, those that are not there told."""
    columns = node.texts("input_names")
    if not columns and not node.ask("input_names"):
        node.report.problem(node.origin, node.at("input_names"), "is required")
    if data.fields:
        for column in columns:
            is_known(node, "input_names", column, data.fields, "input field")
    return columns


def embedding(node: Node, pools: bool = True) -> dict[str, Any]:
    """How the ids of a feature, or its numbers, become vectors; without `pools`, `combiner` means something else."""
    return {
        "embedding_dim": positive(node, "embedding_dim", 0),
        "embedding_name": text_or_none(node, "embedding_name"),
        "pooling": node.choice("combiner", POOLINGS, "sum") if pools else Value("sum", node.origin),
        "init": _init(node),
    }


def _init(node: Node) -> dict[str, Any] | None:
    message = node.child("initializer")
    if message is None:
        return None
    known = (
        "truncated_normal_initializer",
        "random_normal_initializer",
        "glorot_normal_initializer",
        "constant_initializer",
    )
    kind = message.one_of(known)
    found = message.child(kind) if kind else None
    if found is None or kind is None:
        message.wrong(f"is empty; available: {', '.join(known)}")
        return None
    if kind == "glorot_normal_initializer":
        return {"kind": "glorot_normal"}
    if kind == "constant_initializer":
        values = found.numbers("consts")
        if len({value.value for value in values}) != 1:
            found.wrong("needs one number in consts: tables are filled in blocks of rows, which all start alike")
            return None
        return {"kind": "constant", "value": values[0]}
    mean, std = found.number("mean", 0.0), found.number("stddev", 1.0)
    return {"kind": "truncated_normal" if kind == known[0] else "normal", "mean": mean, "std": std}


def start(feature: Feature, rows: int, width: int) -> dict[str, Any]:
    """How a weight of this shape starts; a width below 1 is a problem of its own, and has no root."""
    if feature.init is None:
        return {"kind": "truncated_normal", "mean": 0.0, "std": 0.01 * max(width, 1) ** -0.5}
    if feature.init["kind"] == "glorot_normal":
        std = (2 / max(rows + width, 1)) ** 0.5 / GLOROT
        return {"kind": "truncated_normal", "mean": 0.0, "std": std}
    return feature.init

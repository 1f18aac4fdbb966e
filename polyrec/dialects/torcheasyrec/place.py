"""A feature that is being read: its message, its name, the columns it reads and those that are made for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from polyrec.dialects.fields import is_known, mapped
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.data import DataSection
from polyrec.errors import nearest

SIDES = ("user", "item", "context", "feature", "const")
ONE_INPUT = ("id_feature", "raw_feature", "combine_feature", "tokenize_feature")
"""Kinds whose single input is a sequence when the feature is one; of several inputs those of side `item` are."""

Draft = dict[str, Any]


@dataclass(frozen=True)
class Positions:
    """What is common to the sequences of a group, or what a single sequence feature says of itself."""

    prefix: str
    delimiter: Value[str] | None
    length: Value[int] | Value[None]


@dataclass(frozen=True)
class Input:
    """One input such as `user:age`."""

    name: str
    """What follows the side, by which formulas call it."""
    column: Value[str]
    is_sequence: bool


@dataclass(frozen=True)
class Made:
    """A column that holds a feature's values, before they become ids or are scaled."""

    column: Value[str]
    separator: Value[str] | None = None
    """Stands between the values of a text, of a row or of a position; None when a text is one value."""
    is_made: bool = False
    """Whether an operator made it, so that the positions of a sequence are elements of a list."""
    is_text: bool = False
    """Whether its values are no numbers, though other features of the kind have numbers."""


@dataclass
class Derived:
    """Derived columns of the config, by name."""

    drafts: dict[str, Draft] = field(default_factory=dict)
    wanted: dict[str, tuple[Node, str, Value[str], str]] = field(default_factory=dict)
    """Columns that hold the values of features: where each was asked for first, and in which group of sequences."""

    def add(self, name: Value[str], operator: Draft, each: Draft | None = None) -> Value[str]:
        self.drafts.setdefault(name.value, {"name": name, "operator": operator, "each_position": each})
        return name

    def constant(self, value: Value[str]) -> Value[str]:
        return self.add(mapped(value, lambda text: f"const:{text}"), {"kind": "constant", "value": value})


@dataclass(frozen=True)
class Place:
    node: Node
    kind: str
    """Name of its message, without `sequence_`."""
    name: Value[str]
    data: DataSection
    positions: Positions | None
    """None for a feature of whole rows."""
    derived: Derived
    scheme: str | None = None
    """The field that says how its values become ids; None for numbers."""

    @property
    def is_sequence(self) -> bool:
        return self.positions is not None

    # -- what it reads

    def input(self, field: str) -> Input:
        return self._input(field, self.node.text(field))

    def inputs(self, field: str) -> list[Input]:
        if not self.node.ask(field):
            self.node.report.problem(self.node.origin, self.node.at(field), "is required")
        return [self._input(field, text) for text in self.node.texts(field)]

    def _input(self, field: str, text: Value[str]) -> Input:
        side, colon, name = text.value.partition(":")
        if not text.value:
            # The problem is told already.
            return Input("", text, self.is_sequence)
        if side not in SIDES or not colon or not name:
            hint = nearest(side, SIDES) if colon else f"; did you mean user:{text.value}?"
            message = f"{text.value} is no input such as user:age{hint}"
            self.node.report.problem(text.origin, self.node.at(field), message)
        is_sequence = self._is_sequence(side, text.value, name)
        prefix = self.positions.prefix if self.positions else ""
        if side == "const":
            return Input(name, self.derived.constant(Value(name, text.origin)), is_sequence=False)
        if side == "feature":
            self.derived.wanted.setdefault(text.value, (self.node, field, Value(name, text.origin), prefix))
            return Input(name, text, is_sequence)
        return Input(name, Value(prefix + name if is_sequence else name, text.origin), is_sequence)

    def _is_sequence(self, side: str, text: str, name: str) -> bool:
        if self.positions is None or side == "const":
            return False
        fields = {value.value for value in self.node.texts("sequence_fields")}
        if fields:
            return bool(fields & {text, name})
        return side != "feature" if self.kind in ONE_INPUT else side == "item"

    def check_sequence_fields(self, inputs: Iterable[Input]) -> None:
        """Each of `sequence_fields` has to be an input."""
        inputs = list(inputs)
        names = {item.name for item in inputs}
        for value in self.node.texts("sequence_fields") if self.positions else ():
            plain = value.value.partition(":")[2] or value.value
            is_known(self.node, "sequence_fields", replace(value, value=plain), names, "input")

    # -- what is made for it

    def make(self, operator: Draft, inputs: Sequence[Input], part: str = "") -> Made:
        """A column that an operator makes of inputs, position by position in a sequence."""
        self.check_sequence_fields(inputs)
        name = Value(f"made:{self.name.value}{part}", self.name.origin)
        if self.positions is None:
            return Made(self.derived.add(name, operator), is_made=True)
        columns = {item.column.value: item.column for item in inputs if item.is_sequence}
        if not columns and all(item.name for item in inputs):
            message = "none of its inputs is a sequence; name those that are in sequence_fields"
            self.node.report.problem(self.name.origin, self.node.path, message)
        each = self.each(list(columns.values()))
        return Made(self.derived.add(name, operator, each), is_made=True)

    def then(self, made: Made, operator: Draft, name: str) -> Made:
        """A column that an operator makes of one that is there already."""
        operator = {**operator, "separator": made.separator}
        each = None if self.positions is None else self.each([made.column])
        return Made(self.derived.add(Value(name, self.name.origin), operator, each), is_made=True)

    def each(self, columns: list[Value[str]]) -> Draft:
        assert self.positions is not None
        return {"columns": columns, "separator": self.positions.delimiter, "max_length": self.positions.length}

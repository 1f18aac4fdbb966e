"""`feature_groups`: features side by side, and the tables that each group looks up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polyrec.dialects.fields import is_known, mapped, text_or_none, unique
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.encoders import read_encoders
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.readout import Feature
from polyrec.dialects.torcheasyrec.values import default_init

GROUP_TYPES = {"DEEP": "DEEP", "WIDE": "WIDE", "SEQUENCE": "SEQUENCE"}
GROUP_NUMBERS = {0: "DEEP", 1: "WIDE", 2: "SEQUENCE"}


@dataclass(frozen=True)
class Wide:
    """What the model says of the tables of a WIDE group."""

    width: Value[int]
    init: dict[str, Any] | None


@dataclass(frozen=True)
class Member:
    feature: Feature
    width: int


@dataclass
class Group:
    name: Value[str]
    kind: str
    node: Node
    is_whole: bool = True
    """Whether all its features are known."""
    members: list[Member] = field(default_factory=list)
    inputs: list[dict[str, Any]] = field(default_factory=list)
    sequences: list[Group] = field(default_factory=list)
    """Groups of sequences within it, which its encoders read."""
    readings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def longest(self) -> int | None:
        """Positions that its sequences have at most; None for any number."""
        limits = [member.feature.draft["max_length"].value for member in self.members if member.feature.is_sequence]
        return max(limits, default=0) if None not in limits else None

    def width(self, of_sequences: bool) -> int:
        return sum(member.width for member in self.members if member.feature.is_sequence == of_sequences)


@dataclass
class Tables:
    """Tables by name; features that share one must agree on it."""

    drafts: dict[str, dict[str, Any]] = field(default_factory=dict)
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What the names were made of."""

    def add(self, node: Node, name: str, feature: Feature, width: Value[int], init: dict[str, Any] | None) -> str:
        table = feature.table
        assert table is not None
        draft = {
            "name": name,
            "rows": table.rows,
            "width": width,
            "init": init or default_init(table.rows),
            "trainable": table.trainable,
            "precision": table.precision,
            "collisions": table.collisions,
        }
        first = self.drafts.setdefault(name, draft)
        for what in ("rows", "width", "init", "trainable", "precision", "collisions"):
            before, now = _plain(first[what]), _plain(draft[what])
            if before != now:
                message = f"shares the table {name} with another feature, but its {what} is {now}, not {before}"
                origin = draft[what].origin if isinstance(draft[what], Value) else feature.name.origin
                node.report.problem(origin, f"feature {feature.name.value}", message)
        return name


def _plain(value: Any) -> Any:
    if isinstance(value, Value):
        return value.value
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def read_groups(model: Node, features: Mapping[str, Feature], wide: Wide | None) -> tuple[dict[str, Group], Tables]:
    """Groups by name, in the order of the text, and all their tables."""
    groups: dict[str, Group] = {}
    tables = Tables()
    seen: dict[str, Value[str]] = {}
    for node in model.children("feature_groups"):
        UNUSED.settle(node)
        group = Group(
            node.text("group_name"), node.choice("group_type", GROUP_TYPES, numbers=GROUP_NUMBERS).value, node
        )
        suffix = text_or_none(node, "embedding_name_suffix")
        names = node.texts("feature_names")
        if not node.ask("feature_names"):
            node.report.problem(node.origin, node.at("feature_names"), "is required")
        if node.has("group_type") and node.ask("group_type")[-1].scalar not in (*GROUP_TYPES, *GROUP_NUMBERS):
            # The problem is told already; what the features are says what was meant.
            sequences = [name.value in features and features[name.value].is_sequence for name in names]
            group.kind = "SEQUENCE" if any(sequences) else "DEEP"
        if group.kind == "WIDE" and wide is None:
            node.report.problem(
                group.name.origin, node.at("group_type"), "only deepfm, wide_and_deep and xdeepfm take a WIDE group"
            )
        _fill(group, names, features, tables, (suffix, wide))
        _read_sequences(group, features, tables, seen)
        if unique(node, "group_name", group.name, seen):
            groups[group.name.value] = group
    if not model.ask("feature_groups"):
        model.report.problem(model.origin, model.at("feature_groups"), "is required")
    return groups, tables


Naming = tuple[Value[str] | None, Wide | None]
"""A suffix of tables' names, and what the model says of wide ones."""


def _fill(
    group: Group, names: list[Value[str]], features: Mapping[str, Feature], tables: Tables, naming: Naming
) -> None:
    for name in names:
        if not is_known(group.node, "feature_names", name, features, "feature"):
            group.is_whole = False
        else:
            _add(group, name, features[name.value], tables, naming)


def _read_sequences(outer: Group, features: Mapping[str, Feature], tables: Tables, seen: dict[str, Value[str]]) -> None:
    """Groups of sequences within a group; a single one need not have a name."""
    nodes = outer.node.children("sequence_groups")
    names: dict[str, Value[str]] = {}
    for node in nodes:
        own = outer.name if len(nodes) == 1 and not node.has("group_name") else node.text("group_name")
        # Groups have names of their own here.
        whole = mapped(own, lambda name: f"{name}_sequence" if name == outer.name.value else name)
        names[own.value] = whole
        group = Group(whole, "SEQUENCE", node)
        if not node.ask("feature_names"):
            node.report.problem(node.origin, node.at("feature_names"), "is required")
        naming = (text_or_none(node, "embedding_name_suffix"), None)
        _fill(group, node.texts("feature_names"), features, tables, naming)
        if unique(node, "group_name", whole, seen):
            outer.sequences.append(group)
    if (nodes or outer.node.ask("sequence_encoders")) and outer.kind != "DEEP":
        outer.node.report.problem(outer.name.origin, outer.node.at("sequence_groups"), "only a DEEP group has them")
    lengths = {group.name.value: group.longest for group in outer.sequences}
    outer.readings = read_encoders(outer.node, names, lengths)


def _add(group: Group, name: Value[str], feature: Feature, tables: Tables, naming: Naming) -> None:
    """One feature of a group, and its table when it is one of ids."""
    suffix, wide = naming
    report, path = group.node.report, group.node.at("feature_names")
    if feature.is_sequence and group.kind != "SEQUENCE":
        message = f"{name.value} is a sequence; put it into a group of group_type SEQUENCE"
        report.problem(name.origin, path, message)
        return
    if group.kind == "WIDE" and feature.table is None:
        report.problem(name.origin, path, f"{name.value} holds numbers; give it boundaries")
        return
    width = Value(feature.width, name.origin)
    draft: dict[str, Any] = {"feature": name, "table": None, "pooling": "sum"}
    if feature.table is not None:
        table = feature.table.name.value + (f"_{suffix.value}" if suffix else "")
        width, init = feature.table.width, feature.table.init
        if group.kind == "WIDE" and wide is not None:
            table, width, init = f"{table}_wide", wide.width, wide.init
        elif group.kind == "SEQUENCE":
            # Upstream keeps the tables of sequence groups apart from those of other groups, and apart by width.
            table = f"{table}_seq{width.value}"
        parts = (feature.table.name.value, suffix.value if suffix else "", group.kind)
        if tables.parts.setdefault(table, parts) != parts:
            other = " and ".join(filter(None, tables.parts[table][:2]))
            message = f"the table of {name.value} is called {table}, as one made of {other} is; rename one of them"
            report.problem(name.origin, path, message)
        tables.add(group.node, table, feature, width, init)
        draft.update(table=Value(table, name.origin), pooling=feature.table.pooling)
    elif feature.layers is not None:
        width = feature.layers["width"]
        draft["embedding"] = feature.layers
    group.inputs.append(draft)
    group.members.append(Member(feature, width.value))


def group_drafts(groups: Mapping[str, Group]) -> list[dict[str, Any]]:
    every = [part for group in groups.values() for part in (group, *group.sequences)]
    return [
        {
            "name": group.name,
            "kind": "sequence" if group.kind == "SEQUENCE" else "flat",
            "inputs": group.inputs,
            "readings": group.readings,
        }
        for group in every
        if group.inputs
    ]

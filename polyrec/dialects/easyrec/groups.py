"""`feature_groups`: features side by side; each group has tables of its own, unless features share one by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polyrec.dialects.easyrec.features import Feature
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.fields import is_known, mapped, unique
from polyrec.dialects.node import Node, Value

GROUP_TYPES = {"DEEP": "DEEP", "WIDE": "WIDE"}
GROUP_NUMBERS = {0: "DEEP", 1: "WIDE"}


@dataclass
class Group:
    name: Value[str]
    kind: str
    node: Node
    members: list[tuple[Feature, int]] = field(default_factory=list)
    """Features and how wide each is in this group."""
    inputs: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Groups:
    by_name: dict[str, Group] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)

    def drafts(self) -> list[dict[str, Any]]:
        return [
            {"name": group.name, "kind": "flat", "inputs": group.inputs}
            for group in self.by_name.values()
            if group.inputs
        ]


def read_groups(model: Node, features: Mapping[str, Feature], wide_width: Value[int] | None) -> Groups:
    groups = Groups()
    seen: dict[str, Value[str]] = {}
    uses = Counter(feature.embedding_name.value for feature in features.values() if feature.embedding_name)
    shared = {name for name, number in uses.items() if number > 1}
    for node in model.children("feature_groups"):
        UNUSED.settle(node)
        group = Group(node.text("group_name"), node.choice("wide_deep", GROUP_TYPES, "DEEP", GROUP_NUMBERS).value, node)
        names = node.texts("feature_names")
        if not node.ask("feature_names"):
            node.report.problem(node.origin, node.at("feature_names"), "is required")
        if node.has("wide_deep") and node.ask("wide_deep")[-1].scalar not in (*GROUP_TYPES, *GROUP_NUMBERS):
            # The problem is told already; the name says what was meant.
            group.kind = "WIDE" if group.name.value == "wide" else "DEEP"
        if group.kind == "WIDE" and wide_width is None:
            node.report.problem(group.name.origin, node.at("wide_deep"), "only DeepFM takes a WIDE group")
        for name in names:
            if is_known(node, "feature_names", name, features, "feature"):
                _add(groups, group, name, features[name.value], (shared, wide_width))
        if unique(node, "group_name", group.name, seen):
            groups.by_name[group.name.value] = group
    if not model.ask("feature_groups"):
        model.report.problem(model.origin, model.at("feature_groups"), "is required")
    return groups


def _add(
    groups: Groups, group: Group, name: Value[str], feature: Feature, naming: tuple[set[str], Value[int] | None]
) -> None:
    """One feature of a group, and its table when it is one of ids."""
    shared, wide_width = naming
    report, path = group.node.report, group.node.at("feature_names")
    draft: dict[str, Any] = {"feature": name, "table": None, "pooling": "sum"}
    width = Value(feature.width, name.origin)
    if group.kind == "WIDE" and feature.rows is None:
        return report.problem(name.origin, path, f"{name.value} holds numbers; give it boundaries")
    if feature.rows is not None and feature.embedding_dim is not None:
        width = wide_width if group.kind == "WIDE" and wide_width is not None else feature.embedding_dim
        if width.value == 0:
            message = f"{feature.name.value} is in the group {group.name.value} and needs embedding_dim"
            return report.problem(feature.embedding_dim.origin, f"feature {feature.name.value}", message)
        table = f"{group.name.value}/{name.value}"
        if feature.embedding_name and feature.embedding_name.value in shared:
            table = feature.embedding_name.value
        table += "_wide" if group.kind == "WIDE" else ""
        _share(groups, group.node, feature, table, width)
        # The ids of a wide group are always summed.
        pooling = Value("sum", name.origin) if group.kind == "WIDE" else feature.pooling
        draft.update(table=Value(table, name.origin), pooling=pooling)
    group.inputs.append(draft)
    group.members.append((feature, width.value))
    return None


def _share(groups: Groups, node: Node, feature: Feature, table: str, width: Value[int]) -> None:
    """A table, new or known; features that share one must agree on it."""
    assert feature.rows is not None
    # A width below 1 is a problem of its own, and has no root.
    std = mapped(width, lambda number: 0.01 * max(number, 1) ** -0.5)
    init = feature.init or {"kind": "truncated_normal", "mean": 0.0, "std": std}
    draft = {"name": table, "rows": feature.rows, "width": width, "init": init, "trainable": True}
    first = groups.tables.setdefault(table, draft)
    for what in ("rows", "width", "init"):
        before, now = _plain(first[what]), _plain(draft[what])
        if before != now:
            message = f"shares the table {table} with another feature, but its {what} is {now}, not {before}"
            origin = draft[what].origin if isinstance(draft[what], Value) else feature.name.origin
            node.report.problem(origin, f"feature {feature.name.value}", message)


def _plain(value: Any) -> Any:
    if isinstance(value, Value):
        return value.value
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value

"""`feature_groups`: features side by side; each group has tables of its own, unless features share one by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polyrec.dialects.easyrec.attention import Attended, read_attended, read_encoder
from polyrec.dialects.easyrec.data import DataSection
from polyrec.dialects.easyrec.feature import Feature
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.easyrec.sequences import width_of
from polyrec.dialects.easyrec.tables import Place, Tables
from polyrec.dialects.fields import is_known, unique
from polyrec.dialects.node import Node, Value

GROUP_TYPES = {"DEEP": "DEEP", "WIDE": "WIDE"}
GROUP_NUMBERS = {0: "DEEP", 1: "WIDE"}


@dataclass
class Group:
    name: Value[str]
    kind: str
    node: Node
    members: list[tuple[str, int]] = field(default_factory=list)
    """Names of what it holds and how wide each is in this group."""
    inputs: list[dict[str, Any]] = field(default_factory=list)
    readings: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {"combined": [], "attended": []})
    """Those of single sequences, by the features' names, and those beside keys, which come after."""

    def draft(self) -> dict[str, Any]:
        readings = [*self.readings["combined"], *self.readings["attended"]]
        found = {"name": self.name, "kind": "flat", "inputs": self.inputs}
        return {**found, "readings": readings} if readings else found


@dataclass
class Groups:
    features: Mapping[str, Feature]
    tables: Tables
    by_name: dict[str, Group] = field(default_factory=dict)
    sequences: dict[str, Attended] = field(default_factory=dict)
    """Sequence groups that a model reads itself."""
    read: list[dict[str, Any]] = field(default_factory=list)
    """Sequence groups that other groups read."""

    def drafts(self) -> list[dict[str, Any]]:
        flat = [group.draft() for group in self.by_name.values() if group.members]
        own = [attended.draft() for attended in self.sequences.values() if attended.inputs]
        return [*flat, *self.read, *own]


def read_groups(
    model: Node, features: Mapping[str, Feature], data: DataSection, wide_width: Value[int] | None
) -> Groups:
    groups = Groups(features, Tables.of(features.values()))
    seen: dict[str, Value[str]] = {}
    for node in model.children("feature_groups"):
        group = _group(groups, node, data, wide_width)
        if unique(node, "group_name", group.name, seen):
            groups.by_name[group.name.value] = group
    if not model.ask("feature_groups"):
        model.report.problem(model.origin, model.at("feature_groups"), "is required")
    for node in model.children("seq_att_groups"):
        attended = read_attended(node, "", features, groups.tables)
        reason = "the layers of the model's din_towers read this group"
        unread = ("seq_dnn", "need_key_feature", "allow_key_transform", "transform_dnn")
        node.ignore({name: reason for name in unread})
        if unique(node, "group_name", attended.name, seen):
            groups.sequences[attended.name.value] = attended
    return groups


def _group(groups: Groups, node: Node, data: DataSection, wide_width: Value[int] | None) -> Group:
    UNUSED.settle(node)
    group = Group(node.text("group_name"), node.choice("wide_deep", GROUP_TYPES, "DEEP", GROUP_NUMBERS).value, node)
    names = data.expanded(node.texts("feature_names"))
    attended = node.children("sequence_features")
    if not node.ask("feature_names") and not attended:
        node.report.problem(node.origin, node.at("feature_names"), "is required")
    if node.has("wide_deep") and node.ask("wide_deep")[-1].scalar not in (*GROUP_TYPES, *GROUP_NUMBERS):
        # The problem is told already; the name says what was meant.
        group.kind = "WIDE" if group.name.value == "wide" else "DEEP"
    if group.kind == "WIDE" and wide_width is None:
        node.report.problem(group.name.origin, node.at("wide_deep"), "only DeepFM takes a WIDE group")
    wide = wide_width if group.kind == "WIDE" else None
    for name in names:
        if is_known(node, "feature_names", name, groups.features, "feature"):
            _add(groups, group, name, wide)
    group.readings["combined"].sort(key=lambda reading: reading["group"])
    for message in attended:
        if group.kind == "WIDE":
            message.wrong("a WIDE group reads no sequences")
        found = read_attended(message, group.name.value, groups.features, groups.tables)
        encoder, width = read_encoder(message, found)
        if found.inputs:
            groups.read.append(found.draft())
            group.readings["attended"].append({"group": found.name, "encoder": encoder})
            group.members.append((found.name.value, width))
    return group


def _add(groups: Groups, group: Group, name: Value[str], wide: Value[int] | None) -> None:
    """One feature of a group; a sequence becomes a group of its own, which this one reads."""
    feature = groups.features[name.value]
    place = Place(group.node, "feature_names", group.name.value, wide)
    if feature.is_sequence and wide is not None:
        return place.problem(name, f"{name.value} is a sequence, which a WIDE group does not take")
    if feature.is_sequence and feature.reading is None:
        message = f"{name.value} is a sequence; give it a sequence_combiner, put it into sequence_features, "
        return place.problem(name, message + "or make it a TagFeature")
    found = groups.tables.take(place, name, feature)
    if found is None:
        return None
    draft, width = found
    if feature.reading is None:
        group.inputs.append(draft)
        group.members.append((name.value, width))
        return None
    sequence = f"{group.name.value}/{name.value}"
    groups.read.append({"name": Value(sequence, name.origin), "kind": "sequence", "inputs": [draft]})
    group.readings["combined"].append({"group": sequence, "encoder": feature.reading})
    group.members.append((name.value, width_of(feature.reading, width)))
    return None

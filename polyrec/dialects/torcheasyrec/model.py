"""`model_config`: the network, its groups, and the task it learns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polyrec.dialects.fields import first_unknown, has_unknown, is_known
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.data import DataSection
from polyrec.dialects.torcheasyrec.groups import Group, Tables, Wide, group_drafts, read_groups
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.judging import read_losses, read_metrics, read_train_metrics
from polyrec.dialects.torcheasyrec.layers import HEAD, LINEAR, mlp, required_mlp
from polyrec.dialects.torcheasyrec.multi import MULTI, tower_tasks
from polyrec.dialects.torcheasyrec.rank import RANK, WIDE_WIDTHS, check_named
from polyrec.dialects.torcheasyrec.readout import Feature
from polyrec.dialects.torcheasyrec.values import weight_init

SIMILARITIES = {"COSINE": "cosine", "INNER_PRODUCT": "inner_product", "EUCLID": "euclid"}
SIMILARITY_NUMBERS = {0: "COSINE", 1: "INNER_PRODUCT", 2: "EUCLID"}


def read_model(root: Node, features: Mapping[str, Feature], data: DataSection) -> dict[str, Any]:
    """The parts `tables`, `groups`, `model` and `tasks` of a draft."""
    node = root.child("model_config")
    if node is None:
        if not root.ask("model_config"):
            root.report.problem(root.origin, "model_config", "is required")
        return {}
    kind = node.one_of(MODELS)
    UNUSED.settle(node)
    message = node.child(kind) if kind else None
    wide = _wide(message, WIDE_WIDTHS[kind]) if message is not None and kind in WIDE_WIDTHS else None
    if message is None:
        # The problem of the model is told; its wide groups are none of their own.
        wide = Wide(Value(1, node.origin), None)
    groups, tables = read_groups(node, features, wide)
    model = {"kind": kind, **MODELS[kind](message, groups)} if message is not None and kind is not None else None
    if model is not None and kind == "dssm":
        _part(groups, tables, *(model[side]["group"].value for side in ("user", "item")))
    draft: dict[str, Any] = {"tables": list(tables.drafts.values()), "groups": group_drafts(groups)}
    if model is not None:
        draft["model"] = model
    if message is not None and kind in MULTI:
        draft["tasks"] = tower_tasks(node, message, data, lambda tower: _task(tower, data, features, is_match=False))
    else:
        draft["tasks"] = [_task(node, data, features, is_match=kind == "dssm")]
    if message is None:
        draft["model"] = {"kind": Value(None, first_unknown(node) or node.origin)}
        if not has_unknown(node) and not any(node.ask(name) for name in UNUSED.names("model_config")):
            node.report.problem(node.origin, node.path, f"needs a model: one of {', '.join(MODELS)}")
    return draft


def _wide(message: Node, width: int) -> Wide:
    return Wide(message.integer("wide_embedding_dim", width), weight_init(message, "wide_init_fn"))


def _deepfm(node: Node, groups: Mapping[str, Group]) -> dict[str, Any]:
    check_named(node, groups, {"wide": "WIDE", "deep": "DEEP", "fm": "DEEP"}, "deepfm")
    pairs = "fm" if "fm" in groups else "deep"
    _check_widths(groups.get(pairs))
    return {
        "wide": "wide" if "wide" in groups else None,
        "deep": "deep",
        "fm": pairs,
        "mlp": required_mlp(node, "deep"),
        "final": mlp(node.child("final")),
        "head": HEAD,
    }


def _check_widths(group: Group | None) -> None:
    """Pairs are multiplied number by number, so all their vectors must be equally wide."""
    if group is not None and group.readings:
        message = "deepfm multiplies features in pairs, which what encoders read cannot take part in; name a group fm"
        return group.node.report.problem(group.name.origin, group.node.at("sequence_encoders"), message)
    members = group.members if group else []
    for member in members[1:]:
        if group is not None and member.width != members[0].width:
            message = (
                "deepfm multiplies features in pairs, so they must be equally wide, but "
                f"{member.feature.name.value} is {member.width} wide and {members[0].feature.name.value} "
                f"{members[0].width}; name a group fm of those that are"
            )
            return group.node.report.problem(group.name.origin, group.node.at("feature_names"), message)
    return None


def _towers(node: Node, groups: Mapping[str, Group], field: str, layers: str, kind: str) -> list[dict[str, Any]]:
    towers = []
    for tower in node.children(field):
        UNUSED.settle(tower)
        name = tower.text("input")
        draft = {"group": name, "mlp": required_mlp(tower, layers)}
        towers.append(draft)
        if not tower.has("input") or not is_known(tower, "input", name, groups, "feature group"):
            continue
        group = groups[name.value]
        if (group.kind == "SEQUENCE") != (kind == "SEQUENCE"):
            message = f"the group {name.value} is of group_type {group.kind}; {field} take {kind} groups"
            tower.report.problem(name.origin, tower.at("input"), message)
        elif kind == "SEQUENCE":
            _check_query(group)
    return towers


def _check_query(group: Group) -> None:
    query, sequence = group.width(of_sequences=False), group.width(of_sequences=True)
    if group.is_whole and not 0 < query <= sequence:
        message = (
            f"target attention compares features that are no sequences, here {query} wide, with sequences, here "
            f"{sequence} wide; it needs both, the sequences at least as wide"
        )
        group.node.report.problem(group.name.origin, group.node.at("feature_names"), message)


def _multi_tower(node: Node, groups: Mapping[str, Group]) -> dict[str, Any]:
    towers = _towers(node, groups, "towers", "mlp", "DEEP")
    if not node.ask("towers"):
        node.report.problem(node.origin, node.at("towers"), "is required")
    return {"towers": towers, "final": mlp(node.child("final")), "head": HEAD}


def _multi_tower_din(node: Node, groups: Mapping[str, Group]) -> dict[str, Any]:
    attention = _towers(node, groups, "din_towers", "attn_mlp", "SEQUENCE")
    if not node.ask("din_towers"):
        node.report.problem(node.origin, node.at("din_towers"), "is required")
    towers = _towers(node, groups, "towers", "mlp", "DEEP")
    return {"towers": towers, "din_towers": attention, "final": mlp(node.child("final")), "head": HEAD}


def _dssm(node: Node, groups: Mapping[str, Group]) -> dict[str, Any]:
    UNUSED.settle(node)
    sides: dict[str, Any] = {}
    for side in ("user", "item"):
        found = _towers(node, groups, f"{side}_tower", "mlp", "DEEP")
        if not node.ask(f"{side}_tower"):
            node.report.problem(node.origin, node.at(f"{side}_tower"), "is required")
        sides[side] = found[-1] if found else {"group": Value("", node.origin)}
    return {
        **sides,
        "output": node.integer("output_dim"),
        "kernel": LINEAR,
        "similarity": node.choice("similarity", SIMILARITIES, "inner_product", SIMILARITY_NUMBERS),
        "temperature": node.number("temperature", 1.0),
    }


def _part(groups: Mapping[str, Group], tables: Tables, user: str, item: str) -> None:
    """Upstream's towers have tables of their own, whatever features share."""
    of_user = {found["table"].value for found in groups[user].inputs if found["table"]} if user in groups else set()
    for draft in groups[item].inputs if item in groups and item != user else ():
        table = draft["table"]
        if table and table.value in of_user:
            name = f"{table.value}_{item}"
            tables.drafts[name] = {**tables.drafts[table.value], "name": name}
            draft["table"] = Value(name, table.origin)


MODELS: dict[str, Callable[[Node, Mapping[str, Group]], dict[str, Any]]] = {
    "deepfm": _deepfm,
    "multi_tower": _multi_tower,
    "multi_tower_din": _multi_tower_din,
    "dssm": _dssm,
    **RANK,
    **MULTI,
}


def _task(node: Node, data: DataSection, features: Mapping[str, Feature], *, is_match: bool) -> dict[str, Any]:
    classes = node.integer("num_class", 1)
    draft: dict[str, Any] = {
        "name": "",
        "classes": classes,
        "losses": read_losses(node, classes, features, is_match=is_match),
        "metrics": read_metrics(node, features),
        "train_metrics": read_train_metrics(node, features),
        "weight": 1.0,
        "sample_weight": data.weights[0] if data.weights else None,
        "weighting": "by_sum",
    }
    draft["label"] = data.labels[0] if data.labels else Value("unknown", node.origin)
    return draft

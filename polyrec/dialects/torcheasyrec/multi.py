"""The messages of models that rank and have several tasks, and their task towers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polyrec.dialects.fields import is_known, require, text_or_none
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.data import DataSection
from polyrec.dialects.torcheasyrec.groups import Group
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.layers import HEAD, LINEAR, mlp, required_mlp
from polyrec.dialects.torcheasyrec.rank import first_group, masks

Groups = Mapping[str, Group]
OF_TOWERS: dict[str, str] = dict.fromkeys(
    ("losses", "metrics", "train_metrics", "num_class"), "each of task_towers has its own"
)


def tower_tasks(model: Node, message: Node, data: DataSection, read: Callable[[Node], dict[str, Any]]) -> Any:
    """The tasks of the towers; `read` gives what a task is but for its name, label and weights."""
    model.ignore(OF_TOWERS)
    tasks = []
    for index, tower in enumerate(message.children("task_towers")):
        labels = {label.value: label for label in data.labels}
        label = data.labels[index] if index < len(data.labels) else None
        if tower.has("label_name") or label is None:
            label = tower.text("label_name")
            if tower.has("label_name"):
                is_known(tower, "label_name", label, labels, "label of label_fields")
        weight = text_or_none(tower, "sample_weight_name")
        if weight is not None:
            is_known(tower, "sample_weight_name", weight, {found.value for found in data.weights}, "sample weight")
        of_tower = {"name": tower.text("tower_name"), "label": label, "sample_weight": weight}
        tasks.append({**read(tower), **of_tower, "weight": tower.number("weight", 1.0)})
    return Value(tasks, message.origin)


def _towers(node: Node) -> list[tuple[Node, dict[str, Any]]]:
    if not node.ask("task_towers"):
        node.report.problem(node.origin, node.at("task_towers"), "is required")
    found = []
    for tower in node.children("task_towers"):
        UNUSED.settle(tower)
        found.append((tower, {"task": tower.text("tower_name"), "mlp": mlp(tower.child("mlp"))}))
    return found


def _plain_towers(node: Node) -> Value[Any]:
    return Value([draft for _, draft in _towers(node)], node.origin)


def _experts(node: Node) -> dict[str, Any]:
    return {
        "count": node.integer("num_expert", 3),
        "mlp": required_mlp(node, "expert_mlp"),
        "gate": mlp(node.child("gate_mlp")),
        "kernel": LINEAR,
    }


def _simple_multi_task(node: Node, groups: Groups) -> dict[str, Any]:
    return {"group": first_group(node, groups, "simple_multi_task"), "towers": _plain_towers(node), "head": HEAD}


def _mmoe(node: Node, groups: Groups) -> dict[str, Any]:
    group = first_group(node, groups, "mmoe")
    return {"group": group, "experts": _experts(node), "towers": _plain_towers(node), "head": HEAD}


def _ple(node: Node, groups: Groups) -> dict[str, Any]:
    layers = []
    for layer in node.children("extraction_networks"):
        UNUSED.settle(layer)
        count = layer.integer("share_num", 0)
        draft = {
            "task_experts": layer.integer("expert_num_per_task"),
            "task_mlp": required_mlp(layer, "task_expert_net"),
            "shared_experts": count,
            "shared_mlp": None,
        }
        if count.value:
            draft["shared_mlp"] = required_mlp(layer, "share_expert_net")
        else:
            layer.ignore({"share_expert_net": "share_num is 0, so there are no shared experts"})
        layers.append(Value(draft, layer.origin))
    if not node.ask("extraction_networks"):
        node.report.problem(node.origin, node.at("extraction_networks"), "is required")
    return {
        "group": first_group(node, groups, "ple"),
        "layers": Value(layers, node.origin),
        "kernel": LINEAR,
        "towers": _plain_towers(node),
        "head": HEAD,
    }


def _dbmtl(node: Node, groups: Groups) -> dict[str, Any]:
    towers = []
    for tower, draft in _towers(node):
        reads = tower.texts("relation_tower_names")
        towers.append({**draft, "reads": reads, "relation": mlp(tower.child("relation_mlp"))})
    if node.has("expert_mlp"):
        experts = _experts(node)
    else:
        experts = None
        node.ignore(dict.fromkeys(("num_expert", "gate_mlp"), "without expert_mlp there are no experts"))
    return {
        "group": first_group(node, groups, "dbmtl"),
        "masks": masks(require(node, "mask_net"), node) if node.has("mask_net") else None,
        "bottom": mlp(node.child("bottom_mlp")),
        "experts": experts,
        "towers": Value(towers, node.origin),
        "head": HEAD,
    }


MULTI: dict[str, Callable[[Node, Groups], dict[str, Any]]] = {
    "simple_multi_task": _simple_multi_task,
    "mmoe": _mmoe,
    "ple": _ple,
    "dbmtl": _dbmtl,
}
"""What each message becomes."""

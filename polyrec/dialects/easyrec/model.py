"""`model_config`: the network, its groups, and the task it learns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from polyrec.dialects.easyrec.data import DataSection
from polyrec.dialects.easyrec.feature import Feature
from polyrec.dialects.easyrec.groups import Group, Groups, read_groups
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.easyrec.layers import KERNEL, NORM, attention_dnn, dnn, required_dnn
from polyrec.dialects.fields import is_known
from polyrec.dialects.node import Node, Value
from polyrec.errors import Origin, nearest

L2 = 1e-4

MODEL_CLASSES = [
    "DeepFM",
    "MultiTower",
    "WideAndDeep",
    "FM",
    "DCN",
    "AutoInt",
    "DLRM",
    "CMBF",
    "Uniter",
    "MultiTowerDIN",
    "MultiTowerBST",
    "MultiTowerRecall",
    "DSSM",
    "DSSM_SENet",
    "DAT",
    "MIND",
    "DropoutNet",
    "CoMetricLearningI2I",
    "PDN",
    "MMoE",
    "ESMM",
    "DBMTL",
    "SimpleMultiTask",
    "PLE",
    "RocketLaunching",
    "RankModel",
    "MultiTaskModel",
    "MatchModel",
]
LOSS_TYPES = {"CLASSIFICATION": "CLASSIFICATION", "L2_LOSS": "L2_LOSS"}
LOSS_NUMBERS = {0: "CLASSIFICATION", 1: "L2_LOSS"}
METRICS = ("auc", "mean_absolute_error", "mean_squared_error", "accuracy")


@dataclass(frozen=True)
class ModelSection:
    """The parts `tables`, `groups`, `model` and `tasks` of a draft, and the penalties that training adds."""

    draft: dict[str, Any]
    output_penalty: Value[float]
    kernel_penalty: Value[float] | float


def read_model(root: Node, features: Mapping[str, Feature], data: DataSection) -> ModelSection | None:
    node = root.child("model_config")
    metrics = _metrics(root)
    if node is None:
        if not root.ask("model_config"):
            root.report.problem(root.origin, "model_config", "is required")
        return None
    name = _model_class(node)
    message, read = _model_message(node, name)
    UNUSED.settle(node)
    wide = message.integer("wide_output_dim", 1) if message is not None and name == "DeepFM" else None
    if message is None:
        # The problem of the model is told; its wide groups are none of their own.
        wide = Value(1, node.origin)
    groups = read_groups(node, features, data, wide)
    draft: dict[str, Any] = {"tables": list(groups.tables.drafts.values()), "groups": groups.drafts()}
    penalty: Value[float] | float = 0.0
    classes = node.integer("num_class", 1)
    draft["model"] = {"kind": Value(None, _place_of_model(node))}
    if message is not None and read is not None:
        UNUSED.settle(message)
        draft["model"] = read(message, groups, classes)
        penalty = _kernel_penalty(message, name)
    draft["tasks"] = [_task(node, data, metrics, classes)]
    return ModelSection(draft, node.number("embedding_regularization", 0.0), penalty)


def _place_of_model(node: Node) -> Origin:
    """Where the problem of a model that cannot be read was told."""
    given = node.ask("model_class")
    return given[-1].origin if given and given[-1].scalar not in MODELS else node.origin


def _model_class(node: Node) -> str:
    name = node.text("model_class")
    if node.has("model_class") and name.value not in MODELS:
        if name.value in MODEL_CLASSES:
            what = f"model {name.value} is not available yet"
        else:
            what = f"{name.value} is not a model that is known{nearest(name.value, MODEL_CLASSES)}"
        message = f"{what}; available: {', '.join(MODELS)}"
        node.report.problem(name.origin, node.at("model_class"), message)
    return name.value


Read = Callable[[Node, Groups, Value[int]], dict[str, Any]]


def _model_message(node: Node, name: str) -> tuple[Node | None, Read | None]:
    """The message of the model that `model_class` names."""
    messages = {field: node.ask(field) for field, _ in MODELS.values()}
    if name not in MODELS:
        for found in (found for nodes in messages.values() for found in nodes):
            found.mark_read()
        return None, None
    field, read = MODELS[name]
    for other, found in messages.items():
        if other != field:
            for one in found:
                one.wrong(f"is not for model_class {name}, which reads {field}")
                one.mark_read()
    message = node.child(field)
    if message is None and not node.ask(field):
        node.report.problem(node.origin, node.at(field), f"is required for model_class {name}")
    return message, read


def _kernel_penalty(message: Node, model: str) -> Value[float]:
    penalty = message.number("l2_regularization", L2)
    if model == "DeepFM" and message.has("dense_regularization"):
        # The field's older name; where it is given it is the one that counts.
        return message.number("dense_regularization", L2)
    return penalty


def _deepfm(node: Node, groups: Groups, classes: Value[int]) -> dict[str, Any]:
    known = ("wide", "deep", "fm")
    named = groups.by_name
    for group in named.values():
        is_known(group.node, "group_name", group.name, known, "group of DeepFM")
    for name, kind in (("wide", "WIDE"), ("deep", "DEEP"), ("fm", "DEEP")):
        if name not in named:
            if name == "wide" and all(given in known for given in named):
                node.report.problem(node.origin, node.path, "needs a feature group called wide")
        elif named[name].kind != kind:
            path = named[name].node.at("wide_deep")
            node.report.problem(named[name].name.origin, path, f"the group {name} of DeepFM must be {kind}")
    pairs = "fm" if "fm" in named else "deep"
    _check_widths(named.get(pairs))
    final = dnn(node.child("final_dnn"))
    width = node.integer("wide_output_dim", 1)
    if final is None and not node.ask("final_dnn") and width.value != classes.value:
        message = f"must be num_class, {classes.value}, when there is no final_dnn"
        node.report.problem(width.origin, node.at("wide_output_dim"), message)
    if final is None and classes.value > 1:
        node.report.problem(classes.origin, node.at("final_dnn"), "is required for several classes")
    return {
        "kind": "deepfm",
        "wide": "wide" if "wide" in named else None,
        "deep": "deep",
        "fm": pairs,
        "mlp": required_dnn(node, "dnn"),
        "final": final,
        "head": {"bias": True, "kernel": KERNEL, "is_penalized": True},
    }


def _check_widths(group: Group | None) -> None:
    """Pairs are multiplied number by number, so all their vectors must be equally wide."""
    members = group.members if group else []
    for name, width in members[1:]:
        if group is not None and width != members[0][1]:
            message = (
                f"DeepFM multiplies features in pairs, so they must be equally wide, but {name} is "
                f"{width} wide and {members[0][0]} {members[0][1]}; name a group fm of those that are"
            )
            return group.node.report.problem(group.name.origin, group.node.at("feature_names"), message)
    return None


def _multi_tower(node: Node, groups: Groups, classes: Value[int]) -> dict[str, Any]:
    for tower in node.ask("din_towers"):
        tower.wrong("is for model_class MultiTowerDIN")
        tower.mark_read()
    if not node.ask("towers"):
        node.report.problem(node.origin, node.at("towers"), "is required")
    return {"kind": "multi_tower", **_towers(node, groups)}


def _multi_tower_din(node: Node, groups: Groups, classes: Value[int]) -> dict[str, Any]:
    towers = []
    for tower in node.children("din_towers"):
        UNUSED.settle(tower)
        name = tower.text("input")
        if tower.has("input") and is_known(tower, "input", name, groups.sequences, "group of seq_att_groups"):
            widths = groups.sequences[name.value].widths
            if widths["key"] != widths["hist_seq"] or widths["aux_hist_seq"]:
                message = "a din_tower needs keys that are as wide as their sequences, and reads no aux_hist_seq"
                tower.report.problem(name.origin, tower.at("input"), message)
        towers.append({"group": name, "mlp": attention_dnn(tower, "dnn", is_required=True), "with_query": True})
    if not node.ask("din_towers"):
        node.report.problem(node.origin, node.at("din_towers"), "is required")
    return {"kind": "multi_tower_din", **_towers(node, groups), "din_towers": towers}


def _towers(node: Node, groups: Groups) -> dict[str, Any]:
    towers = []
    for tower in node.children("towers"):
        UNUSED.settle(tower)
        name = tower.text("input")
        draft = {"group": name, "mlp": required_dnn(tower, "dnn"), "input_norm": NORM}
        if tower.has("input"):
            is_known(tower, "input", name, groups.by_name, "feature group")
        towers.append(draft)
    head = {"bias": True, "kernel": KERNEL, "is_penalized": False}
    return {"towers": towers, "final": required_dnn(node, "final_dnn"), "head": head}


MODELS: dict[str, tuple[str, Read]] = {
    "DeepFM": ("deepfm", _deepfm),
    "MultiTower": ("multi_tower", _multi_tower),
    "MultiTowerDIN": ("multi_tower", _multi_tower_din),
}
"""For each model class, the field of its message and how that is read."""


def _task(node: Node, data: DataSection, metrics: list[dict[str, Any]], classes: Value[int]) -> dict[str, Any]:
    draft: dict[str, Any] = {
        "name": "",
        "classes": classes,
        "losses": _losses(node, classes.value),
        "metrics": metrics,
        "weight": 1.0,
        "sample_weight": data.sample_weight,
        "weighting": "by_nonzero",
    }
    label = node.text("label_name", "")
    if label.value:
        is_known(node, "label_name", label, [name.value for name in data.labels], "label field")
        draft["label"] = label
    else:
        draft["label"] = data.labels[0] if data.labels else Value("unknown", node.origin)
    return draft


def _losses(node: Node, classes: int) -> list[dict[str, Any]]:
    node.choice("loss_weight_strategy", {"Fixed": "Fixed"}, "Fixed", {0: "Fixed"})
    single = node.choice("loss_type", LOSS_TYPES, "CLASSIFICATION", LOSS_NUMBERS)
    several = node.children("losses")
    if not several:
        return [{"loss": _loss(node, single, classes), "weight": 1.0}]
    losses = []
    for message in several:
        UNUSED.settle(message)
        message.ignore({"loss_name": "losses are named by their type"})
        kind = message.choice("loss_type", LOSS_TYPES, numbers=LOSS_NUMBERS)
        losses.append({"loss": _loss(message, kind, classes), "weight": message.number("weight", 1.0)})
    return losses


def _loss(node: Node, kind: Value[str], classes: int) -> dict[str, Any]:
    if kind.value == "L2_LOSS":
        if classes > 1:
            node.report.problem(kind.origin, node.at("loss_type"), "L2_LOSS needs num_class 1")
        return {"kind": Value("squared_error", kind.origin)}
    name = "softmax_cross_entropy" if classes > 1 else "binary_cross_entropy"
    return {"kind": Value(name, kind.origin), "label_smoothing": 0.0}


def _metrics(root: Node) -> list[dict[str, Any]]:
    node = root.child("eval_config")
    metrics = []
    for message in node.children("metrics_set") if node else ():
        UNUSED.settle(message)
        kind = message.one_of(METRICS)
        metric = message.child(kind) if kind else None
        if metric is None or kind is None:
            if not message.fields:
                message.wrong(f"is empty; give it one of {', '.join(METRICS)}")
            continue
        UNUSED.settle(metric)
        metrics.append({"kind": kind, **({"threshold": 0.5} if kind == "accuracy" else {})})
    return metrics

"""`losses`, `metrics` and `train_metrics`: what a task learns, and what is reported of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polyrec.dialects.fields import is_known
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.readout import Feature

LOSSES = ("binary_cross_entropy", "softmax_cross_entropy", "l2_loss", "jrc_loss", "binary_focal_loss")
TRAIN_METRICS = ("auc", "recall_at_k", "mean_absolute_error", "mean_squared_error", "accuracy", "xauc")
METRICS = (*TRAIN_METRICS, "multiclass_auc", "grouped_auc", "grouped_xauc", "normalized_entropy")
AVERAGES = {"macro": "macro", "weighted": "weighted"}

Features = Mapping[str, Feature]


def read_losses(node: Node, classes: Value[int], features: Features, *, is_match: bool) -> list[dict[str, Any]]:
    """`is_match`: the model compares a row's own item with sampled ones, and the label does not count."""
    losses = []
    for message in node.children("losses"):
        kind, loss = _chosen(message, LOSSES)
        if loss is None or kind is None:
            continue
        draft = _loss(loss, kind, features)
        if is_match:
            if kind != "softmax_cross_entropy" or draft["label_smoothing"].value:
                loss.wrong("dssm learns by softmax_cross_entropy without label_smoothing")
            draft = {"kind": "sampled_softmax"}
        elif wrong := _wrong_classes(kind, classes.value):
            loss.wrong(f"needs num_class {wrong}, not {classes.value}")
        losses.append({"loss": draft, "weight": 1.0})
    if not node.ask("losses"):
        node.report.problem(node.origin, node.at("losses"), "is required")
    # Where none could be read there is a problem already; a stand-in keeps it from being told twice.
    stand_in = {"kind": "sampled_softmax"} if is_match else {"kind": "binary_cross_entropy", "label_smoothing": 0.0}
    return losses or [{"loss": stand_in}]


def _wrong_classes(kind: str, classes: int) -> str | None:
    """What the loss needs instead of so many classes."""
    match kind:
        case "softmax_cross_entropy":
            return None if classes > 1 else "2 or more"
        case "jrc_loss":
            return None if classes == 2 else "2"
        case _:
            return None if classes == 1 else "1"


def _loss(node: Node, kind: str, features: Features) -> dict[str, Any]:
    match kind:
        case "l2_loss":
            return {"kind": "squared_error"}
        case "jrc_loss":
            group = _column(node, "session_name", features)
            return {"kind": "jrc", "group": group, "alpha": node.number("alpha", 0.5)}
        case "binary_focal_loss":
            return {"kind": "binary_focal", "gamma": node.number("gamma", 2.0), "alpha": node.number("alpha", 0.5)}
        case _:
            return {"kind": kind, "label_smoothing": node.number("label_smoothing", 0.0)}


def read_metrics(node: Node, features: Features) -> list[dict[str, Any]]:
    found = [_chosen(message, METRICS) for message in node.children("metrics")]
    return [_metric(metric, kind, features) for kind, metric in found if metric is not None and kind is not None]


def read_train_metrics(node: Node, features: Features) -> list[dict[str, Any]]:
    drafts = []
    for message in node.children("train_metrics"):
        decay, steps = message.number("decay_rate", 0.9), message.integer("decay_step", 100)
        kind, metric = _chosen(message, TRAIN_METRICS)
        if metric is not None and kind is not None:
            drafts.append({"metric": _metric(metric, kind, features), "decay": decay, "every_steps": steps})
    return drafts


def _metric(node: Node, kind: str, features: Features) -> dict[str, Any]:
    match kind:
        case "accuracy":
            return {"kind": kind, "threshold": node.number("threshold", 0.5), "top_k": node.integer("top_k", 1)}
        case "recall_at_k":
            return {"kind": kind, "k": node.integer("top_k", 5)}
        case "multiclass_auc":
            return {"kind": kind, "average": node.choice("average", AVERAGES, "macro")}
        case "xauc":
            return {"kind": kind, "ties": "wrong"}
        case "grouped_auc":
            return {"kind": kind, "group": _column(node, "grouping_key", features), "weighting": "even"}
        case "grouped_xauc":
            return {"kind": kind, "group": _column(node, "grouping_key", features), "ties": "wrong"}
        case _:
            return {"kind": kind}


def _chosen(message: Node, kinds: Sequence[str]) -> tuple[str | None, Node | None]:
    """Which of several messages is given."""
    UNUSED.settle(message)
    kind = message.one_of(kinds)
    found = message.child(kind) if kind else None
    if found is not None:
        UNUSED.settle(found)
    elif not message.fields:
        message.wrong(f"is empty; give it one of {', '.join(kinds)}")
    return kind, found


def _column(node: Node, field: str, features: Features) -> Value[str]:
    """The column of a feature by whose values rows are taken together."""
    name = node.text(field)
    if not name.value or not is_known(node, field, name, features, "feature"):
        return Value(name.value or "unknown", name.origin)
    if features[name.value].is_sequence:
        node.report.problem(name.origin, node.at(field), f"{name.value} is a sequence; name a feature of whole rows")
    return Value(features[name.value].draft["column"].value, name.origin)

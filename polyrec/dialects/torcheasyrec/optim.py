"""`sparse_optimizer` and `dense_optimizer`: how tables and all other weights learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polyrec.dialects.fields import has_unknown, plain_path, require
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.ignored import UNUSED

LR = 0.002
TABLE_EPS = 1e-8
"""FBGEMM's own; a config cannot set it."""

Read = Callable[[Node], dict[str, Any]]


def _sparse_sgd(node: Node) -> dict[str, Any]:
    return {"kind": "sgd", "momentum": 0.0, "dampening": 0.0, "weight_decay": 0.0, "nesterov": False}


def _sparse_adagrad(node: Node) -> dict[str, Any]:
    start = node.number("initial_accumulator_value", 0.0)
    return {"kind": "adagrad", "initial_accumulator": start, "eps": TABLE_EPS, "weight_decay": 0.0}


def _rowwise_adagrad(node: Node) -> dict[str, Any]:
    return {"kind": "rowwise_adagrad", "initial_accumulator": 0.0, "eps": TABLE_EPS}


def _adam(node: Node, eps: Value[float] | float, is_decoupled: bool) -> dict[str, Any]:
    return {
        "kind": "adam",
        "beta1": node.number("beta1", 0.9),
        "beta2": node.number("beta2", 0.999),
        "eps": eps,
        "weight_decay": node.number("weight_decay", 0.0),
        "epsilon_hat": False,
        "is_decoupled": is_decoupled,
    }


def _sparse_adam(node: Node) -> dict[str, Any]:
    # FBGEMM's Adam takes weight decay off the weight itself, as AdamW does.
    return _adam(node, TABLE_EPS, is_decoupled=True)


def _dense_sgd(node: Node) -> dict[str, Any]:
    return {
        "kind": "sgd",
        "momentum": node.number("momentum", 0.9),
        "dampening": node.number("dampening", 0.0),
        "weight_decay": node.number("weight_decay", 0.0),
        "nesterov": node.flag("nesterov", False),
    }


def _dense_adagrad(node: Node) -> dict[str, Any]:
    return {
        "kind": "adagrad",
        "initial_accumulator": node.number("initial_accumulator_value", 0.0),
        "eps": node.number("eps", 1e-10),
        "weight_decay": node.number("weight_decay", 0.0),
    }


def _dense_adam(node: Node) -> dict[str, Any]:
    return _adam(node, node.number("eps", 1e-8), is_decoupled=False)


def _dense_adamw(node: Node) -> dict[str, Any]:
    return _adam(node, node.number("eps", 1e-8), is_decoupled=True)


SPARSE: dict[str, Read] = {
    "sgd_optimizer": _sparse_sgd,
    "adagrad_optimizer": _sparse_adagrad,
    "rowwise_adagrad_optimizer": _rowwise_adagrad,
    "adam_optimizer": _sparse_adam,
}
DENSE: dict[str, Read] = {
    "sgd_optimizer": _dense_sgd,
    "adagrad_optimizer": _dense_adagrad,
    "adam_optimizer": _dense_adam,
    "adamw_optimizer": _dense_adamw,
}


def _exponential(node: Node) -> dict[str, Any]:
    by_epoch = node.flag("by_epoch", False)
    return {
        "kind": "exponential",
        "by": Value("epoch" if by_epoch.value else "step", by_epoch.origin),
        "every": node.integer("decay_size"),
        "factor": node.number("decay_factor", 0.95),
        "staircase": node.flag("staircase", True),
        "warmup": node.integer("warmup_size", 0),
        "warmup_start": node.number("warmup_learning_rate", 0.0),
        "floor": node.number("min_learning_rate", 0.0),
    }


SCHEDULES = {"constant_learning_rate", "exponential_decay_learning_rate"}


def read_optim(train: Node) -> dict[str, Any]:
    draft: dict[str, Any] = {}
    for part, field, known in (("tables", "sparse_optimizer", SPARSE), ("dense", "dense_optimizer", DENSE)):
        node = require(train, field)
        draft[part] = Value(None, train.origin) if node is None else _learning(node, known)
    clip = _clipping(train)
    if isinstance(draft["dense"], dict):
        draft["dense"]["clip_gradient"] = clip
    return draft


def _learning(node: Node, known: Mapping[str, Read]) -> dict[str, Any]:
    kind = node.one_of(known)
    UNUSED.settle(node)
    message = node.child(kind) if kind else None
    draft: dict[str, Any] = {"schedule": {"kind": "constant"}, "clip_gradient": None}
    if message is not None and kind is not None:
        UNUSED.settle(message)
        draft["optimizer"] = {**known[kind](message), "lr": message.number("lr", LR)}
    schedule = node.one_of(sorted(SCHEDULES))
    if message is None:
        # A stand-in, since the problem is told already.
        draft["optimizer"] = {"kind": "adagrad", "lr": 1.0, "initial_accumulator": 0.0, "eps": 1.0}
        if not has_unknown(node) and not any(node.ask(name) for name in UNUSED.names(plain_path(node.path))):
            node.wrong(f"needs an optimizer: one of {', '.join(known)}")
    found = node.child(schedule) if schedule else None
    if found is not None and schedule == "exponential_decay_learning_rate":
        draft["schedule"] = _exponential(found)
    return draft


def _clipping(train: Node) -> Value[float] | None:
    """Largest norm of the gradients of all weights but the tables."""
    node = train.child("grad_clipping")
    if node is None:
        return None
    UNUSED.settle(node)
    kind = node.choice("clipping_type", {"none": "none", "norm": "norm"}, "none")
    limit, power = node.number("max_gradient", 1.0), node.number("norm_type", 2.0)
    if power.value != 2.0:
        node.report.problem(power.origin, node.at("norm_type"), "other norms than 2 are not available yet")
    return limit if kind.value == "norm" else None

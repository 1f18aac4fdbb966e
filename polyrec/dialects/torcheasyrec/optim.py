"""`sparse_optimizer` and `dense_optimizer`: how tables and all other weights learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polyrec.dialects.fields import has_unknown, mapped, plain_path, require
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.ignored import UNUSED

LR = 0.002
TABLE_EPS = 1e-8
LARS_ETA = 0.001
"""FBGEMM's own; a config cannot set them."""
DECAY_MODES = {"NONE": "NONE", "L2": "L2", "DECOUPLE": "DECOUPLE"}

Read = Callable[[Node], dict[str, Any]]


def _sparse_sgd(node: Node) -> dict[str, Any]:
    return {"kind": "sgd", "momentum": 0.0, "dampening": 0.0, "weight_decay": 0.0, "nesterov": False}


def _sparse_adagrad(node: Node) -> dict[str, Any]:
    start = node.number("initial_accumulator_value", 0.0)
    return {"kind": "adagrad", "initial_accumulator": start, "eps": TABLE_EPS, "weight_decay": 0.0}


def _rowwise_adagrad(node: Node) -> dict[str, Any]:
    mode = node.choice("weight_decay_mode", DECAY_MODES, "NONE", numbers=dict(enumerate(DECAY_MODES)))
    if mode.value == "NONE":
        node.ignore({"weight_decay": "weight_decay_mode is NONE"})
    return {
        "kind": "rowwise_adagrad",
        "initial_accumulator": 0.0,
        "eps": TABLE_EPS,
        "weight_decay": node.number("weight_decay", 0.0) if mode.value != "NONE" else 0.0,
        "is_decoupled": mapped(mode, lambda name: name == "DECOUPLE"),
    }


def _moments(node: Node, kind: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "beta1": node.number("beta1", 0.9),
        "beta2": node.number("beta2", 0.999),
        "eps": TABLE_EPS,
        "weight_decay": node.number("weight_decay", 0.0),
    }


def _sparse_adam(node: Node) -> dict[str, Any]:
    # FBGEMM's Adam takes weight decay off the weight itself, as AdamW does.
    return {**_moments(node, "adam"), "epsilon_hat": False, "amsgrad": False, "is_decoupled": True}


def _lars(node: Node) -> dict[str, Any]:
    momentum, decay = node.number("momentum", 0.9), node.number("weight_decay", 0.0)
    return {"kind": "lars_sgd", "momentum": momentum, "eta": LARS_ETA, "weight_decay": decay}


def _adadelta(node: Node) -> dict[str, Any]:
    return {
        "kind": "adadelta",
        "rho": node.number("rho", 0.95),
        "eps": node.number("eps", 1e-6),
        "weight_decay": node.number("weight_decay", 0.0),
    }


def _rmsprop(node: Node) -> dict[str, Any]:
    return {
        "kind": "rmsprop",
        "alpha": node.number("alpha", 0.99),
        "eps": node.number("eps", 1e-8),
        "momentum": 0.0,
        "weight_decay": node.number("weight_decay", 0.0),
        "start": 0.0,
        "is_eps_inside": False,
    }


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


def _dense_adam(node: Node, *, is_decoupled: bool = False) -> dict[str, Any]:
    return {
        **_moments(node, "adam"),
        "eps": node.number("eps", 1e-8),
        "epsilon_hat": False,
        "amsgrad": node.flag("amsgrad", False),
        "is_decoupled": is_decoupled,
    }


def _dense_adamw(node: Node) -> dict[str, Any]:
    return _dense_adam(node, is_decoupled=True)


SPARSE: dict[str, Read] = {
    "sgd_optimizer": _sparse_sgd,
    "adagrad_optimizer": _sparse_adagrad,
    "rowwise_adagrad_optimizer": _rowwise_adagrad,
    "adam_optimizer": _sparse_adam,
    "partial_rowwise_adam_optimizer": lambda node: _moments(node, "partial_rowwise_adam"),
    "lamb_optimizer": lambda node: _moments(node, "lamb"),
    "partial_rowwise_lamb_optimizer": lambda node: _moments(node, "partial_rowwise_lamb"),
    "lars_sgd_optimizer": _lars,
    "adadelta_optimizer": _adadelta,
    "rmsprop_optimizer": _rmsprop,
}
DENSE: dict[str, Read] = {
    "sgd_optimizer": _dense_sgd,
    "adagrad_optimizer": _dense_adagrad,
    "adam_optimizer": _dense_adam,
    "adamw_optimizer": _dense_adamw,
    "adadelta_optimizer": _adadelta,
    "rmsprop_optimizer": _rmsprop,
}


def _counting(node: Node, kind: str) -> dict[str, Any]:
    return {"kind": kind, "by": mapped(node.flag("by_epoch", False), lambda yes: "epoch" if yes else "step")}


def _warming(node: Node, kind: str) -> dict[str, Any]:
    return {
        **_counting(node, kind),
        "warmup": node.integer("warmup_size", 0),
        "warmup_start": node.number("warmup_learning_rate", 0.0),
        "floor": node.number("min_learning_rate", 0.0),
    }


def _exponential(node: Node) -> dict[str, Any]:
    return {
        **_warming(node, "exponential"),
        "every": node.integer("decay_size"),
        "factor": node.number("decay_factor", 0.95),
        "staircase": node.flag("staircase", True),
    }


def _manual(node: Node) -> dict[str, Any]:
    sizes, rises = node.integers("schedule_sizes"), node.flag("warmup", False)
    return {
        **_counting(node, "manual"),
        # A rate holds when more than its size is done.
        "starts": [mapped(size, lambda done: done + 1) for size in sizes],
        "rates": node.numbers("learning_rates"),
        "warmup": sizes[0] if sizes and rises.value else 0,
    }


def _cosine(node: Node) -> dict[str, Any]:
    return {**_warming(node, "cosine"), "length": node.integer("T_max")}


def _restarts(node: Node) -> dict[str, Any]:
    return {**_warming(node, "cosine_restarts"), "length": node.integer("T_0"), "growth": node.integer("T_mult", 1)}


SCHEDULES: dict[str, Read] = {
    "constant_learning_rate": lambda _: {"kind": "constant"},
    "cosine_annealing_learning_rate": _cosine,
    "cosine_annealing_warm_restarts_learning_rate": _restarts,
    "exponential_decay_learning_rate": _exponential,
    "manual_step_learning_rate": _manual,
}


def read_optim(train: Node) -> dict[str, Any]:
    draft: dict[str, Any] = {"parts": []}
    for part, field, known in (("tables", "sparse_optimizer", SPARSE), ("dense", "dense_optimizer", DENSE)):
        node = require(train, field)
        if node is None:
            draft[part] = Value(None, train.origin)
            continue
        draft[part] = _moves(node, known)
        if part == "tables":
            draft[part]["clip_value"] = _clipped(node.child(node.one_of(known) or ""))
        else:
            draft[part] |= _clipping(train)
            draft["average"] = _average(node)
            draft["parts"] = [_part(child) for child in node.children("part_optimizers")]
    return draft


def _average(node: Node) -> Value[float] | None:
    """Share of the averages of the dense weights that each step keeps."""
    ema = node.child("ema")
    return ema.number("decay", 0.999) if ema else None


def uses_average(node: Node, root: Node) -> Value[bool]:
    """`use_dense_ema` of evaluation or export."""
    train = root.child("train_config")
    dense = train.child("dense_optimizer") if train else None
    found = node.flag("use_dense_ema", True)
    if node.has("use_dense_ema") and found.value and not (dense and dense.has("ema")):
        node.report.problem(
            found.origin, node.at("use_dense_ema"), "dense_optimizer has no ema; add ema {}, or remove it"
        )
    return found


def _part(node: Node) -> dict[str, Any]:
    return {"pattern": node.text("regex_pattern"), **_moves(node, DENSE)}


def _moves(node: Node, known: Mapping[str, Read]) -> dict[str, Any]:
    kind = node.one_of(known)
    UNUSED.settle(node)
    message = node.child(kind) if kind else None
    draft: dict[str, Any] = {"schedule": {"kind": "constant"}}
    if message is not None and kind is not None:
        UNUSED.settle(message)
        draft["optimizer"] = {**known[kind](message), "lr": message.number("lr", LR)}
    schedule = node.one_of(SCHEDULES)
    if message is None:
        # A stand-in, since the problem is told already.
        draft["optimizer"] = {"kind": "adagrad", "lr": 1.0, "initial_accumulator": 0.0, "eps": 1.0}
        if not has_unknown(node) and not any(node.ask(name) for name in UNUSED.names(plain_path(node.path))):
            node.wrong(f"needs an optimizer: one of {', '.join(known)}")
    found = node.child(schedule) if schedule else None
    if found is not None and schedule is not None:
        draft["schedule"] = SCHEDULES[schedule](found)
    return draft


def _clipped(node: Node | None) -> Value[float] | None:
    """Largest absolute value of the numbers of the gradients that tables get."""
    if node is None:
        return None
    if node.flag("gradient_clipping", False).value:
        return node.number("max_gradient", 1.0)
    node.ignore({"max_gradient": "gradient_clipping is off"})
    return None


def _clipping(train: Node) -> dict[str, Any]:
    """How the gradients of all weights but the tables are clipped."""
    node = train.child("grad_clipping")
    if node is None:
        return {}
    UNUSED.settle(node)
    kind = node.choice("clipping_type", {"none": "none", "norm": "norm", "value": "value"}, "none")
    if kind.value == "none":
        node.ignore({"max_gradient": "clipping_type is none"})
    if kind.value != "norm":
        node.ignore({"norm_type": f"clipping_type is {kind.value}"})
    if kind.value == "norm":
        return {"clip_gradient": node.number("max_gradient", 1.0), "clip_norm": node.number("norm_type", 2.0)}
    return {"clip_value": node.number("max_gradient", 1.0)} if kind.value == "value" else {}

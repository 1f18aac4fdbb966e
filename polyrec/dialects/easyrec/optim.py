"""`optimizer_config`: one for all weights, or a first for tables and a second for all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.fields import has_unknown, require
from polyrec.dialects.node import Node, Value

RATE = 0.002


def _adam(node: Node) -> dict[str, Any]:
    return {
        "kind": "adam",
        "beta1": node.number("beta1", 0.9),
        "beta2": node.number("beta2", 0.999),
        "eps": 1e-8,
        "weight_decay": 0.0,
        # TensorFlow adds eps to the root before its bias is corrected.
        "epsilon_hat": True,
        "is_decoupled": False,
    }


def _adagrad(node: Node) -> dict[str, Any]:
    start = node.number("initial_accumulator_value", 0.1)
    return {"kind": "adagrad", "initial_accumulator": start, "eps": 0.0, "weight_decay": 0.0}


def _momentum(node: Node) -> dict[str, Any]:
    momentum = node.number("momentum_optimizer_value", 0.9)
    return {"kind": "sgd", "momentum": momentum, "dampening": 0.0, "weight_decay": 0.0, "nesterov": False}


OPTIMIZERS: dict[str, Callable[[Node], dict[str, Any]]] = {
    "adam_optimizer": _adam,
    "lazy_adam_optimizer": _adam,
    "adam_async_optimizer": _adam,
    "adagrad_optimizer": _adagrad,
    "momentum_optimizer": _momentum,
}


def read_optim(train: Node) -> dict[str, Any]:
    nodes = train.children("optimizer_config")
    if not train.ask("optimizer_config"):
        train.report.problem(train.origin, train.at("optimizer_config"), "is required")
    if len(nodes) > 2:
        nodes[2].wrong("give one for all weights, or two: for tables and for all others")
    found = [_learning(node) for node in nodes]
    if not found:
        return {"tables": Value(None, train.origin), "dense": Value(None, train.origin)}
    return {"tables": found[0], "dense": found[1 if len(found) > 1 else 0]}


def _learning(node: Node) -> dict[str, Any]:
    kind = node.one_of(OPTIMIZERS)
    UNUSED.settle(node)
    message = node.child(kind) if kind else None
    if message is None or kind is None:
        if not has_unknown(node) and not any(node.ask(name) for name in UNUSED.names("optimizer_config")):
            node.wrong(f"needs an optimizer: one of {', '.join(OPTIMIZERS)}")
        stand_in = Value({"kind": "adagrad", "lr": 1.0, "initial_accumulator": 0.0, "eps": 1.0}, node.origin)
        return {"optimizer": stand_in, "schedule": {"kind": "constant"}, "clip_gradient": None}
    rate, schedule = _schedule(message)
    return {"optimizer": {**OPTIMIZERS[kind](message), "lr": rate}, "schedule": schedule, "clip_gradient": None}


def _schedule(optimizer: Node) -> tuple[Value[float], dict[str, Any]]:
    node = require(optimizer, "learning_rate")
    known = ("constant_learning_rate", "exponential_decay_learning_rate")
    if node is None:
        return Value(RATE, optimizer.origin), {"kind": "constant"}
    kind = node.one_of(known)
    UNUSED.settle(node)
    message = node.child(kind) if kind else None
    if message is None:
        if not has_unknown(node) and not any(node.ask(name) for name in UNUSED.names("learning_rate")):
            node.wrong(f"needs one of {', '.join(known)}")
        return Value(RATE, node.origin), {"kind": "constant"}
    if kind == "constant_learning_rate":
        return message.number("learning_rate", RATE), {"kind": "constant"}
    rate, start = message.number("initial_learning_rate", RATE), message.number("burnin_learning_rate", 0.0)
    return rate, {
        "kind": "exponential",
        "by": "step",
        "every": message.integer("decay_steps", 4_000_000),
        "factor": message.number("decay_factor", 0.95),
        "staircase": message.flag("staircase", True),
        "warmup": message.integer("burnin_steps", 0),
        # A burn-in from 0 is one at the full rate.
        "warmup_start": start if start.value else rate,
        "floor": message.number("min_learning_rate", 0.0),
    }

"""Layers that several messages describe: `DNN`, and what is built of it."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.node import Node, Value
from polyrec.errors import nearest

KERNEL = {"kind": "glorot_uniform"}
NORM = {"kind": "batch", "momentum": 0.01, "eps": 1e-3, "is_biased": True}
"""TensorFlow's numbers: its momentum of 0.99 is what stays, ours what is taken."""
ATTENTION = [128, 64, 32]
"""Widths before the score where a config gives none."""

ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu_tanh",
    "elu": "elu",
    "selu": "selu",
    "tanh": "tanh",
    "swish": "silu",
    "sigmoid": "sigmoid",
    "linear": "linear",
    "dice": "dice",
}
DOTTED = {f"tf.nn.{name}": ours for name, ours in ACTIVATIONS.items() if name not in ("linear", "dice", "gelu")}


def dnn(node: Node | None) -> dict[str, Any] | None:
    if node is None:
        return None
    UNUSED.settle(node)
    hidden, dropout = _widths(node)
    norm = node.flag("use_bn", True)
    return {
        "hidden": hidden,
        "activation": activation(node, "tf.nn.relu"),
        "dropout": dropout,
        "norm": NORM if norm.value else None,
        "bias": True,
        "kernel": KERNEL,
    }


def required_dnn(node: Node, name: str) -> dict[str, Any]:
    found = dnn(node.child(name))
    if found is None and not node.ask(name):
        node.report.problem(node.origin, node.at(name), "is required")
    return found or {"hidden": [1], "activation": "relu", "kernel": KERNEL}


def attention_dnn(parent: Node, name: str, is_required: bool) -> dict[str, Any]:
    """Layers whose last one is a score: one number, without activation and norm, which the core adds by itself."""
    node = parent.child(name)
    if node is None:
        if is_required and not parent.ask(name):
            parent.report.problem(parent.origin, parent.at(name), "is required")
        return {"hidden": ATTENTION, "activation": "relu", "norm": NORM, "bias": True, "kernel": KERNEL}
    layers = dnn(node)
    assert layers is not None
    *hidden, last = layers["hidden"]
    if node.ask("hidden_units") and (last.value != 1 or not hidden):
        message = "scores a position by its last width, which must be 1, after one other at least: [128, 64, 32, 1]"
        node.report.problem(last.origin, node.at("hidden_units"), message)
    return {**layers, "hidden": hidden or [last], "dropout": layers["dropout"][:-1]}


def mlp(node: Node | None) -> dict[str, Any] | None:
    """The message `MLP`: kernels by another start, no bias beside a norm, and a last layer with options of its own."""
    if node is None:
        return None
    UNUSED.settle(node)
    hidden, dropout = _widths(node)
    norm, bias, active = node.flag("use_bn", True), node.flag("use_bias", False), activation(node, "relu")
    last = {
        "use_final_bn": (node.flag("use_final_bn", True), norm),
        "use_final_bias": (node.flag("use_final_bias", False), bias),
        "final_activation": (activation(node, "relu", "final_activation"), active),
    }
    for name, (final, usual) in last.items():
        if final.value != usual.value:
            message = f"a last layer unlike the others is not available yet; make {name} what the others have"
            node.report.problem(final.origin, node.at(name), message)
    kernel = node.choice("initializer", {"he_uniform": "he_uniform", "glorot_uniform": "glorot_uniform"}, "he_uniform")
    return {
        "hidden": hidden,
        "activation": active,
        "dropout": dropout,
        "norm": NORM if norm.value else None,
        "bias": bias,
        "kernel": {"kind": kernel},
    }


def activation(node: Node, default: str, name: str = "activation") -> Value[str]:
    text = node.text(name, default)
    known = {**ACTIVATIONS, **DOTTED}
    if text.value not in known:
        hint = "functions are not run" if "lambda" in text.value else f"{text.value} is not available"
        message = f"{hint}{nearest(text.value, known)}; known: {', '.join(ACTIVATIONS)}"
        node.report.problem(text.origin, node.at(name), message)
        return Value("relu", text.origin)
    return Value(known[text.value], text.origin)


def _widths(node: Node) -> tuple[list[Value[int]], list[Value[float]]]:
    hidden, dropout = node.integers("hidden_units"), node.numbers("dropout_ratio")
    if not node.ask("hidden_units"):
        node.report.problem(node.origin, node.at("hidden_units"), "is required")
    hidden = hidden or [Value(1, node.origin)]
    if dropout and len(dropout) != len(hidden):
        message = f"needs one for each of the {len(hidden)} layers, not {len(dropout)}"
        node.report.problem(dropout[0].origin, node.at("dropout_ratio"), message)
        dropout = []
    return hidden, dropout

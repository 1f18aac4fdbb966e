"""Layers that several messages of a config hold."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.fields import mapped
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.values import activation

LINEAR = {"kind": "linear"}
"""PyTorch's own start of a linear layer."""
HEAD = {"bias": True, "kernel": LINEAR, "is_penalized": False}


def mlp(node: Node | None) -> dict[str, Any] | None:
    if node is None:
        return None
    UNUSED.settle(node)
    hidden = widths(node, "hidden_units")
    dropout = node.numbers("dropout_ratio")
    if len(dropout) not in (0, 1, len(hidden)):
        message = f"give one for all layers or one for each of the {len(hidden)} layers"
        node.report.problem(dropout[0].origin, node.at("dropout_ratio"), message)
        dropout = []
    batch, layer, bias = node.flag("use_bn", False), node.flag("use_ln", False), node.flag("bias", True)
    norm: dict[str, Any] | None = None
    if batch.value and layer.value:
        node.report.problem(layer.origin, node.at("use_ln"), "use_bn is true as well; choose one of them")
    if batch.value or layer.value:
        norm = {
            "kind": Value("batch", batch.origin) if batch.value else Value("layer", layer.origin),
            "momentum": 0.1,
            "eps": 1e-5,
            "is_biased": False,
        }
    return {
        "hidden": hidden,
        "activation": activation(node),
        "dropout": dropout,
        "norm": norm,
        # A batch norm behind a linear layer takes any bias away again.
        "bias": mapped(bias, lambda on: on and not batch.value),
        "kernel": LINEAR,
    }


def widths(node: Node, name: str) -> list[Value[int]]:
    found = node.integers(name)
    if not node.ask(name):
        node.report.problem(node.origin, node.at(name), "is required")
    return found or [Value(1, node.origin)]


def required_mlp(node: Node, name: str) -> dict[str, Any]:
    found = mlp(node.child(name))
    if found is None and not node.ask(name):
        node.report.problem(node.origin, node.at(name), "is required")
    return found or {"hidden": [1], "activation": "relu", "kernel": LINEAR}

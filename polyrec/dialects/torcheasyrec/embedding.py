"""How ids and numbers become vectors: the fields of tables, and those of the layers that embed numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyrec.dialects.fields import mapped, text_or_none
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.values import weight_init
from polyrec.dialects.torcheasyrec.zch import read_zch

POOLINGS = {"sum": "sum", "mean": "mean"}
PRECISIONS = {"FP32": "fp32", "FP16": "fp16"}
OF_TABLES = ("embedding_name", "pooling", "init_fn", "trainable", "data_type")
"""Fields that only a table has."""
LAYERS = ("autodis", "mlp")


@dataclass(frozen=True)
class TableOf:
    """The table that a feature's ids look up, by the name that groups start from."""

    name: Value[str]
    rows: Value[int]
    width: Value[int]
    pooling: Value[str]
    init: dict[str, Any] | None
    """None for the default, which depends on the number of rows."""
    trainable: Value[bool]
    precision: Value[str]
    collisions: dict[str, Any] | None


def read_table(node: Node, name: Value[str], rows: Value[int], scheme: str | None) -> TableOf:
    collisions = None
    message = node.child("zch") if scheme == "zch" else None
    if message is not None:
        rows, collisions = read_zch(message)
    return TableOf(
        text_or_none(node, "embedding_name") or mapped(name, lambda text: f"{text}_emb"),
        rows,
        node.integer("embedding_dim"),
        node.choice("pooling", POOLINGS, "sum"),
        weight_init(node, "init_fn"),
        node.flag("trainable", True),
        node.choice("data_type", PRECISIONS, "fp32"),
        collisions,
    )


def read_layers(node: Node) -> dict[str, Any] | None:
    """The layers that make a vector of numbers; None when the model takes them as they are."""
    node.ignore({field: "only ids have a table; give the feature boundaries" for field in OF_TABLES})
    kind = node.one_of(LAYERS)
    if kind is None:
        reason = "only ids have a table; give the feature boundaries, autodis or mlp"
        node.ignore({"embedding_dim": reason})
        return None
    width = node.integer("embedding_dim")
    message = node.child(kind)
    if message is None:
        return None
    UNUSED.settle(message)
    if kind == "mlp":
        # A linear layer of PyTorch's without bias.
        return {"kind": "projection", "width": width, "kernel": {"kind": "linear"}}
    return {
        "kind": "autodis",
        "width": width,
        "channels": message.integer("num_channels"),
        "temperature": message.number("temperature", 0.1),
        "keep": message.number("keep_prob", 0.8),
    }


def no_layers(node: Node, reason: str) -> None:
    """Such layers are given to a feature that cannot have them."""
    node.ignore({field: reason for field in LAYERS})

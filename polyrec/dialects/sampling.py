"""The samplers that TorchEasyRec and EasyRec write alike: messages of `data_config`."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.fields import Unused, positive
from polyrec.dialects.node import Node, Value

KINDS = {
    "negative_sampler": "negative",
    "negative_sampler_v2": "negative_v2",
    "hard_negative_sampler": "hard_negative",
    "hard_negative_sampler_v2": "hard_negative_v2",
}


def chosen(data: Node, names: dict[str, str], unused: Unused) -> tuple[str, Node] | None:
    """The sampler that the data names, if any."""
    name = data.one_of(names)
    node = data.child(name) if name else None
    if name is None or node is None:
        return None
    unused.settle(node)
    return name, node


def items_of(node: Node, kind: str) -> dict[str, Any]:
    """The table of items and the columns that it fills."""
    return {
        "kind": Value(kind, node.origin),
        "items": {
            "path": node.text("input_path" if kind == "negative" else "item_input_path"),
            "separator": separator(node),
            "attribute_separator": node.text("attr_delimiter", ":"),
        },
        "item_column": node.text("item_id_field"),
        "attributes": node.texts("attr_fields"),
    }


def separator(node: Node) -> Value[str]:
    """Tables are TSV unless the config says otherwise."""
    return node.text("field_delimiter", "\t")


def negatives_of(node: Node, kind: str) -> dict[str, Any]:
    """What is drawn for a batch; those with positive edges draw evenly."""
    has_positives = kind.endswith("_v2")
    draft = {
        **items_of(node, kind),
        "count": node.integer("num_sample"),
        "eval_count": positive(node, "num_eval_sample", None),
        "draw_by": Value("evenly" if has_positives else "weight", node.origin),
        "kept_from": Value("row" if has_positives else "batch", node.origin),
    }
    if kind != "negative":
        draft["user_column"] = node.text("user_id_field")
    if has_positives:
        draft["positive_edges"] = {"path": node.text("pos_edge_input_path"), "separator": separator(node)}
    if kind.startswith("hard"):
        draft["hard_edges"] = {"path": node.text("hard_neg_edge_input_path"), "separator": separator(node)}
        draft["hard_count"] = node.integer("num_hard_sample")
    return draft

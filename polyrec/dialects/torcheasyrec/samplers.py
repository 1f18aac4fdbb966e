"""`data_config`'s samplers: items that join each batch, drawn in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polyrec.dialects.fields import mapped
from polyrec.dialects.node import Node, Value
from polyrec.dialects.sampling import KINDS, chosen, items_of, negatives_of, separator
from polyrec.dialects.torcheasyrec.ignored import UNUSED

REMAIN = {"UNIFORM": "uniform", "ARITHMETIC": "arithmetic", "RECIPROCAL": "reciprocal"}
REMAIN_NUMBERS = {0: "UNIFORM", 1: "ARITHMETIC", 2: "RECIPROCAL"}


def read_sampler(data: Node, value_separator: str, labels: Sequence[Value[str]]) -> dict[str, Any] | None:
    """`value_separator` stands between the values of attributes that are lists in the data."""
    kinds = {**KINDS, "tdm_sampler": "tdm"}
    found = chosen(data, kinds, UNUSED)
    if found is None:
        return None
    name, node = found
    draft = _tree(node, labels) if name == "tdm_sampler" else negatives_of(node, kinds[name])
    draft["items"]["value_separator"] = Value(value_separator or None, node.origin)
    if name == "negative_sampler":
        draft["id_separator"] = mapped(node.text("item_id_delim", ";"), lambda text: text or None)
    return draft


def _tree(node: Node, labels: Sequence[Value[str]]) -> dict[str, Any]:
    draft = items_of(node, "tdm")
    if not draft["attributes"]:
        node.report.problem(node.origin, node.at("attr_fields"), "is required; its first is the layer of a node")
        draft["attributes"] = [Value("", node.origin)]
    return {
        **draft,
        "edges": {"path": node.text("edge_input_path"), "separator": separator(node)},
        "layer": draft["attributes"][0],
        "label": next(iter(labels), Value("", node.origin)),
        "layers": node.integers("layer_num_sample"),
        "remain_ratio": node.number("remain_ratio", 1.0),
        "remain_by": node.choice("probability_type", REMAIN, "uniform", REMAIN_NUMBERS),
    }

"""The messages of models that rank and have one task, but for those of towers: what adds, multiplies and crosses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polyrec.dialects.fields import is_known, mapped, require
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.groups import Group
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.layers import HEAD, LINEAR, mlp, required_mlp, widths

Groups = Mapping[str, Group]
WIDE_WIDTHS = {"deepfm": 4, "wide_and_deep": 4, "xdeepfm": 16}
"""Models that take a WIDE group, and how wide its tables are unless they say otherwise."""


def check_named(node: Node, groups: Groups, kinds: Mapping[str, str], model: str) -> None:
    """Groups whose names the model gives, each of its kind."""
    for group in groups.values():
        is_known(group.node, "group_name", group.name, kinds, f"group of {model}")
    for name, kind in kinds.items():
        if name in groups and groups[name].kind != kind:
            path = groups[name].node.at("group_type")
            node.report.problem(groups[name].name.origin, path, f"the group {name} of {model} must be {kind}")


def first_group(node: Node, groups: Groups, model: str) -> Value[str]:
    """The name of the one group that such a model reads."""
    group = next(iter(groups.values()), None)
    if group is None:
        return Value("", node.origin)
    if group.kind != "DEEP":
        text = f"{model} reads the first group, {group.name.value}, which must be DEEP, not {group.kind}"
        node.report.problem(group.name.origin, group.node.at("group_type"), text)
    return group.name


def _wide_and_deep(node: Node, groups: Groups) -> dict[str, Any]:
    check_named(node, groups, {"wide": "WIDE", "deep": "DEEP"}, "wide_and_deep")
    return {
        "wide": Value("wide", node.origin),
        "deep": Value("deep", node.origin),
        "mlp": required_mlp(node, "deep"),
        "final": mlp(node.child("final")),
        "head": HEAD,
    }


def _xdeepfm(node: Node, groups: Groups) -> dict[str, Any]:
    check_named(node, groups, {"wide": "WIDE", "deep": "DEEP"}, "xdeepfm")
    cin = require(node, "cin")
    return {
        "wide": Value("wide", node.origin),
        "deep": Value("deep", node.origin),
        "cin": widths(cin, "cin_layer_size") if cin else [1],
        "cin_kernel": LINEAR,
        "mlp": required_mlp(node, "deep"),
        "final": required_mlp(node, "final"),
        "head": HEAD,
    }


def _vectors(node: Node, groups: Groups, model: str) -> dict[str, Any]:
    """The groups of a model of vectors that are multiplied: `sparse` and perhaps `dense`, or the only one there is."""
    if len(groups) == 1:
        sparse = first_group(node, groups, model)
    else:
        check_named(node, groups, {"sparse": "DEEP", "dense": "DEEP"}, model)
        sparse = Value("sparse", node.origin)
    if len(groups) > 1 and "dense" in groups:
        return {"sparse": sparse, "dense": {"group": "dense", "mlp": required_mlp(node, "dense_mlp")}}
    node.ignore({"dense_mlp": "only a group dense beside the group sparse has layers of its own"})
    return {"sparse": sparse, "dense": None}


def _dlrm(node: Node, groups: Groups) -> dict[str, Any]:
    return {
        **_vectors(node, groups, "dlrm"),
        "with_sparse": node.flag("arch_with_sparse", True),
        "final": required_mlp(node, "final"),
        "head": HEAD,
    }


def _wukong(node: Node, groups: Groups) -> dict[str, Any]:
    layers = []
    for layer in node.children("wukong_layers"):
        UNUSED.settle(layer)
        layers.append(
            {
                "mixed": layer.integer("lcb_feature_num"),
                "products": layer.integer("fmb_feature_num"),
                "compressed": layer.integer("compressed_feature_num", 16),
                "mlp": required_mlp(layer, "feature_num_mlp"),
            }
        )
    if not node.ask("wukong_layers"):
        node.report.problem(node.origin, node.at("wukong_layers"), "is required")
    return {
        **_vectors(node, groups, "wukong"),
        "layers": Value(layers, node.origin),
        "mixing": {"kind": "he_uniform"},
        "kernel": LINEAR,
        "final": required_mlp(node, "final"),
        "head": HEAD,
    }


def _dcn_v1(node: Node, groups: Groups) -> dict[str, Any]:
    cross = require(node, "cross")
    return {
        "group": first_group(node, groups, "dcn_v1"),
        "cross_layers": cross.integer("cross_num", 3) if cross else 3,
        "cross_kernel": {"kind": "glorot_uniform"},
        "mlp": required_mlp(node, "deep"),
        "final": required_mlp(node, "final"),
        "head": {**HEAD, "bias": False},
    }


def _dcn_v2(node: Node, groups: Groups) -> dict[str, Any]:
    cross = require(node, "cross")
    return {
        "group": first_group(node, groups, "dcn_v2"),
        "backbone": mlp(node.child("backbone")),
        "cross_layers": cross.integer("cross_num", 3) if cross else 3,
        "rank": cross.integer("low_rank", 32) if cross else 32,
        "cross_kernel": LINEAR,
        "mlp": mlp(node.child("deep")),
        "final": required_mlp(node, "final"),
        "head": {**HEAD, "bias": False},
    }


def _mask_net(node: Node, groups: Groups) -> dict[str, Any]:
    return {
        "group": first_group(node, groups, "mask_net"),
        "masks": masks(require(node, "mask_net_module"), node),
        "head": {**HEAD, "bias": False},
    }


def masks(node: Node | None, parent: Node) -> dict[str, Any]:
    """The blocks of a `MaskNetModule`."""
    if node is None:
        return {"blocks": Value(1, parent.origin), "hidden": 1, "ratio": 1.0, "kernel": LINEAR}
    UNUSED.settle(node)
    draft: dict[str, Any] = {
        "blocks": node.integer("n_mask_blocks"),
        "is_parallel": node.flag("use_parallel", True),
        "top": mlp(node.child("top_mlp")),
        "kernel": LINEAR,
    }
    block = require(node, "mask_block")
    if block is None:
        return {**draft, "hidden": 1, "ratio": 1.0}
    draft["hidden"] = block.integer("hidden_dim")
    ratio, size = block.number("reduction_ratio", 1.0), block.integer("aggregation_dim", 0)
    if ratio.value:
        reason = "reduction_ratio decides, which is 1 unless given; set that to 0 to go by aggregation_dim"
        block.ignore({"aggregation_dim": reason})
        return {**draft, "ratio": ratio}
    if not size.value:
        block.report.problem(ratio.origin, block.at("reduction_ratio"), "is 0, so aggregation_dim is required")
    return {**draft, "aggregation": mapped(size, lambda number: number or 1)}


RANK: dict[str, Callable[[Node, Groups], dict[str, Any]]] = {
    "wide_and_deep": _wide_and_deep,
    "dlrm": _dlrm,
    "dcn_v1": _dcn_v1,
    "dcn_v2": _dcn_v2,
    "xdeepfm": _xdeepfm,
    "mask_net": _mask_net,
    "wukong": _wukong,
}
"""What each message becomes."""

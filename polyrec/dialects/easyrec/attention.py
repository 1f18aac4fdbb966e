"""`SeqAttGroupConfig`: what a user did, read by its likeness to what is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polyrec.dialects.easyrec.feature import Feature
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.easyrec.layers import KERNEL, attention_dnn
from polyrec.dialects.easyrec.tables import Place, Tables
from polyrec.dialects.fields import is_known
from polyrec.dialects.node import Node, Value

ENDS: tuple[str, ...] = ("key", "hist_seq", "aux_hist_seq")


@dataclass(frozen=True)
class Attended:
    """A sequence group of the core."""

    name: Value[str]
    inputs: list[dict[str, Any]]
    widths: Mapping[str, int]
    """Of all keys, of all sequences that are scored, and of those that are only weighed."""

    def draft(self) -> dict[str, Any]:
        return {"name": self.name, "kind": "sequence", "inputs": self.inputs}


def read_attended(node: Node, prefix: str, features: Mapping[str, Feature], tables: Tables) -> Attended:
    """`prefix` is the group whose tables the features share, or empty when it is a group by itself."""
    UNUSED.settle(node)
    own = node.text("group_name")
    name = Value(f"{prefix}/{own.value}" if prefix else own.value, own.origin)
    inputs: dict[str, list[dict[str, Any]]] = {end: [] for end in ENDS}
    widths: dict[str, int] = dict.fromkeys(ENDS, 0)
    maps = node.children("seq_att_map")
    if not node.ask("seq_att_map"):
        node.report.problem(node.origin, node.at("seq_att_map"), "is required")
    for message in maps:
        for end in ENDS:
            for feature_name in message.texts(end):
                if is_known(message, end, feature_name, features, "feature"):
                    feature = features[feature_name.value]
                    if not _fits(message, end, feature_name, feature):
                        continue
                    found = tables.take(Place(message, end, prefix or own.value), feature_name, feature)
                    if found is not None:
                        inputs[end].append(found[0])
                        widths[end] += found[1]
        for end in ENDS[:2]:
            if not message.ask(end):
                message.report.problem(message.origin, message.at(end), "is required")
    return Attended(name, [item for end in ENDS for item in inputs[end]], widths)


def _fits(message: Node, end: str, name: Value[str], feature: Feature) -> bool:
    if feature.draft is None or feature.is_sequence == (end != "key"):
        return True
    wanted = "no sequence; a key is what the sequence is compared with" if end == "key" else "a SequenceFeature"
    message.report.problem(name.origin, message.at(end), f"{name.value} must be {wanted}")
    return False


def read_encoder(node: Node, attended: Attended) -> tuple[dict[str, Any], int]:
    """How a feature group reads it, and how wide the result is."""
    key, scored, others = (attended.widths[end] for end in ENDS)
    layers = attention_dnn(node, "seq_dnn", is_required=False)
    with_key, transforms = node.flag("need_key_feature", True), node.flag("allow_key_transform", False)
    by_layers = node.flag("transform_dnn", False)
    encoder: dict[str, Any] = {"kind": "target_attention", "mlp": layers, "with_query": with_key}
    if others:
        encoder["scored"] = scored
    width = scored + others + (key if with_key.value else 0)
    is_whole = all(message.ask(end) for message in node.children("seq_att_map") for end in ENDS[:2])
    if key == scored or not transforms.value or not key or not scored:
        if key != scored and key and scored and is_whole:
            message = f"the keys are {key} wide and the sequences {scored}; make them equal, or set allow_key_transform"
            node.report.problem(node.origin, node.at("seq_att_map"), message)
        return encoder, width
    if key > scored or by_layers.value:
        both = {"hidden": [scored], "activation": "linear", "kernel": KERNEL}
        encoder.update(transform=both, transform_positions=both)
        if with_key.value:
            encoder["query_as"] = "transformed"
            width += scored - key
    return encoder, width

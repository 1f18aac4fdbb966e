"""`sequence_encoders`: how the groups of sequences within a group become vectors of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyrec.dialects.fields import is_known
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.layers import required_mlp

ENCODERS = ("din_encoder", "pooling_encoder")


def read_encoders(
    group: Node, names: Mapping[str, Value[str]], lengths: Mapping[str, int | None]
) -> list[dict[str, Any]]:
    """The readings of a group. `names` are those of its groups of sequences here by their names in the config,
    `lengths` the positions that each has at most."""
    readings = []
    read: set[str] = set()
    nodes = group.children("sequence_encoders")
    for node in nodes:
        UNUSED.settle(node)
        kind = node.one_of(ENCODERS)
        message = node.child(kind) if kind else None
        if message is None or kind is None:
            if not node.fields:
                node.wrong(f"is empty; give it one of {', '.join(ENCODERS)}")
            continue
        UNUSED.settle(message)
        given = message.text("input", next(iter(names))) if len(names) == 1 else message.text("input")
        encoder: dict[str, Any] = {"kind": "target_attention"}
        if kind == "din_encoder":
            encoder["mlp"] = required_mlp(message, "attn_mlp")
        else:
            by = message.choice("pooling_type", {"mean": "mean", "sum": "sum"}, "mean")
            encoder = {"kind": "pooling", "by": by}
        if is_known(message, "input", given, names, "group of sequences"):
            name = names[given.value]
            read.add(given.value)
            _check_length(message, lengths.get(name.value))
            readings.append({"group": Value(name.value, given.origin), "encoder": encoder})
    for name, value in names.items():
        # An encoder that could not be read may be meant for it.
        if name not in read and len(readings) == len(nodes):
            message = f"nothing reads the group of sequences {name}; give it a sequence_encoder"
            group.report.problem(value.origin, group.at("sequence_groups"), message)
    return readings


def _check_length(node: Node, longest: int | None) -> None:
    """Sequences are cut where features are made."""
    most = node.integer("max_seq_length", 0)
    if most.value and (longest is None or longest > most.value):
        message = f"cut the sequences by their sequence_length instead: set it to {most.value} or leave this out"
        node.report.problem(most.origin, node.at("max_seq_length"), message)

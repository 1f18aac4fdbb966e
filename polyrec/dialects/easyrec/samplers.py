"""`data_config`'s samplers: items that join each batch, drawn in this process."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.node import Node, Value
from polyrec.dialects.sampling import KINDS, chosen, negatives_of

IN_MEMORY = "negative_sampler_in_memory"


def read_sampler(data: Node) -> dict[str, Any] | None:
    kinds = {**KINDS, IN_MEMORY: "negative"}
    found = chosen(data, kinds, UNUSED)
    if found is None:
        return None
    name, node = found
    draft = negatives_of(node, kinds[name])
    if name == IN_MEMORY:
        draft.update(draw_by=Value("evenly", node.origin), is_distinct=Value(True, node.origin))
    return draft

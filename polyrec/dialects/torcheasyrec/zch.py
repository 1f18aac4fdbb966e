"""`zch`: tables whose values share the rows, each with its own as long as there are any."""

from __future__ import annotations

import math
import re
from typing import Any

from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.ignored import UNUSED

EVERY_VALUE = 2**63 - 1
"""Ids that hashes may be when the table finds rows for them."""

EVICTIONS = ("lfu", "lru", "distance_lfu")
_COUNT = r"(\d+(?:\.\d*)?)"
_FILTER = re.compile(rf"lambda\s+(\w+)\s*:\s*\(\s*\1\s*(>=?)\s*{_COUNT}\s*,\s*{_COUNT}\s*\)")


def read_zch(node: Node) -> tuple[Value[int], dict[str, Any]]:
    """Rows of the table, and its `collisions`."""
    UNUSED.settle(node)
    rows, every = node.integer("zch_size"), node.integer("eviction_interval", 5)
    eviction = node.one_of(EVICTIONS)
    if eviction is None:
        node.wrong(f"needs one of {', '.join(EVICTIONS)}: what is evicted when all rows are taken")
    message = node.child(eviction) if eviction else None
    decay = Value(1.0, node.origin)
    if message is not None and eviction != "lfu":
        decay = message.number("decay_exponent", 1.0)
    draft = {"eviction": eviction or "lfu", "every_steps": every, "decay": decay, "at_least": _at_least(node)}
    return rows, draft


def _at_least(node: Node) -> Value[float] | None:
    """How often a value must be seen; upstream runs the text as Python, here one form of it is known."""
    text = node.text("threshold_filtering_func", "")
    if not text.value:
        return None
    found = _FILTER.fullmatch(text.value.strip())
    if found is None:
        message = (
            f"{text.value} is not a filter that is known, and is never run; write lambda x: (x > 10, 10) with numbers"
        )
        node.report.problem(text.origin, node.at("threshold_filtering_func"), message)
        return None
    number = float(found.group(3))
    # Counts are whole.
    return Value(float(math.floor(number) + 1 if found.group(2) == ">" else math.ceil(number)), text.origin)

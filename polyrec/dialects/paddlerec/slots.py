"""A PaddleRec `dataset`: slot text, its slots, and how rows become batches."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from polyrec.dialects.node import Node, Value
from polyrec.dialects.paddlerec.fields import no_lists, one_of
from polyrec.dialects.paddlerec.workspace import Workspace
from polyrec.errors import Origin

REFUSED = {
    "data_converter": "custom readers are not available yet; write the data as slot text, `slot:value slot:value ...`",
    "reader_class_name": "custom readers are not available yet; write the data as slot text, `slot:value ...`",
}


@dataclass(frozen=True, slots=True)
class Dataset:
    """One item of `dataset`."""

    name: Value[str]
    path: Value[str]
    batch_size: Value[int]
    padding: Value[int]
    drops_last: Value[bool]
    """Whether training leaves out the last batch when it is not full."""
    sparse: list[Value[str]]
    sparse_place: tuple[Origin, str]
    """Where the sparse slots are declared, or should be, and the path of that field."""
    dense: list[tuple[Value[str], Value[int]]]
    """Names and widths."""
    origin: Origin

    def reader(self) -> dict[str, Any]:
        dense = [{"name": name, "size": size} for name, size in self.dense]
        return {"kind": "slots", "sparse": list(self.sparse), "dense": dense, "padding": self.padding}


def read_dataset(node: Node, workspace: Workspace) -> Dataset:
    no_lists(node)
    node.refuse(REFUSED)
    kind = one_of(node, "type", {"dataloader": True, "queuedataset": False})
    declared = node.peek("sparse_slots")
    dataset = Dataset(
        name=node.text("name"),
        path=workspace.fill(node, "data_path"),
        batch_size=node.integer("batch_size"),
        padding=node.integer("padding", 0),
        drops_last=kind,
        sparse=_words(node, "sparse_slots"),
        sparse_place=(declared[-1].origin if declared else node.origin, node.at("sparse_slots")),
        dense=[_dense(node, word) for word in _words(node, "dense_slots")],
        origin=node.origin,
    )
    names = [name.value for name in dataset.sparse] + [name.value for name, _ in dataset.dense]
    for name in sorted({name for name in names if names.count(name) > 1}):
        node.wrong(f"slot {name} is declared more than once")
    return dataset


def _words(node: Node, name: str) -> list[Value[str]]:
    """Words between blanks; a single slot with a number for its name may stand without quotes."""
    found = node.ask(name)
    if not found:
        return []
    if found[-1].fields is not None:
        found[-1].wrong('needs names between blanks, such as "click 1 2 3"')
        return []
    return [Value(word, found[-1].origin) for word in str(found[-1].scalar).split()]


def _dense(node: Node, word: Value[str]) -> tuple[Value[str], Value[int]]:
    match = re.fullmatch(r"([^:\s]+):(\d+|\[\d+(?:,\d+)*\])", word.value)
    if match is None:
        parts = re.fullmatch(r"(\w+)\W+(\d+)", word.value)
        hint = f"; did you mean {parts[1]}:{parts[2]}?" if parts else ', such as "dense_var:13"'
        node.ask("dense_slots")[-1].wrong(f"{word.value}: needs name:width{hint}")
        return word, Value(1, word.origin)
    width = math.prod(int(number) for number in re.findall(r"\d+", match[2]))
    return Value(match[1], word.origin), Value(width, word.origin)

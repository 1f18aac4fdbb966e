"""A PaddleRec `dataset`: slot text or lines for a reader class, its slots, and how rows become batches."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyrec import scripts
from polyrec.dialects.node import Node, Value
from polyrec.dialects.paddlerec.fields import no_lists, one_of
from polyrec.dialects.paddlerec.workspace import Workspace
from polyrec.errors import Origin, nearest

FOR_READER = "kept for the reader, which may ask for it"


@dataclass(frozen=True, slots=True)
class Converter:
    """A reader class in the workspace."""

    script: Value[str]
    class_name: Value[str]
    settings: dict[str, Any]
    """What it may ask for."""


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
    converter: Converter | None = None
    """None for slot text."""

    def reader(self) -> dict[str, Any]:
        dense = [{"name": name, "size": size} for name, size in self.dense]
        draft = {"kind": "slots", "sparse": list(self.sparse), "dense": dense, "padding": self.padding}
        if self.converter is None:
            return draft
        script = {"script": self.converter.script, "class_name": self.converter.class_name}
        return {**draft, **script, "kind": "script", "settings": self.converter.settings}


def read_dataset(node: Node, workspace: Workspace, settings: dict[str, Any]) -> Dataset:
    """`settings` are what a reader class may ask for."""
    no_lists(node)
    kind = one_of(node, "type", {"DataLoader": True, "QueueDataset": False})
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
        converter=_converter(node, workspace, settings),
    )
    names = [name.value for name in dataset.sparse] + [name.value for name, _ in dataset.dense]
    for name in sorted({name for name in names if names.count(name) > 1}):
        node.wrong(f"slot {name} is declared more than once")
    return dataset


def _converter(node: Node, workspace: Workspace, settings: dict[str, Any]) -> Converter | None:
    if not node.has("data_converter"):
        node.ignore({"reader_class_name": "only a data_converter has classes"})
        return None
    script = workspace.fill(node, "data_converter")
    class_name = node.text("reader_class_name", "Reader")
    known = {*node.known, "name", "type", "data_path", "batch_size", "padding", "sparse_slots", "dense_slots"}
    node.ignore(dict.fromkeys((name for name in node.fields or () if name not in known), FOR_READER))
    if not Path(script.value).is_file():
        node.ask("data_converter")[-1].wrong(f"{script.value}: no such reader file{_siblings(Path(script.value))}")
    elif not Path(script.value).resolve().is_relative_to(Path(workspace.folder).resolve()):
        text = f"{script.value}: is outside of the workspace, {workspace.folder}; only readers in it are run"
        node.ask("data_converter")[-1].wrong(text)
    else:
        scripts.trust(Path(script.value))
    return Converter(script, class_name, settings)


def _siblings(path: Path) -> str:
    """The nearest name beside a file that is not there."""
    return nearest(path.name, [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else [])


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

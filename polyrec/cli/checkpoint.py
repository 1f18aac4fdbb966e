"""polyrec checkpoint ls: names, shapes and sizes of the tensors in a checkpoint."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from polyrec.cli.flags import Flags
from polyrec.errors import CheckpointError, ConfigError, nearest
from polyrec.storage import copies, is_remote, listing, plain

INDEX = ".metadata"
"""The file that says what tensors a folder holds."""


def flags() -> Flags:
    found = Flags("polyrec checkpoint", __doc__)
    found.add_argument("what", metavar="ls")
    found.add_argument("path", metavar="PATH", help="folder of a checkpoint")
    found.add_argument("--json", action="store_true", help="every tensor in the line of JSON, no text")
    found.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return found


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.what != "ls":
        raise ConfigError(f"polyrec checkpoint {arguments.what}: unknown{nearest(arguments.what, ['ls'])}; known: ls")
    tensors = contents(arguments.path)
    total = sum(item["bytes"] for item in tensors)
    if not arguments.json:
        lines = [f"{item['name']}  {item['shape']}  {item['type']}  {item['bytes']} bytes" for item in tensors]
        sys.stderr.write("\n".join([*lines, f"{len(tensors)} tensors, {total} bytes"]) + "\n")
    result: dict[str, Any] = {"checkpoint": arguments.path, "num_tensors": len(tensors), "bytes": total}
    return result | ({"tensors": tensors} if arguments.json else {})


def contents(path: str) -> list[dict[str, Any]]:
    """Tensors of every torch DCP folder in the checkpoint: weights, then what goes with them, each largest first.

    A weight has the name that a map of names for fine-tuning calls it by; other tensors begin with their folder.
    """
    place = _indexes(path) if is_remote(path) else Path(plain(path))
    if not place.is_dir():
        raise CheckpointError(f"{path}: no such folder")
    folders = sorted(file.parent for file in place.rglob(INDEX))
    if not folders:
        raise CheckpointError(f"{path}: holds no checkpoint (no {INDEX} file in it)")
    from polyrec.checkpoint.tensors import shapes

    found = []
    for folder in folders:
        part = folder.relative_to(place).as_posix()
        is_weights = part in (".", "model")
        for name, (shape, kind) in shapes(folder).items():
            full = name if is_weights else f"{part}/{name}"
            size = math.prod(shape) * kind.itemsize
            found.append((not is_weights, -size, full, list(shape), str(kind).removeprefix("torch.")))
    names = ("name", "shape", "type", "bytes")
    return [dict(zip(names, (*item, -size), strict=True)) for _, size, *item in sorted(found)]


def _indexes(url: str) -> Path:
    """The indexes of a checkpoint in a store, without its tensors."""
    names = {name: size for name, size in listing.below(url).items() if name.rpartition("/")[2] == INDEX}
    return copies.held(url, json.dumps(["indexes", names]), names, lambda place: None)

"""The network as a graph that runs without its Python code, written, checked and read back."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import torch
from torch import Tensor, nn
from torch._dynamo.exc import UserError

from polyrec.errors import ExportError

# What the size expressions of a graph are made of; torch evaluates them as code, so anything else is refused.
_SIZE_PART = re.compile(
    r"Symbol\('[a-z]+\d+'(?:, (?:positive|nonnegative|integer)=(?:True|False))*\)|Integer\(-?\d+\)|-?\d+|[su]\d+"
    r"|Add|Mul|Pow|Max|Min|Mod|FloorDiv|CeilDiv|Rational|int_oo|oo|[-+*/(), ]"
)


def trace(network: nn.Module, groups: dict[str, Tensor]) -> torch.export.ExportedProgram:
    """The graph for any number of rows and any length of sequences."""
    rows = torch.export.Dim("rows", min=1)
    shapes: dict[str, dict[int, torch.export.Dim]] = {}
    for name, value in groups.items():
        shapes[name] = {0: rows}
        if value.dim() == 3:
            shapes[name][1] = torch.export.Dim(f"length_{len(shapes)}", min=1)
    # Sizes of 0 and 1 would be taken for constants, so the example has neither.
    example = {name: _at_least_two(value) for name, value in groups.items()}
    try:
        return torch.export.export(network, ({**example},), dynamic_shapes=(shapes,))
    except UserError as error:
        raise ExportError(f"the network cannot be written as a graph: {error}") from None


def _at_least_two(value: Tensor) -> Tensor:
    value = torch.cat([value, value, value]) if value.shape[0] < 3 else value
    if value.dim() == 3 and value.shape[1] < 3:
        value = torch.cat([value, value, value], dim=1)
    return value


def read(path: Path) -> nn.Module:
    """The graph as a module, after a look at the file: nothing in it may be a pickle or an expression to evaluate."""
    _inspect(path)
    return torch.export.load(path).module()


def _inspect(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                inner = name.partition("/")[2]
                if (
                    "custom_obj" in inner
                    or "opaque" in inner
                    or (inner.startswith("data/weights/") and inner.endswith(".pt"))
                ):
                    raise ExportError(f"{path}: holds {inner}, which is not plain numbers")
                if inner.endswith(".json"):
                    _inspect_values(path, json.loads(archive.read(name)))
    except (zipfile.BadZipFile, ValueError) as error:
        raise ExportError(f"{path}: cannot be read: {error}") from None


def _inspect_values(path: Path, value: object) -> None:
    if isinstance(value, list):
        for item in value:
            _inspect_values(path, item)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key == "use_pickle" and item:
            raise ExportError(f"{path}: holds pickled data, which is never loaded")
        if key == "expr_str" and _SIZE_PART.sub("", str(item)):
            raise ExportError(f"{path}: {str(item)[:80]!r} is not a size")
        _inspect_values(path, item)

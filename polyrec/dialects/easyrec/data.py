"""`data_config` and the input paths: where rows come from and how they become batches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.easyrec.samplers import read_sampler
from polyrec.dialects.fields import is_known, mapped, positive, text_or_none, unique
from polyrec.dialects.node import Node, Value
from polyrec.maxcompute import DEFAULT_QUOTA

INPUTS = {
    "CSVInput": "csv",
    "CSVInputV2": "csv",
    "CSVInputEx": "csv_plain",
    "ParquetInput": "parquet",
    "ParquetInputV2": "parquet",
    "OdpsInput": "odps",
    "OdpsInputV2": "odps",
    "OdpsInputV3": "odps",
}
INPUT_NUMBERS = {
    10: "CSVInput",
    11: "CSVInputV2",
    12: "CSVInputEx",
    19: "ParquetInput",
    20: "ParquetInputV2",
    2: "OdpsInput",
    3: "OdpsInputV2",
    9: "OdpsInputV3",
}
COLUMNAR = ("parquet", "odps")
"""Kinds whose columns have types and names of their own."""
TYPES = {"INT32": "int", "INT64": "int", "STRING": "string", "FLOAT": "float", "DOUBLE": "double", "BOOL": "bool"}
TYPE_NUMBERS = {0: "INT32", 1: "INT64", 2: "STRING", 4: "FLOAT", 5: "DOUBLE", 6: "BOOL"}
PATHS = {
    "train": ("train_input_path", "parquet_train_input"),
    "evaluate": ("eval_input_path", "parquet_eval_input"),
}


_REMAINDER = "EasyRec itself honours it with Parquet only"


@dataclass(frozen=True)
class DataSection:
    """What the rest of the config needs to know of the data."""

    draft: Any
    is_parquet: bool
    fields: dict[str, str]
    """Type of each input field."""
    labels: list[Value[str]]
    sample_weight: Value[str] | None
    batch_size: int
    epochs: Value[Any]
    expands: bool = False
    """Whether `field[1-3]` stands for field1, field2 and field3."""

    def expanded(self, names: list[Value[str]]) -> list[Value[str]]:
        return [name for given in names for name in (expanded(given) if self.expands else [given])]


def read_data(root: Node) -> DataSection:
    node = root.child("data_config")
    paths = {part: _paths(root, names) for part, names in PATHS.items()}
    if node is None:
        if not root.ask("data_config"):
            root.report.problem(root.origin, "data_config", "is required")
        return DataSection(Value(None, root.origin), False, {}, [], None, 1, Value(1, root.origin))
    UNUSED.settle(node)
    kind = node.choice("input_type", INPUTS, numbers=INPUT_NUMBERS)
    expands = node.flag("auto_expand_input_fields", False).value
    columns = _columns(node, expands)
    reader: dict[str, Any] = {"kind": Value(kind.value.partition("_")[0], kind.origin)}
    separator, header = node.text("separator", ","), node.flag("with_header", False)
    remainder = node.flag("drop_remainder", False)
    if kind.value in COLUMNAR:
        node.ignore({name: "only text files have it" for name in ("separator", "with_header")})
        if kind.value == "odps":
            reader.update(quota=DEFAULT_QUOTA)
            node.ignore({"drop_remainder": _REMAINDER})
    else:
        for column in columns:
            if column["type"].value == "bool":
                message = "text files hold no BOOL; declare it STRING or INT32"
                node.report.problem(column["type"].origin, node.at("input_fields.input_type"), message)
        reader.update(columns=columns, separator=separator, header=header, quotes=kind.value != "csv_plain")
        node.ignore({"drop_remainder": _REMAINDER})
    batch_size = node.integer("batch_size", 32)
    shuffle, buffer = node.flag("shuffle", True), node.integer("shuffle_buffer_size", 32)
    names = {column["name"].value: column["type"].value for column in columns}
    draft = {
        **paths,
        "reader": reader,
        "batch_size": batch_size,
        "eval_batch_size": batch_size,
        "drop_remainder": remainder if kind.value == "parquet" else False,
        "shuffle_rows": mapped(buffer, lambda rows: rows if shuffle.value else 0),
        "file_order": mapped(shuffle, lambda on: "shuffled" if on else "kept"),
        "faults": {"policy": mapped(node.flag("ignore_error", False), lambda on: "skip" if on else "fail")},
        "sampler": read_sampler(node),
    }
    labels, weight = node.texts("label_fields"), text_or_none(node, "sample_weight")
    if not node.ask("label_fields"):
        node.report.problem(node.origin, node.at("label_fields"), "is required")
    if names:
        labels = [label for label in labels if is_known(node, "label_fields", label, names, "input field")]
        if weight is not None:
            is_known(node, "sample_weight", weight, names, "input field")
    epochs = positive(node, "num_epochs", None)
    return DataSection(draft, kind.value == "parquet", names, labels, weight, batch_size.value, epochs, expands)


def _paths(root: Node, names: tuple[str, ...]) -> list[Value[str]]:
    name = root.one_of(names)
    path = root.text(name, "") if name else None
    return [path] if path is not None and path.value else []


def expanded(name: Value[str]) -> list[Value[str]]:
    found = re.fullmatch(r"(.*?)\[(\d{1,6})-(\d{1,6})\](.*)", name.value)
    if found is None:
        return [name]
    before, first, last, after = found.groups()
    return [Value(f"{before}{number}{after}", name.origin) for number in range(int(first), int(last) + 1)]


def _columns(node: Node, expands: bool) -> list[dict[str, Any]]:
    """The fields in the order of the file; an empty one is read as its default, "" or 0."""
    columns = []
    seen: dict[str, Value[str]] = {}
    for field in node.children("input_fields"):
        UNUSED.settle(field)
        name = field.text("input_name")
        kind = field.choice("input_type", TYPES, "string", TYPE_NUMBERS)
        default = _default(field, kind.value)
        for one in expanded(name) if expands else [name]:
            if unique(field, "input_name", one, seen):
                columns.append({"name": one, "type": kind, "default": default})
    if not node.ask("input_fields"):
        node.report.problem(node.origin, node.at("input_fields"), "is required")
    return columns


def _default(field: Node, kind: str) -> Value[str]:
    default = field.text("default_val", "")
    if kind in ("string", "bool"):
        return default
    try:
        return mapped(default, lambda text: str(int(text or 0)) if kind == "int" else str(float(text or 0)))
    except ValueError:
        message = f'needs a {"whole " if kind == "int" else ""}number in quotes, not "{default.value}"'
        field.report.problem(default.origin, field.at("default_val"), message)
        return Value("0", default.origin)

"""`data_config` and the input paths: where rows come from and how they become batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from polyrec.dialects.fields import is_known, mapped, positive, text_or_none
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.samplers import read_sampler
from polyrec.errors import nearest

Mode = Literal["encoded", "raw", "bucketize"]
"""What columns hold: ids and numbers ready to use, raw values, or values that only lack their bucket."""

MODES: dict[str, Mode] = {"FG_NONE": "encoded", "FG_NORMAL": "raw", "FG_DAG": "raw", "FG_BUCKETIZE": "bucketize"}
MODE_NUMBERS = {1: "FG_NONE", 2: "FG_NORMAL", 3: "FG_DAG", 4: "FG_BUCKETIZE"}
FARM = "use_farm_hash_to_bucketize"
"""A field of our own for what upstream reads from the environment."""
READERS = {"ParquetDataset": "parquet", "CsvDataset": "csv", "OdpsDataset": "odps", "OdpsDatasetV1": "odps"}
READER_NUMBERS = {1: "OdpsDataset", 2: "ParquetDataset", 3: "CsvDataset", 4: "OdpsDatasetV1"}
COMPRESSIONS = {name: name for name in ("UNCOMPRESSED", "ZSTD", "LZ4_FRAME")}
OF_TABLES = ("is_orderby_partition", "odps_data_quota_name", "odps_data_compression")
OF_TEXT = ("input_fields", "input_fields_str", "delimiter", "with_header")
TYPES = {"INT32": "int", "INT64": "int", "STRING": "string", "FLOAT": "float", "DOUBLE": "double"}
NESTED = ("ARRAY_", "MAP_")
"""How the names of types begin whose values are lists and maps, which text files do not hold."""
TYPE_NUMBERS = {0: "INT32", 1: "INT64", 2: "STRING", 3: "FLOAT", 4: "DOUBLE"}
TYPE_ALIASES = {**TYPES, "INT": "int", "BIGINT": "int"}


@dataclass(frozen=True)
class DataSection:
    """What the rest of the config needs to know of the data."""

    draft: Any
    mode: Mode
    value_separator: str
    """Between the values of an encoded text."""
    labels: list[Value[str]]
    weights: list[Value[str]]
    hash_function: Value[str]
    masking: dict[str, Value[float]]
    """How often features with `use_mask` are hidden."""


def read_data(root: Node) -> DataSection:
    node = root.child("data_config")
    paths = {"train": root.text("train_input_path", ""), "evaluate": root.text("eval_input_path", "")}
    if node is None:
        if not root.ask("data_config"):
            root.report.problem(root.origin, "data_config", "is required")
        hash_function = Value("murmur64", root.origin)
        return DataSection(Value(None, root.origin), "raw", "", [], [], hash_function, {})
    UNUSED.settle(node)
    kind = node.choice("dataset_type", READERS, numbers=READER_NUMBERS)
    columns = _columns(node) if kind.value == "csv" else []
    reader: dict[str, Any] = {"kind": kind}
    header = Value(False, node.origin)
    if kind.value == "csv":
        delimiter, header = node.text("delimiter", ","), node.flag("with_header", False)
        if not columns and not header.value:
            node.report.problem(kind.origin, node.at("input_fields"), "is required for a CSV file without header")
        reader.update(columns=columns, separator=delimiter, header=header, quotes=True)
    else:
        node.ignore(dict.fromkeys(OF_TEXT, "only text files have it; others name and type their columns themselves"))
    in_order = node.flag("is_orderby_partition", False)
    quota = node.text("odps_data_quota_name", "pay-as-you-go")
    compression = node.choice("odps_data_compression", COMPRESSIONS, "LZ4_FRAME")
    if kind.value == "odps":
        reader.update(quota=quota, compression=compression)
    else:
        node.ignore(dict.fromkeys(OF_TABLES, "only MaxCompute tables have it"))
    batch_size = node.integer("batch_size", 1024)
    shuffle, buffer = node.flag("shuffle", False), node.integer("shuffle_buffer_size", 32)
    draft = {
        **{name: [path] if path.value else [] for name, path in paths.items()},
        "reader": reader,
        "batch_size": batch_size,
        "eval_batch_size": positive(node, "eval_batch_size", batch_size.value),
        "drop_remainder": node.flag("drop_remainder", False),
        # The buffer counts batches upstream, and only files of text change their order there.
        "shuffle_rows": mapped(buffer, lambda batches: batches * batch_size.value if shuffle.value else 0),
        "file_order": mapped(shuffle, lambda on: "shuffled" if on else "kept"),
        "dealing": mapped(in_order, lambda on: "each_file" if on and kind.value == "odps" else "end_to_end"),
    }
    draft |= _costs(node, [column["name"].value for column in reader.get("columns", ())] if not header.value else [])
    labels, weights = node.texts("label_fields"), node.texts("sample_weight_fields")
    if not node.ask("label_fields"):
        node.report.problem(node.origin, node.at("label_fields"), "is required")
    if kind.value == "csv" and columns and not header.value:
        names = [column["name"].value for column in columns]
        labels = [label for label in labels if is_known(node, "label_fields", label, names, "input field")]
        weights = [weight for weight in weights if is_known(node, "sample_weight_fields", weight, names, "input field")]
    hash_function = mapped(node.flag(FARM, False), lambda on: "farm64" if on else "murmur64")
    masking = {
        "probability": node.number("sample_mask_prob", 0.0),
        "negative_probability": node.number("negative_sample_mask_prob", 0.0),
    }
    mode, separator = _mode(node), node.text("fg_encoded_multival_sep", "\x03").value
    draft["sampler"] = read_sampler(node, "\x1d" if mode == "raw" else separator, labels)
    return DataSection(draft, mode, separator, labels, weights, hash_function, masking)


def add_masking(data: DataSection, features: list[Value[str]]) -> None:
    """Hide the features that allow it, if it is ever to be done."""
    if features and any(value.value for value in data.masking.values()):
        data.draft["masking"] = {"features": features, **data.masking}


def _costs(node: Node, names: Sequence[str]) -> dict[str, Any]:
    """What rows cost, where batches are cut by that."""
    column, limit = text_or_none(node, "sample_cost_field"), positive(node, "batch_cost_size", None)
    if (column is None) != (limit.value is None):
        given, other = ("sample_cost_field", "batch_cost_size") if column else ("batch_cost_size", "sample_cost_field")
        origin = limit.origin if column is None else column.origin
        node.report.problem(origin, node.at(given), f"has no effect without {other}; give both or none")
    if column is None or limit.value is None:
        return {}
    if names and not is_known(node, "sample_cost_field", column, names, "input field"):
        return {}
    return {"cost_column": column, "cost_limit": limit}


def _mode(node: Node) -> Mode:
    encoded = node.flag("fg_encoded", True)
    mode: Value[Mode] = node.choice("fg_mode", MODES, MODES["FG_NONE"], MODE_NUMBERS)
    if node.has("fg_mode"):
        return mode.value
    if encoded.value:
        return "encoded"
    # Whether features are made one by one or together changes nothing here.
    return "raw"


def _columns(node: Node) -> list[dict[str, Any]]:
    """The columns of a CSV file; upstream has no default for empty text, so it stays null."""
    columns = []
    for field in node.children("input_fields"):
        columns.append({"name": field.text("input_name"), "type": _type(field), "default": None})
    text = node.text("input_fields_str", "")
    for part in text.value.split(";") if text.value else ():
        name, _, word = part.partition(":")
        if not name.strip():
            continue
        word = word.strip().upper()
        if word not in TYPE_ALIASES:
            message = f"{part.strip()}: {_not_a_type(word, TYPE_ALIASES)}"
            node.report.problem(text.origin, node.at("input_fields_str"), message)
            continue
        columns.append(
            {"name": Value(name.strip(), text.origin), "type": Value(TYPE_ALIASES[word], text.origin), "default": None}
        )
    return columns


def _type(field: Node) -> Value[str] | None:
    """None where it is left to be told from the values, as upstream does."""
    given = field.ask("input_type")
    if not given:
        return None
    word = given[-1].scalar
    if isinstance(word, str) and word.startswith(NESTED):
        given[-1].mark_read()
        given[-1].wrong(_not_a_type(word, TYPES))
        return Value("string", given[-1].origin)
    return field.choice("input_type", TYPES, numbers=TYPE_NUMBERS)


def _not_a_type(word: str, known: Mapping[str, str]) -> str:
    if word.startswith(NESTED):
        return f"{word} is not in text files; declare it STRING, whose values features divide by their separators"
    return f"{word or 'no type'} is not supported{nearest(word, known)}; known: {', '.join(known)}"

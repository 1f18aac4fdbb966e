"""`feature_config.features` and the older `feature_configs`: columns to ids and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyrec.dialects.easyrec.data import DataSection
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.fields import is_known, mapped, positive, text_or_none, unique
from polyrec.dialects.node import Node, Value

TYPES = {"IdFeature": "id", "RawFeature": "raw", "TagFeature": "tag"}
TYPE_NUMBERS = {0: "IdFeature", 1: "RawFeature", 2: "TagFeature"}
SCHEMES = ("hash_bucket_size", "vocab_list", "num_buckets")
POOLINGS = {"sum": "sum", "mean": "mean", "sqrtn": "sqrtn"}


@dataclass(frozen=True)
class Feature:
    """A feature of the core, and what the groups need to know of it."""

    name: Value[str]
    draft: dict[str, Any]
    width: int
    """Numbers per row; 0 for ids."""
    rows: Value[int] | None = None
    """Size of the id space, None for numbers."""
    embedding_dim: Value[int] | None = None
    embedding_name: Value[str] | None = None
    pooling: Value[str] | None = None
    init: dict[str, Any] | None = None
    """None for the default, which depends on the width."""


def read_features(root: Node, data: DataSection) -> dict[str, Feature]:
    """Features by name, in the order of the text."""
    nodes = root.children("feature_configs")
    newer = root.child("feature_config")
    if newer is not None:
        UNUSED.settle(newer)
        features = newer.children("features")
        if nodes and features:
            newer.ignore({"features": "feature_configs is given as well and wins"})
        nodes = nodes or features
    if not nodes:
        root.report.problem(root.origin, "feature_config.features", "is required")
    found: dict[str, Feature] = {}
    seen: dict[str, Value[str]] = {}
    for node in nodes:
        UNUSED.settle(node)
        feature = _feature(node, data)
        field = "feature_name" if node.has("feature_name") else "input_names"
        if unique(node, field, feature.name, seen):
            found[feature.name.value] = feature
    return found


def _feature(node: Node, data: DataSection) -> Feature:
    kind = node.choice("feature_type", TYPES, "id", TYPE_NUMBERS)
    columns = node.texts("input_names")
    if not columns:
        if not node.ask("input_names"):
            node.report.problem(node.origin, node.at("input_names"), "is required")
        columns = [Value("", node.origin)]
    elif data.fields:
        for column in columns:
            is_known(node, "input_names", column, data.fields, "input field")
    most = 2 if kind.value == "tag" else 1
    if len(columns) > most:
        message = f"this type of feature reads {'one column, or two: ids and weights' if most == 2 else 'one column'}"
        node.report.problem(columns[most].origin, node.at("input_names"), message)
    name = text_or_none(node, "feature_name") or columns[0]
    if kind.value == "raw":
        return _raw(node, name, columns[0])
    return _ids(node, name, columns, data, is_tag=kind.value == "tag")


def _ids(node: Node, name: Value[str], columns: list[Value[str]], data: DataSection, is_tag: bool) -> Feature:
    bucket, rows = _bucket(node, data)
    separator, weights = node.text("separator", "|"), text_or_none(node, "kv_separator")
    if not is_tag:
        node.ignore({field: "an IdFeature holds one value" for field in ("separator", "kv_separator")})
    unused = ("boundaries", "min_val", "max_val", "raw_input_dim")
    node.ignore({field: "only a RawFeature uses it" for field in unused})
    draft = {
        "kind": "id",
        "name": name,
        "column": columns[0],
        "bucket": bucket,
        "default": None,
        "separator": separator if is_tag else None,
        "kv_separator": weights if is_tag else None,
        "weight_column": columns[1] if is_tag and len(columns) > 1 else None,
        "max_values": None if is_tag else 1,
    }
    return Feature(name, draft, 0, rows, **_embedding(node))


def _embedding(node: Node) -> dict[str, Any]:
    return {
        "embedding_dim": positive(node, "embedding_dim", 0),
        "embedding_name": text_or_none(node, "embedding_name"),
        "pooling": node.choice("combiner", POOLINGS, "sum"),
        "init": _init(node),
    }


def _bucket(node: Node, data: DataSection) -> tuple[dict[str, Any], Value[int]]:
    given = [name for name in SCHEMES if node.has(name) and node.ask(name)[-1].scalar != 0]
    if len(given) > 1:
        node.ask(given[1])[-1].wrong(f"{given[0]} is given as well; leave one of them out")
    if not given:
        if not node.ask("vocab_file"):
            message = f"is required, or one of {', '.join(SCHEMES[1:])}"
            node.report.problem(node.origin, node.at("hash_bucket_size"), message)
        return {"kind": "identity", "rows": 1, "out_of_range": "zero"}, Value(1, node.origin)
    if given[0] == "hash_bucket_size":
        rows = node.integer("hash_bucket_size")
        return {"kind": "hash", "rows": rows, "function": "farm64"}, rows
    if given[0] == "vocab_list":
        words = node.texts("vocab_list")
        rows = Value(len(words), words[0].origin if words else node.origin)
        return {"kind": "vocabulary", "words": words, "ids": None, "unknown": 0, "rows": rows}, rows
    rows = node.integer("num_buckets")
    # Upstream wraps ids of Parquet files around; here such an id is an error, so that nothing differs in silence.
    bucket = {"kind": "identity", "rows": rows, "out_of_range": "error" if data.is_parquet else "zero", "missing": -1}
    return bucket, rows


def _init(node: Node) -> dict[str, Any] | None:
    message = node.child("initializer")
    if message is None:
        return None
    known = ("truncated_normal_initializer", "random_normal_initializer", "constant_initializer")
    kind = message.one_of((*known, "glorot_normal_initializer"))
    found = message.child(kind) if kind else None
    if found is None or kind not in known:
        what = "glorot_normal_initializer is not available yet" if kind else "is empty"
        message.wrong(f"{what}; available: {', '.join(known)}")
        return None
    if kind == "constant_initializer":
        values = found.numbers("consts")
        if len({value.value for value in values}) != 1:
            found.wrong("needs one number in consts; different numbers are not available yet")
            return None
        return {"kind": "constant", "value": values[0]}
    mean, std = found.number("mean", 0.0), found.number("stddev", 1.0)
    return {"kind": "truncated_normal" if kind == known[0] else "normal", "mean": mean, "std": std}


def _raw(node: Node, name: Value[str], column: Value[str]) -> Feature:
    low, high = node.number("min_val", 0.0), node.number("max_val", 0.0)
    is_scaled = high.value > low.value
    if high.value < low.value:
        node.report.problem(high.origin, node.at("max_val"), f"is less than min_val, {low.value:g}")
    boundaries, size = node.numbers("boundaries"), node.integer("raw_input_dim", 1)
    separator = node.text("separator", "|")
    unused = ("hash_bucket_size", "vocab_list", "kv_separator")
    node.ignore({field: "only features of ids use it" for field in unused})
    if boundaries:
        node.ignore({"num_buckets": "boundaries are given as well and win"})
        if size.value != 1:
            node.report.problem(size.origin, node.at("raw_input_dim"), "boundaries need a single number per row")
        if is_scaled:
            # Boundaries are of scaled numbers upstream; scaling them back spares the numbers.
            scale = high.value - low.value
            boundaries = [mapped(value, lambda place: place * scale + low.value) for value in boundaries]
        rows = Value(len(boundaries) + 1, boundaries[0].origin)
        draft = {"kind": "bucketized", "name": name, "column": column, "boundaries": boundaries, "default": 0.0}
        return Feature(name, draft, 0, rows, **_embedding(node))
    for buckets in node.ask("num_buckets"):
        if buckets.scalar != 0:
            buckets.wrong("equal buckets of numbers are not available yet; write boundaries")
    for embedding in node.ask("embedding_dim"):
        if embedding.scalar != 0:
            embedding.wrong("embedding of numbers is not available yet; give boundaries, or leave embedding_dim out")
    node.ignore({field: "only ids have a table" for field in ("embedding_name", "combiner")})
    node.ignore({"initializer": "only ids have a table"})
    draft = {
        "kind": "raw",
        "name": name,
        "column": column,
        "size": size,
        "separator": mapped(separator, lambda text: text if size.value > 1 else None),
        "default": 0.0,
        "normalizer": {"kind": "minmax", "low": low, "high": high} if is_scaled else None,
    }
    return Feature(name, draft, size.value)

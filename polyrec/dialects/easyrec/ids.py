"""`IdFeature` and `TagFeature`, and how the values of a feature of any type become rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from polyrec.dialects.easyrec.feature import Feature, Source, embedding
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.fields import mapped, positive, text_or_none
from polyrec.dialects.node import Node, Value
from polyrec.errors import ConfigError

SCHEMES = ("hash_bucket_size", "vocab_list", "vocab_file", "num_buckets")
ANY_ID = 2**63 - 1
"""Ids that a table with collisions tells apart."""
CAPACITY = 16_777_216


@dataclass(frozen=True)
class Ids:
    bucket: dict[str, Any]
    rows: Value[int]
    """Of the table."""
    collisions: dict[str, Any] | None = None

    def table(self) -> dict[str, Any]:
        return {"rows": self.rows, "collisions": self.collisions}


def read_id(source: Source) -> Feature:
    (column,) = source.columns_of(1, 1, "one column")[:1]
    ids = read_ids(source, SCHEMES, missing=-1)
    derived: list[dict[str, Any]] = []
    if ids.bucket["kind"] == "hash":
        column, derived = as_text(source, column)
    draft = id_draft(source, column, ids.bucket, max_values=1)
    return Feature(source.name, draft, 0, derived=tuple(derived), **ids.table(), **embedding(source.node))


def read_tag(source: Source) -> Feature:
    node, columns = source.node, source.columns_of(1, 2, "one column, or two: ids and weights")
    ids = read_ids(source, SCHEMES)
    weights = text_or_none(node, "kv_separator")
    if weights is not None and len(columns) > 1:
        message = "weights stand in the second of input_names already; leave one of them out"
        node.report.problem(weights.origin, node.at("kv_separator"), message)
        weights = None
    draft = id_draft(source, columns[0], ids.bucket, separator=node.text("separator", "|"), kv_separator=weights)
    draft["weight_column"] = columns[1] if len(columns) > 1 else None
    return Feature(source.name, draft, 0, **ids.table(), **embedding(node))


def id_draft(source: Source, column: Value[str] | str, bucket: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "kind": "id",
        "name": source.name,
        "column": column,
        "bucket": bucket,
        "default": None,
        "separator": None,
        "kv_separator": None,
        "weight_column": None,
        "max_values": None,
        **fields,
    }


def as_text(source: Source, column: Value[str]) -> tuple[Value[str], list[dict[str, Any]]]:
    """The column to hash: whole numbers and texts as they are, others written with so many decimals."""
    if not source.is_number(column):
        return column, []
    node = source.node
    places = node.integer("precision", -1)
    if places.value < 1:
        message = f"is required, 1 or more: {column.value} holds numbers with decimals, and its texts are hashed"
        node.report.problem(places.origin, node.at("precision"), message)
        places = Value(1, places.origin)
    name = mapped(column, lambda text: source.derived_name(f"{text}/fixed_point"))
    return name, [{"name": name, "operator": {"kind": "fixed_point", "column": column, "places": places}}]


def read_ids(source: Source, schemes: Sequence[str], missing: int | None = None) -> Ids:
    """The one scheme that a feature gives; `missing` is a number that stands for no id among `num_buckets`."""
    node = source.node
    given = [name for name in schemes if node.has(name) and node.ask(name)[-1].scalar not in (0, "")]
    if len(given) > 1:
        node.ask(given[1])[-1].wrong(f"{given[0]} is given as well; leave one of them out")
    if not given:
        others = f", or one of {', '.join(schemes[1:])}" if len(schemes) > 1 else ""
        node.report.problem(node.origin, node.at(schemes[0]), f"is required{others}")
        return Ids({"kind": "identity", "rows": 1, "out_of_range": "zero"}, Value(1, node.origin))
    if given[0] == "vocab_list":
        words = node.texts("vocab_list")
        rows = Value(len(words), words[0].origin if words else node.origin)
        return Ids({"kind": "vocabulary", "words": words, "ids": None, "unknown": 0, "rows": rows}, rows)
    if given[0] == "vocab_file":
        return _word_file(node)
    rows, collisions = table_rows(source, node.integer(given[0]))
    ids = Value(ANY_ID, rows.origin) if collisions else rows
    if given[0] == "hash_bucket_size":
        return Ids({"kind": "hash", "rows": ids, "function": "farm64"}, rows, collisions)
    # Upstream wraps ids of Parquet files around; here such an id is an error, so that nothing differs in silence.
    outside = "error" if source.data.is_parquet else "zero"
    bucket = {"kind": "identity", "rows": ids, "out_of_range": outside, "missing": missing}
    return Ids(bucket, rows, collisions)


def table_rows(source: Source, size: Value[int]) -> tuple[Value[int], dict[str, Any] | None]:
    """Rows of a table for so many ids, and how they share them when it grows upstream."""
    own = source.node.child("ev_params")
    params = own or source.ev_params
    if params is None:
        return size, None
    if own is not None:
        UNUSED.settle(params)
    capacity = positive(params, "max_capacity", CAPACITY)
    to_live, frequency = params.integer("steps_to_live", 0), positive(params, "filter_freq", None)
    rows = capacity if params.has("max_capacity") else mapped(size, lambda rows: min(rows, CAPACITY))
    eviction = mapped(to_live, lambda steps: "lru" if steps else "lfu")
    return rows, {"eviction": eviction, "at_least": frequency}


def _word_file(node: Node) -> Ids:
    from polyrec.features.buckets.vocabulary_file import read_words

    file = node.text("vocab_file")
    words: list[str] = []
    try:
        words, _ = read_words(file.value, has_ids=False)
    except ConfigError as error:
        node.report.problem(file.origin, node.at("vocab_file"), str(error))
    rows = Value(max(len(words), 1), file.origin)
    return Ids({"kind": "vocabulary_file", "file": file, "has_ids": False, "unknown": 0, "rows": rows}, rows)

"""Features of several columns: `ComboFeature` and `LookupFeature`."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.easyrec.feature import Feature, Source, embedding
from polyrec.dialects.easyrec.ids import Ids, as_text, id_draft, read_ids
from polyrec.dialects.fields import text_or_none
from polyrec.dialects.node import Value

HASHED = ("hash_bucket_size",)


def read_combo(source: Source) -> Feature:
    """TensorFlow takes columns that are split before the others, which decides texts and hashes."""
    node = source.node
    columns = source.columns_of(2, None, "two columns or more")
    ids = read_ids(source, HASHED)
    separators = _separators(source, columns)
    joint = text_or_none(node, "combo_join_sep")
    parts = sorted(zip(columns, separators, strict=True), key=lambda part: part[1] is None)
    derived: list[dict[str, Any]] = []
    texts: list[Value[str]] = []
    for column, separator in parts:
        text, made = as_text(source, column) if separator is None else (column, [])
        texts.append(text)
        derived += made
    operator: dict[str, Any] = {"columns": texts, "separators": [part[1] for part in parts], "missing": "value"}
    bucket = ids.bucket
    if joint is None:
        # The hash of the combination is its id already.
        bucket = {"kind": "identity", "rows": bucket["rows"], "out_of_range": "error"}
        operator.update(kind="cross", rows=bucket["rows"], integers="text")
    else:
        operator.update(kind="combo", joint=joint)
    name = source.derived_name(operator["kind"])
    derived.append({"name": name, "operator": operator})
    draft = id_draft(source, name, bucket)
    return Feature(source.name, draft, 0, derived=tuple(derived), **ids.table(), **embedding(node))


def _separators(source: Source, columns: list[Value[str]]) -> list[Value[str] | None]:
    node = source.node
    given = node.texts("combo_input_seps")
    if given and len(given) != len(columns):
        message = f"has {len(given)} for {len(columns)} columns; give each one, an empty one where nothing is split"
        node.report.problem(given[0].origin, node.at("combo_input_seps"), message)
        given = []
    if not given:
        return [None] * len(columns)
    for column, separator in zip(columns, given, strict=True):
        kind = source.data.fields.get(column.value, "string")
        if separator.value and kind != "string":
            message = f"only texts are split, and {column.value} is no STRING; leave its separator empty"
            node.report.problem(separator.origin, node.at("combo_input_seps"), message)
    return [separator if separator.value else None for separator in given]


def read_lookup(source: Source) -> Feature:
    """What the map of the second column holds for the key in the first."""
    node = source.node
    keys, pairs = source.columns_of(2, 2, "two columns: keys, and maps of what they stand for")[:2]
    ids: Ids = read_ids(source, HASHED)
    name = source.derived_name("lookup")
    operator = {
        "kind": "lookup",
        "map": pairs,
        "keys": keys,
        "separator": node.text("separator", "|"),
        "kv_separator": node.text("kv_separator"),
        "values": "text",
        "repeats": "all",
        "most": node.integer("lookup_max_sel_elem_num", 10),
    }
    draft = id_draft(source, name, ids.bucket)
    derived = ({"name": name, "operator": operator},)
    return Feature(source.name, draft, 0, derived=derived, **ids.table(), **embedding(node))

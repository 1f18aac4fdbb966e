"""Kinds of features: which column of values each of them makes of its inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polyrec.dialects.fields import mapped
from polyrec.dialects.node import Value
from polyrec.dialects.torcheasyrec import custom, text
from polyrec.dialects.torcheasyrec.ids import ALL, HASHED
from polyrec.dialects.torcheasyrec.place import Made, Place
from polyrec.dialects.torcheasyrec.readout import Fields

COMBINERS = {"sum": "sum", "mean": "mean", "avg": "mean", "min": "min", "max": "max", "count": "count"}
GAPS = {"gap_min": "gap_min", "gap_max": "gap_max"}
METHODS = (
    "query_common_ratio",
    "title_common_ratio",
    "is_contain",
    "is_equal",
    "index_of",
    "proximity_min_cover",
    "proximity_min_dist",
    "proximity_max_dist",
    "proximity_avg_dist",
)
MAP_SEPARATOR = "\x1d"
"""Stands between the entries of a map that is a text, whatever `separator` says of keys."""


@dataclass(frozen=True)
class Kind:
    fields: Fields
    make: Callable[[Place], Made]
    inputs: tuple[str, ...]
    """Fields that have no effect when columns hold the feature's values already."""


def separator(place: Place) -> Value[str]:
    return place.node.text("separator", "\x1d")


def _column(place: Place) -> Made:
    item = place.input("expression")
    place.check_sequence_fields([item])
    return Made(item.column, separator(place))


def _combo(place: Place) -> Made:
    inputs = place.inputs("expression")
    if not inputs:
        return Made(place.name)
    columns = [item.column for item in inputs]
    operator = {"kind": "combo", "columns": columns, "separators": [separator(place)] * len(columns)}
    return place.make(operator, inputs)


def _combine(place: Place) -> Made:
    node, item = place.node, place.input("expression")
    numbers = {entry.text("key").value: entry.number("value") for entry in node.children("value_map")}
    operator = {
        "kind": "combine",
        "column": item.column,
        "combiner": node.choice("combiner", {**COMBINERS, **GAPS}, "sum"),
        "separator": separator(place),
        "value_map": numbers or None,
        "truncate": place.scheme == "num_buckets",
    }
    return place.make(operator, [item])


def is_text(place: Place) -> bool:
    """Whether what is found in a map is text, which becomes ids as it is, or numbers."""
    node = place.node
    shown = [name for name in ("need_key", "show_pkey", "show_skey") if place.kind in _SHOWN[name] and
             node.flag(name, False).value]  # fmt: skip
    if shown and place.scheme in ("num_buckets", "boundaries"):
        node.ask(shown[0])[-1].wrong(f"makes texts, which {place.scheme} cannot take; use hash_bucket_size")
    need = node.flag("need_discrete", False)
    if need.value and place.scheme == "boundaries":
        node.ask("need_discrete")[-1].wrong("boundaries take numbers; leave one of them out")
    return place.scheme not in (None, "boundaries") or need.value or bool(shown)


_SHOWN = {"need_key": ("lookup_feature",), "show_pkey": ("match_feature",), "show_skey": ("match_feature",)}


def _lookup(place: Place) -> Made:
    node, inputs = place.node, [place.input("map"), place.input("key")]
    operator: dict[str, Any] = {
        "kind": "lookup",
        "map": inputs[0].column,
        "keys": inputs[1].column,
        "separator": MAP_SEPARATOR,
        "key_separator": separator(place),
        "repeats": "first",
    }
    combiner = node.choice("combiner", {"": None, **COMBINERS}, "sum")
    between, size = node.text("value_separator", ","), node.integer("value_dim", 1)
    need_key = node.flag("need_key", False)
    if is_text(place):
        operator.update(values="text", key_joint=mapped(need_key, lambda on: "_" if on else None))
        made = place.make(operator, inputs)
        if size.value > 1:
            # A value of several dimensions is a text of them.
            operator, part = {"kind": "listed", "column": made.column}, f"{made.column.value}.values"
            made = place.then(Made(made.column, between), operator, part)
        return Made(made.column, is_made=True, is_text=True)
    operator.update(values="number", combiner=combiner)
    if size.value > 1:
        operator.update(size=size, value_separator=between)
        operator["combiner"] = mapped(combiner, lambda name: name or "sum")
    elif combiner.value is None and (place.scheme is None or (node.has("value_dim") and size.value == 1)):
        operator["most"] = 1
    return place.make(operator, inputs)


def _match(place: Place) -> Made:
    node, nested = place.node, place.input("nested_map")
    keys = [None if node.text(name).value == "ALL" else place.input(name) for name in ("pkey", "skey")]
    inputs = [nested, *(key for key in keys if key is not None)]
    operator: dict[str, Any] = {
        "kind": "match",
        "map": nested.column,
        "outer_key": keys[0] and keys[0].column,
        "inner_key": keys[1] and keys[1].column,
        "key_separator": separator(place),
    }
    shown = {"show_outer": node.flag("show_pkey", False), "show_inner": node.flag("show_skey", False)}
    if is_text(place):
        # Words of a vocabulary are values; hashes are told apart by the feature's name.
        prefix = node.text("feature_name") if place.scheme in ("hash_bucket_size", "zch") else None
        column = place.make({**operator, "values": "text", "prefix": prefix, **shown}, inputs).column
        return Made(column, is_made=True, is_text=True)
    made = place.make({**operator, "values": "number"}, inputs)
    if place.scheme == "boundaries":
        return made
    # Keys that are ALL may hit several numbers.
    return place.then(made, {"kind": "combine", "column": made.column, "combiner": "sum"}, f"{made.column.value}.sum")


def _expression(place: Place) -> Made:
    inputs = place.inputs("variables")
    if not inputs:
        return Made(place.name)
    filled = place.node.flag("fill_missing", False)
    operator = {
        "kind": "expression",
        "variables": {item.name: item.column for item in inputs},
        "text": place.node.text("expression"),
        "separator": separator(place),
        "missing": mapped(filled, lambda on: "nan" if on else "skip"),
    }
    return place.make(operator, inputs)


def _overlap(place: Place) -> Made:
    inputs = [place.input("query"), place.input("title")]
    method = place.node.choice("method", {name: name for name in METHODS})
    columns = {"query": inputs[0].column, "title": inputs[1].column}
    return place.make({"kind": "overlap", **columns, "method": method, "separator": separator(place)}, inputs)


def _kv_dot_product(place: Place) -> Made:
    inputs = [place.input("query"), place.input("document")]
    columns = {"query": inputs[0].column, "document": inputs[1].column}
    between = place.node.text("kv_delimiter", ":")
    operator = {"kind": "kv_dot_product", **columns, "separator": separator(place), "kv_separator": between}
    return place.make(operator, inputs)


def _bool_mask(place: Place) -> Made:
    inputs = place.inputs("expression")
    if len(inputs) != 2:
        message = f"needs two inputs, the values and then their mask, not {len(inputs)}"
        place.node.report.problem(place.name.origin, place.node.at("expression"), message)
        return Made(place.name)
    columns = {"values": inputs[0].column, "mask": inputs[1].column}
    return place.make({"kind": "bool_mask", **columns, "separator": separator(place)}, inputs)


_RANGES = ("boundaries",)
_NUMBERS: dict[str, Any] = {"normalizer": True, "layers": True}

KINDS = {
    "id_feature": Kind(Fields(ALL, value_dim=0, weighted=True), _column, ("expression",)),
    "raw_feature": Kind(Fields(_RANGES, "0", value_dim=1, **_NUMBERS), _column, ("expression",)),
    "combo_feature": Kind(Fields(HASHED, value_dim=0), _combo, ("expression",)),
    "combine_feature": Kind(
        Fields(("num_buckets", "boundaries"), **_NUMBERS), _combine, ("expression", "value_map", "combiner")
    ),
    "lookup_feature": Kind(
        Fields((*ALL, "boundaries"), "0", value_dim=1, **_NUMBERS),
        _lookup,
        ("map", "key", "combiner", "need_discrete", "need_key", "value_separator"),
    ),
    "match_feature": Kind(
        Fields((*ALL, "boundaries"), "0", value_dim=1, **_NUMBERS),
        _match,
        ("nested_map", "pkey", "skey", "need_discrete", "show_pkey", "show_skey"),
    ),
    "expr_feature": Kind(
        Fields(_RANGES, "0", value_dim=0, layers=True), _expression, ("variables", "expression", "fill_missing")
    ),
    "overlap_feature": Kind(Fields(_RANGES, None, **_NUMBERS), _overlap, ("query", "title", "method")),
    "tokenize_feature": Kind(
        Fields(("vocab_file",), separator=False, has_bags=True, read_ids=text.read_tokens), text.make, text.INPUTS
    ),
    "kv_dot_product": Kind(Fields(_RANGES, "0", **_NUMBERS), _kv_dot_product, ("query", "document", "kv_delimiter")),
    "bool_mask_feature": Kind(Fields(ALL, value_dim=0), _bool_mask, ("expression",)),
    "custom_feature": Kind(Fields((*ALL, "boundaries"), "0", value_dim=1, **_NUMBERS), custom.make, custom.INPUTS),
}
GROUPS = "sequence_feature"
ALONE = (*KINDS, *(f"sequence_{name}" for name in KINDS))
"""Features that are in no group of sequences."""

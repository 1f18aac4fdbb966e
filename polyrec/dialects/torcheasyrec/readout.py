"""A column of values to a feature of the core: ids, ids of ranges, or numbers; in rows or in sequences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polyrec.dialects.fields import mapped
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.embedding import TableOf, no_layers, read_layers, read_table
from polyrec.dialects.torcheasyrec.ids import OF_WORDS, Ids, default_text, encoded, read_ids
from polyrec.dialects.torcheasyrec.outputs import normalized
from polyrec.dialects.torcheasyrec.place import Made, Place
from polyrec.dialects.torcheasyrec.values import normalizer, number_text

NOT_NUMBERS = "its values are no numbers here"


@dataclass(frozen=True)
class Feature:
    """A feature of the core, and what the groups need to know of it."""

    name: Value[str]
    draft: dict[str, Any]
    is_sequence: bool
    width: int
    """Numbers per row or position; 0 for ids."""
    table: TableOf | None = None
    layers: dict[str, Any] | None = None
    """What makes a vector of numbers."""
    is_masked: bool = False


@dataclass(frozen=True)
class Fields:
    """The fields of a kind of feature that say how its values are read."""

    schemes: tuple[str, ...]
    """How they may become ids."""
    default: str | None = ""
    """Of `default_value`; None when there is no such field."""
    separator: bool = True
    value_dim: int | None = None
    """Its default, where there is such a field; None for none."""
    normalizer: bool = False
    layers: bool = False
    weighted: bool = False
    has_bags: bool = False
    """Whether a position of a sequence has several values, though there is no `value_dim`."""
    read_ids: Callable[[Place], Ids] | None = None
    """For a kind whose ids are those of a file."""


def feature(place: Place, fields: Fields, made: Made) -> Feature:
    """The feature that reads a column of values."""
    if place.scheme == "boundaries":
        return _ranges(place, fields, made)
    if place.scheme is not None or made.is_text or "boundaries" not in fields.schemes:
        return _ids(place, fields, made)
    return _numbers(place, fields, made)


def masked(node: Node) -> bool:
    return node.flag("use_mask", False).value


def num_values(place: Place, fields: Fields) -> Value[int]:
    """`value_dim` of ids: how many of a row or position count, 0 for all."""
    if fields.value_dim is None:
        has_one = place.positions is not None and (place.positions.delimiter is None or not fields.has_bags)
        return Value(1 if has_one else 0, place.node.origin)
    usual = 1 if place.is_sequence else 0
    return place.node.integer("value_dim", usual)


# -- ids


def _ids(place: Place, fields: Fields, made: Made) -> Feature:
    ids = fields.read_ids(place) if fields.read_ids else read_ids(place, fields.schemes, fields.default or "")
    if fields.normalizer:
        place.node.ignore({"normalizer": NOT_NUMBERS})
    if fields.layers:
        no_layers(place.node, NOT_NUMBERS)
    return _of_ids(place, fields, made, ids)


def _of_ids(place: Place, fields: Fields, made: Made, ids: Ids) -> Feature:
    node = place.node
    draft: dict[str, Any] = {
        "name": place.name,
        "column": made.column,
        "bucket": ids.bucket,
        "default": ids.default,
    }
    values = num_values(place, fields)
    weighted = node.flag("weighted", False) if fields.weighted else Value(False, node.origin)
    weights = mapped(weighted, lambda is_weighted: ":" if is_weighted else None)
    if place.positions is None:
        draft.update(
            kind="id",
            separator=made.separator,
            kv_separator=weights,
            weight_column=None,
            max_values=None if place.data.mode == "encoded" else mapped(values, lambda number: number or None),
        )
    else:
        several = weighted.value or values.value != 1
        draft.update(
            kind="sequence_id",
            separator=None if made.is_made else place.positions.delimiter,
            max_length=place.positions.length,
            several=several,
            value_separator=made.separator,
            kv_separator=weights,
            max_values=mapped(values, lambda number: (number or None) if several else None),
        )
    table = read_table(node, place.name, ids.rows, place.scheme)
    return Feature(place.name, draft, place.is_sequence, 0, table, is_masked=masked(node))


def _ranges(place: Place, fields: Fields, made: Made) -> Feature:
    """Numbers become the ids of the ranges between boundaries."""
    node, mode = place.node, place.data.mode
    if fields.layers:
        no_layers(node, "boundaries make ids of its numbers")
    _no_words(node, fields)
    boundaries = node.numbers("boundaries")
    rows = Value(len(boundaries) + 1, boundaries[0].origin if boundaries else node.origin)
    scale = normalizer(node) if fields.normalizer else None
    if mode == "encoded":
        node.ignore({"normalizer": "with this fg_mode the column holds the bucket's number already"})
    bucket = {"kind": "boundaries", "rows": rows, "boundaries": boundaries}
    if scale is not None and mode == "bucketize":
        node.ignore({"normalizer": "with this fg_mode the column is normalised already"})
    elif scale is not None and mode == "raw":
        made = normalized(place, _one(place, fields, made), scale)
    default = default_text(place, fields.default)
    ids = encoded(place, Ids(bucket, default, rows))
    if mode == "encoded" or place.is_sequence or made.is_made or _size(place, fields).value != 1:
        return _of_ids(place, fields, made, ids)
    number = None if ids.default is None else number_text(node, "default_value", ids.default)
    draft = {"kind": "bucketized", "name": place.name, "column": made.column, "boundaries": boundaries}
    table = read_table(node, place.name, rows, None)
    return Feature(place.name, {**draft, "default": number}, False, 0, table, is_masked=masked(node))


def _no_words(node: Node, fields: Fields) -> None:
    if "vocab_list" in fields.schemes:
        node.ignore({name: "only a vocabulary uses it" for name in OF_WORDS})


# -- numbers


def _size(place: Place, fields: Fields) -> Value[int]:
    """`value_dim` of numbers: how many of a row or position there are."""
    if fields.value_dim is None:
        return Value(1, place.node.origin)
    return mapped(place.node.integer("value_dim", fields.value_dim), lambda number: max(number, 1))


def _one(place: Place, fields: Fields, made: Made) -> Made:
    """A single number's text is never divided."""
    return made if _size(place, fields).value > 1 else Made(made.column, None, made.is_made)


def _numbers(place: Place, fields: Fields, made: Made) -> Feature:
    node = place.node
    _no_words(node, fields)
    size = _size(place, fields)
    draft: dict[str, Any] = {"name": place.name, "column": made.column, "size": size}
    draft["default"] = _number_default(place, fields)
    scale = normalizer(node) if fields.normalizer else None
    if place.data.mode != "raw" and scale is not None:
        node.ignore({"normalizer": "with this fg_mode the column is normalised already"})
        scale = None
    draft["normalizer"] = scale
    between = _one(place, fields, made).separator
    if place.positions is None:
        draft.update(kind="raw", separator=between)
    else:
        draft.update(
            kind="sequence_raw",
            separator=None if made.is_made else place.positions.delimiter,
            value_separator=between,
            max_length=place.positions.length,
        )
    layers = _layers(place, fields)
    return Feature(place.name, draft, place.is_sequence, size.value, None, layers, masked(node))


def _layers(place: Place, fields: Fields) -> dict[str, Any] | None:
    if fields.layers and place.is_sequence:
        no_layers(place.node, "the numbers of a sequence are taken as they are")
    layers = read_layers(place.node) if fields.layers else None
    return None if place.is_sequence else layers


def _number_default(place: Place, fields: Fields) -> Value[float] | None:
    """Number for a null; none when encoded values have no default of their own, so that a null is an error."""
    node, usual = place.node, default_text(place, fields.default)
    if place.data.mode != "encoded":
        node.ignore({"fg_encoded_default_value": "values are not encoded with this fg_mode"})
        return None if usual is None else number_text(node, "default_value", usual)
    text = node.text("fg_encoded_default_value", "")
    if not node.has("fg_encoded_default_value") and masked(node):
        return None if usual is None else number_text(node, "default_value", usual)
    parts = {part.strip() for part in text.value.split(place.data.value_separator)}
    if len(parts) > 1:
        message = "numbers of a row have one default here; give the same one for each"
        node.report.problem(text.origin, node.at("fg_encoded_default_value"), message)
    return number_text(node, "fg_encoded_default_value", mapped(text, lambda _: min(parts)))

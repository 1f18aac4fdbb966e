"""`feature_configs`: columns to ids and numbers, and the tables that ids would look up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from polyrec.dialects.fields import mapped, positive, text_or_none, unique
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.data import DataSection
from polyrec.dialects.torcheasyrec.ids import Ids, read_ids
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.values import init, normalizer, number_text, weight_init
from polyrec.errors import nearest

SIDES = ("user", "item", "context")
POOLINGS = {"sum": "sum", "mean": "mean"}
KINDS = ("id_feature", "raw_feature", "sequence_feature", "sequence_id_feature", "sequence_raw_feature")


@dataclass(frozen=True)
class Feature:
    """A feature of the core, and what the groups need to know of it."""

    name: Value[str]
    draft: dict[str, Any]
    is_sequence: bool
    width: int
    """Numbers per row or position; 0 for ids."""
    rows: Value[int] | None = None
    """Size of the id space, None for numbers."""
    table: Value[str] | None = None
    """Table name that groups start from."""
    embedding_dim: Value[int] | None = None
    pooling: Value[str] | None = None
    init: dict[str, Any] | None = None
    """None for the default, which depends on the number of rows."""
    trainable: Value[bool] | None = None


@dataclass(frozen=True)
class Sequence:
    """What is common to the sequences of a group, or what a single sequence feature says of itself."""

    prefix: str
    delimiter: Value[str]
    length: Value[int]


@dataclass
class Reading:
    data: DataSection
    features: dict[str, Feature] = field(default_factory=dict)
    seen: dict[str, Value[str]] = field(default_factory=dict)


def read_features(root: Node, data: DataSection) -> dict[str, Feature]:
    """Features by the names that groups use, in the order of the text."""
    reading = Reading(data)
    for node in root.children("feature_configs"):
        UNUSED.settle(node)
        kind = node.one_of(KINDS)
        message = node.child(kind) if kind else None
        if message is None:
            if not node.fields:
                node.wrong(f"is empty; give it one of {', '.join(KINDS)}")
        elif kind == "sequence_feature":
            _sequence_group(reading, message)
        else:
            sequence = _own_sequence(message) if kind and kind.startswith("sequence_") else None
            _member(reading, message, kind or "", sequence)
    if not root.ask("feature_configs"):
        root.report.problem(root.origin, "feature_configs", "is required")
    return reading.features


def _own_sequence(node: Node) -> Sequence:
    length = positive(node, "sequence_length", None)
    return Sequence("", node.text("sequence_delim", ";"), length)  # pyright: ignore[reportArgumentType]


def _sequence_group(reading: Reading, node: Node) -> None:
    UNUSED.settle(node)
    name = node.text("sequence_name")
    sequence = Sequence(f"{name.value}__", node.text("sequence_delim", ";"), node.integer("sequence_length"))
    members = node.children("features")
    if not members and not node.ask("features"):
        node.report.problem(node.origin, node.at("features"), "is required")
    for member in members:
        UNUSED.settle(member)
        kind = member.one_of(("id_feature", "raw_feature"))
        message = member.child(kind) if kind else None
        if message is not None and kind is not None:
            message.ignore(
                {name: "the sequence group gives it" for name in ("sequence_length", "sequence_delim")},
            )
            _member(reading, message, kind, sequence)


def _member(reading: Reading, node: Node, kind: str, sequence: Sequence | None) -> None:
    UNUSED.settle(node)
    own = node.text("feature_name")
    prefix = sequence.prefix if sequence else ""
    name = mapped(own, lambda text: prefix + text)
    column = _column(node, name, reading.data, prefix)
    if sequence is None:
        node.ignore({field: "only a sequence has it" for field in ("sequence_length", "sequence_delim")})
    read = _id if kind.endswith("id_feature") else _raw
    feature = read(node, reading.data, (name, column), sequence)
    if unique(node, "feature_name", name, reading.seen):
        reading.features[name.value] = feature


def _column(node: Node, name: Value[str], data: DataSection, prefix: str) -> Value[str]:
    """The column a feature reads: named by its expression, or like the feature when values are encoded already."""
    if data.mode != "raw":
        reason = "with this fg_mode the column is named like the feature"
        node.ignore({"expression": reason, "sequence_fields": reason})
        return name
    expression = node.text("expression")
    side, colon, column = expression.value.partition(":")
    fields = [value.value for value in node.texts("sequence_fields")]
    if fields and expression.value not in fields and column not in fields:
        node.report.problem(expression.origin, node.at("sequence_fields"), "names another input than the expression")
    if not node.has("expression"):
        return name
    if side not in SIDES or not colon or not column:
        if side in ("feature", "const"):
            hint = f"; inputs of side {side} are not available yet, use a column: {', '.join(SIDES)}"
        else:
            hint = nearest(side, SIDES) if colon else f"; did you mean user:{expression.value}?"
        message = f"{expression.value} is no input such as user:age{hint}"
        node.report.problem(expression.origin, node.at("expression"), message)
    return Value(prefix + column, expression.origin)


def _embedding(node: Node, name: Value[str], required: bool) -> dict[str, Any]:
    table = text_or_none(node, "embedding_name")
    return {
        "table": table or mapped(name, lambda text: f"{text}_emb"),
        "embedding_dim": node.integer("embedding_dim") if required else positive(node, "embedding_dim", None),
        "pooling": node.choice("pooling", POOLINGS, "sum"),
        "init": weight_init(node, "init_fn"),
        "trainable": node.flag("trainable", True),
    }


def _id(node: Node, data: DataSection, names: tuple[Value[str], Value[str]], sequence: Sequence | None) -> Feature:
    ids = read_ids(node, data.mode, is_sequence=sequence is not None)
    name, column = names
    draft: dict[str, Any] = {"name": name, "column": column, "bucket": ids.bucket, "default": ids.default}
    separator = node.text("separator", "\x1d")
    values = node.integer("value_dim", 0 if sequence is None else 1)
    weighted = node.flag("weighted", False)
    if sequence is None:
        draft.update(
            kind="id",
            separator=data.value_separator if data.mode == "encoded" else separator,
            kv_separator=mapped(weighted, lambda is_weighted: ":" if is_weighted else None),
            weight_column=None,
            max_values=None if data.mode == "encoded" else mapped(values, lambda number: number or None),
        )
    else:
        if values.value != 1:
            message = "several ids at a position of a sequence are not available yet; leave value_dim out"
            node.report.problem(values.origin, node.at("value_dim"), message)
        if weighted.value:
            node.report.problem(weighted.origin, node.at("weighted"), "weights in a sequence are not available yet")
        draft.update(kind="sequence_id", separator=sequence.delimiter, max_length=sequence.length)
    return Feature(name, draft, sequence is not None, 0, ids.rows, **_embedding(node, name, required=True))


def _raw(node: Node, data: DataSection, names: tuple[Value[str], Value[str]], sequence: Sequence | None) -> Feature:
    boundaries = node.numbers("boundaries")
    if boundaries:
        return _bucketized(node, data, names, sequence, boundaries)
    node.ignore(
        {
            field: "only ids have a table; give the feature boundaries"
            for field in ("embedding_name", "embedding_dim", "pooling", "init_fn", "trainable")
        }
    )
    name, column = names
    size = node.integer("value_dim", 1)
    separator = node.text("separator", "\x1d")
    encoded = data.mode == "encoded"
    draft: dict[str, Any] = {"name": name, "column": column, "size": size, "default": _raw_default(node, data.mode)}
    scale = normalizer(node)
    if data.mode != "raw" and scale is not None:
        node.ignore({"normalizer": "with this fg_mode the column is normalised already"})
        scale = None
    draft["normalizer"] = scale
    between = data.value_separator if encoded else separator
    several = mapped(size, lambda width: (between if encoded else separator.value) if width > 1 else None)
    if sequence is None:
        draft.update(kind="raw", separator=several)
    else:
        draft.update(
            kind="sequence_raw",
            separator=sequence.delimiter,
            value_separator=several,
            max_length=sequence.length,
        )
    return Feature(name, draft, sequence is not None, size.value)


def _raw_default(node: Node, mode: str) -> Value[float] | None:
    """Number for a null; none when encoded values have no default of their own, so that a null is an error."""
    usual = node.text("default_value", "0")
    if mode == "encoded":
        encoded = node.text("fg_encoded_default_value", "")
        return number_text(node, "fg_encoded_default_value", encoded)
    node.ignore({"fg_encoded_default_value": "values are not encoded with this fg_mode"})
    return number_text(node, "default_value", usual)


def _bucketized(
    node: Node,
    data: DataSection,
    names: tuple[Value[str], Value[str]],
    sequence: Sequence | None,
    boundaries: list[Value[float]],
) -> Feature:
    name, column = names
    if sequence is not None:
        message = "boundaries in a sequence are not available yet; use a sequence_id_feature of ready ids"
        node.report.problem(boundaries[0].origin, node.at("boundaries"), message)
    if node.integer("value_dim", 1).value != 1:
        node.report.problem(node.origin, node.at("value_dim"), "boundaries need a single value per row")
    for one in node.ask("normalizer") if data.mode == "raw" else ():
        one.wrong("boundaries of normalised values are not available yet; give boundaries of the raw values")
    node.ignore({"separator": "boundaries need a single value per row"})
    rows = Value(len(boundaries) + 1, boundaries[0].origin)
    draft: dict[str, Any] = {"name": name, "column": column}
    if data.mode == "encoded":
        reason = "with this fg_mode the column holds the bucket's number already"
        node.ignore({"normalizer": reason, "default_value": reason})
        bucket = {"kind": "identity", "rows": rows, "out_of_range": "error"}
        draft.update(
            kind="id",
            bucket=bucket,
            default=text_or_none(node, "fg_encoded_default_value"),
            separator=data.value_separator,
            kv_separator=None,
            weight_column=None,
            max_values=None,
        )
    else:
        draft.update(kind="bucketized", boundaries=boundaries, default=_raw_default(node, data.mode))
    ids = Ids(draft.get("bucket", {}), draft["default"], rows)
    return Feature(name, draft, sequence is not None, 0, ids.rows, **_embedding(node, name, required=True))


def default_init(rows: Value[int]) -> dict[str, Any]:
    """TorchRec's own: uniform in plus and minus 1 / sqrt(rows)."""
    bound = mapped(rows, lambda number: max(number, 1) ** -0.5)
    return init("uniform", low=mapped(bound, lambda high: -high), high=bound)

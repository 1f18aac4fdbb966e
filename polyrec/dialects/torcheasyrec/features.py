"""`feature_configs`: columns to ids and numbers, and what other features and the groups need to know of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from polyrec.dialects.fields import mapped, positive, unique
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec import embedding, ids
from polyrec.dialects.torcheasyrec.data import DataSection
from polyrec.dialects.torcheasyrec.ignored import UNUSED
from polyrec.dialects.torcheasyrec.kinds import ALONE, GROUPS, KINDS, Kind, separator
from polyrec.dialects.torcheasyrec.outputs import Output, add_wanted
from polyrec.dialects.torcheasyrec.place import Derived, Made, Place, Positions
from polyrec.dialects.torcheasyrec.readout import Feature, feature, num_values
from polyrec.dialects.torcheasyrec.values import normalizer
from polyrec.errors import Problem

SEQUENCE = "sequence_"
OF_A_SEQUENCE = ("sequence_length", "sequence_delim")


@dataclass
class Features:
    """What `feature_configs` say."""

    data: DataSection
    features: dict[str, Feature] = field(default_factory=dict)
    """By the names that groups use, in the order of the text."""
    derived: Derived = field(default_factory=Derived)
    outputs: dict[str, Output] = field(default_factory=dict)
    seen: dict[str, Value[str]] = field(default_factory=dict)

    @property
    def masked(self) -> list[Value[str]]:
        return [found.name for found in self.features.values() if found.is_masked]


def read_features(root: Node, data: DataSection) -> Features:
    reading = Features(data)
    for node in root.children("feature_configs"):
        UNUSED.settle(node)
        kind = node.one_of((GROUPS, *ALONE))
        message = node.child(kind) if kind else None
        if message is None or kind is None:
            if not node.fields:
                node.wrong(
                    f"is empty; give it one of {', '.join((*KINDS, GROUPS))}, or sequence_ and one of the former"
                )
        elif kind == GROUPS:
            _group(reading, message)
        elif kind in KINDS:
            _member(reading, message, kind, None)
        else:
            length = positive(message, "sequence_length", None)
            positions = Positions("", message.text("sequence_delim", ";"), length)
            _member(reading, message, kind.removeprefix(SEQUENCE), positions)
    if not root.ask("feature_configs"):
        root.report.problem(root.origin, "feature_configs", "is required")
    add_wanted(reading.derived, reading.outputs)
    return reading


def _group(reading: Features, node: Node) -> None:
    UNUSED.settle(node)
    name = node.text("sequence_name")
    positions = Positions(f"{name.value}__", node.text("sequence_delim", ";"), node.integer("sequence_length"))
    members = node.children("features")
    if not members and not node.ask("features"):
        node.report.problem(node.origin, node.at("features"), "is required")
    for member in members:
        UNUSED.settle(member)
        kind = member.one_of(KINDS)
        message = member.child(kind) if kind else None
        if message is not None and kind is not None:
            message.ignore({name: "the sequence group gives it" for name in OF_A_SEQUENCE})
            _member(reading, message, kind, positions)
        elif not member.fields:
            member.wrong(f"is empty; give it one of {', '.join(KINDS)}")


def _member(reading: Features, node: Node, kind_name: str, positions: Positions | None) -> None:
    UNUSED.settle(node)
    kind, data = KINDS[kind_name], reading.data
    prefix = positions.prefix if positions else ""
    name = mapped(node.text("feature_name"), lambda text: prefix + text)
    is_new = unique(node, "feature_name", name, reading.seen)
    scheme = ids.scheme_of(node, kind.fields.schemes)
    place = Place(node, kind_name, name, data, positions, reading.derived, scheme)
    is_stub = node.flag("stub_type", False).value
    if is_stub and data.mode != "raw":
        reason = "a stub feature only feeds others, which are ready with this fg_mode"
        node.report.ignored.append(Problem(node.origin, node.path, reason))
        node.mark_read()
        return
    made, place = _made(place, kind)
    output = _output(place, kind, made) if data.mode == "raw" else None
    if is_stub:
        _ignore_rest(node, kind)
    else:
        found = feature(place, kind.fields, made)
        if is_new:
            reading.features[name.value] = found
    if is_new and output is not None:
        reading.outputs[name.value] = output


def _made(place: Place, kind: Kind) -> tuple[Made, Place]:
    """The column that holds the feature's values, and the place with the positions that it has."""
    node, data = place.node, place.data
    is_of_tokens = place.kind == "tokenize_feature" and place.positions is None
    as_sequence = is_of_tokens and node.flag("tokens_as_sequence", False).value
    if not is_of_tokens and place.kind == "tokenize_feature":
        node.ignore({"tokens_as_sequence": "each position of a sequence has tokens of its own"})
    if place.positions is None:
        reason = "only a sequence has it"
        node.ignore({field: reason for field in OF_A_SEQUENCE if not as_sequence})
        node.ignore({"sequence_fields": reason})
    made = kind.make(place) if data.mode == "raw" else _ready(place, kind)
    if kind.fields.separator:
        separator(place)
    if as_sequence:
        delimiter = None
        if data.mode == "raw":
            node.ignore({"sequence_delim": "tokens are a list"})
        else:
            delimiter = node.text("sequence_delim", ";")
        positions = Positions("", delimiter, node.integer("sequence_length"))
        place = replace(place, positions=positions)
    return made, place


def _ready(place: Place, kind: Kind) -> Made:
    """Values that stand in a column of the feature's name."""
    node, data = place.node, place.data
    reason = "with this fg_mode the column is named like the feature"
    node.ignore({field: reason for field in (*kind.inputs, "sequence_fields")})
    if data.mode == "encoded":
        if kind.fields.separator:
            node.ignore({"separator": "fg_encoded_multival_sep divides encoded values"})
        return Made(place.name, Value(data.value_separator, node.origin))
    return Made(place.name, separator(place) if kind.fields.separator else Value("\x1d", node.origin))


# -- values for other features


def _output(place: Place, kind: Kind, made: Made) -> Output:
    fields, node = kind.fields, place.node
    is_number = "boundaries" in fields.schemes and not made.is_text and place.scheme in (None, "boundaries")
    default = None
    if fields.default is not None:
        text = node.text("default_value", fields.default)
        default = text if text.value else None
    if not is_number:
        most = num_values(place, fields)
        return Output(place, made, False, default, mapped(most, lambda number: number or None))
    if fields.value_dim is None or node.integer("value_dim", fields.value_dim).value <= 1:
        made = Made(made.column, None, made.is_made)
    scale = normalizer(node) if fields.normalizer else None
    boundaries = tuple(value.value for value in node.numbers("boundaries"))
    return Output(place, made, True, default, None, scale, boundaries)


OF_THE_MODEL = (
    "embedding_name",
    "embedding_dim",
    "pooling",
    "init_fn",
    "trainable",
    "data_type",
    "use_mask",
    "fg_encoded_default_value",
)


def _ignore_rest(node: Node, kind: Kind) -> None:
    """Fields that say how the model takes a feature, which a stub is not."""
    fields = kind.fields
    names: list[str] = [*OF_THE_MODEL]
    if fields.read_ids is None:
        names.extend(name for name in fields.schemes if name != "boundaries")
    names.extend(ids.OF_WORDS if "vocab_list" in fields.schemes else ())
    names.extend(embedding.LAYERS if fields.layers else ())
    names.extend(("weighted",) if fields.weighted else ())
    node.ignore({name: "a stub feature only feeds others" for name in names})

"""`feature_config.features` and the older `feature_configs`: columns to ids and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from polyrec.dialects.easyrec.combinations import read_combo, read_lookup
from polyrec.dialects.easyrec.data import DataSection
from polyrec.dialects.easyrec.feature import Feature, Source, columns_of
from polyrec.dialects.easyrec.ids import read_id, read_tag
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.easyrec.numbers import read_expression, read_raw
from polyrec.dialects.easyrec.sequences import read_sequence
from polyrec.dialects.fields import is_known, text_or_none, unique
from polyrec.dialects.node import Node, Value

Read = Callable[[Source], Feature]


def read_column(source: Source) -> Feature:
    """A column that labels, weights or metrics may read; no group takes it."""
    return Feature(source.name, None, 0)


TYPES: dict[str, tuple[str, Read]] = {
    "IdFeature": ("IdFeature", read_id),
    "RawFeature": ("RawFeature", read_raw),
    "TagFeature": ("TagFeature", read_tag),
    "ComboFeature": ("ComboFeature", read_combo),
    "LookupFeature": ("LookupFeature", read_lookup),
    "SequenceFeature": ("SequenceFeature", read_sequence),
    "ExprFeature": ("ExprFeature", read_expression),
    "PassThroughFeature": ("PassThroughFeature", read_column),
}
TYPE_NUMBERS = dict(enumerate(TYPES))
FIELDS = (
    "embedding_name", "embedding_dim", "hash_bucket_size", "num_buckets", "boundaries", "separator", "kv_separator",
    "seq_multi_sep", "max_seq_len", "vocab_file", "vocab_list", "lookup_max_sel_elem_num", "combiner", "initializer",
    "precision", "min_val", "max_val", "normalizer_fn", "raw_input_dim", "sequence_combiner", "sub_feature_type",
    "sequence_length", "expression", "ev_params", "combo_join_sep", "combo_input_seps",
)  # fmt: skip
"""Fields of a feature that not every type uses."""


@dataclass
class _Reading:
    data: DataSection
    ev_params: Node | None
    found: dict[str, Feature] = field(default_factory=dict)
    seen: dict[str, Value[str]] = field(default_factory=dict)


def read_features(root: Node, data: DataSection) -> dict[str, Feature]:
    """Features by name, in the order of the text; those that share the config of another come last."""
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
    reading = _Reading(data, _ev_params(root))
    for node in nodes:
        UNUSED.settle(node)
        columns = columns_of(node, data)
        name = text_or_none(node, "feature_name") or (columns[0] if columns else Value("", node.origin))
        _read(reading, node, name, columns)
    for node in nodes:
        _clones(reading, node)
    return reading.found


def _ev_params(root: Node) -> Node | None:
    model = root.child("model_config")
    params = model.child("ev_params") if model is not None else None
    if params is not None:
        UNUSED.settle(params)
        for name in ("filter_freq", "steps_to_live", "max_capacity"):
            params.ask(name)
    return params


def _read(reading: _Reading, node: Node, name: Value[str], columns: list[Value[str]]) -> None:
    word, read = node.choice("feature_type", TYPES, TYPES["IdFeature"], TYPE_NUMBERS).value
    source = Source(node, name, columns, reading.data, reading.ev_params)
    feature = read(source)
    source.ignore_rest(FIELDS, word)
    if unique(node, "feature_name" if node.has("feature_name") else "input_names", name, reading.seen):
        reading.found[name.value] = feature


def _clones(reading: _Reading, node: Node) -> None:
    """The same feature of other columns, each called like its column."""
    given = node.texts("shared_names")
    if given and len(node.ask("input_names")) > 1:
        message = "features of several columns have no clones; write each out"
        node.report.problem(given[0].origin, node.at("shared_names"), message)
        return
    for column in reading.data.expanded(given):
        if reading.data.fields:
            is_known(node, "shared_names", column, reading.data.fields, "input field")
        told = len(node.report.ignored)
        _read(reading, node, column, [column])
        # What a clone ignores is what its model does.
        del node.report.ignored[told:]

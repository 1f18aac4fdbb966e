"""`SequenceFeature`: ids or numbers in their order, and how a group without a target reads them."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.easyrec.feature import Feature, Source, embedding
from polyrec.dialects.easyrec.ids import SCHEMES, read_ids
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.easyrec.layers import KERNEL, activation, mlp
from polyrec.dialects.easyrec.numbers import read_boundaries, read_range, vectors_of_numbers
from polyrec.dialects.fields import positive, text_or_none
from polyrec.dialects.node import Node, Value

KINDS = {"IdFeature": "id", "RawFeature": "raw"}
KIND_NUMBERS = {0: "IdFeature", 1: "RawFeature"}
FORMS = ("attention", "multi_head_attention", "text_cnn")


def read_sequence(source: Source) -> Feature:
    node = source.node
    (column,) = source.columns_of(1, 1, "one column")[:1]
    kind = node.choice("sub_feature_type", KINDS, "id", KIND_NUMBERS)
    length = positive(node, "max_seq_len", None)
    draft: dict[str, Any] = {"name": source.name, "column": column, "separator": node.text("separator", "|")}
    inner = text_or_none(node, "seq_multi_sep")
    reading = _reading(node)
    if kind.value == "id":
        ids = read_ids(source, SCHEMES)
        draft.update(_ids(ids.bucket, "0" if ids.bucket["kind"] == "identity" else "", inner), max_length=length)
        return Feature(source.name, draft, 0, is_sequence=True, reading=reading, **ids.table(), **embedding(node))
    low, high = read_range(node)
    unscaled = {name: "EasyRec itself scales sequences for num_buckets only" for name in ("min_val", "max_val")}
    is_equal = not node.has("boundaries")
    limits = (low.value, high.value) if is_equal and high.value > low.value else (0.0, 1.0)
    boundaries = read_boundaries(node, high.value > low.value, limits)
    if not (boundaries and is_equal):
        node.ignore(unscaled)
    if boundaries:
        rows = Value(len(boundaries) + 1, boundaries[0].origin)
        bucket = {"kind": "boundaries", "rows": rows, "boundaries": boundaries}
        draft.update(_ids(bucket, "0", inner), max_length=length)
        return Feature(source.name, draft, 0, rows, is_sequence=True, reading=reading, **embedding(node))
    size, most = node.integer("raw_input_dim", 1), positive(node, "sequence_length", None)
    if size.value > 1 and inner is None:
        message = f"is required: it stands between the {size.value} numbers of a position"
        node.report.problem(size.origin, node.at("seq_multi_sep"), message)
    if size.value == 1 and inner is not None:
        node.report.problem(inner.origin, node.at("seq_multi_sep"), "needs a raw_input_dim above 1, or boundaries")
    draft.update(
        kind="sequence_raw",
        size=size,
        value_separator=inner if size.value > 1 else None,
        default=0.0,
        max_length=length if length.value else most,
    )
    vectors = vectors_of_numbers(node, pools=True)
    return Feature(source.name, draft, size.value, is_sequence=True, reading=reading, **vectors)


def _ids(bucket: dict[str, Any], empty: str, inner: Value[str] | None) -> dict[str, Any]:
    """An empty position counts as one of an empty text, as in TensorFlow, or where there is no such thing as 0; one
    that may hold several ids has none."""
    several = inner is not None
    return {
        "kind": "sequence_id",
        "bucket": bucket,
        "default": None if several else empty,
        "several": several,
        "value_separator": inner,
    }


def _reading(node: Node) -> dict[str, Any] | None:
    message = node.child("sequence_combiner")
    if message is None:
        return None
    kind = message.one_of(FORMS)
    found = message.child(kind) if kind else None
    if found is None or kind == "multi_head_attention":
        what = f"{kind} is announced by EasyRec and not there" if kind else "is empty"
        message.wrong(f"{what}; available: attention, text_cnn")
        return None
    if kind == "attention":
        return {"kind": "attention_pooling", "kernel": KERNEL}
    UNUSED.settle(found)
    for name in ("filter_sizes", "num_filters"):
        if not found.ask(name):
            found.report.problem(found.origin, found.at(name), "is required")
    return {
        "kind": "text_cnn",
        "windows": found.integers("filter_sizes") or [1],
        "filters": found.integers("num_filters") or [1],
        "length": found.integer("pad_sequence_length"),
        "activation": activation(found, "relu"),
        "kernel": KERNEL,
        "mlp": mlp(found.child("mlp")),
    }


def width_of(reading: dict[str, Any], sequence: int) -> int:
    """Numbers that the reading of a sequence makes."""
    if reading["kind"] == "attention_pooling":
        return sequence
    layers = reading["mlp"]
    return layers["hidden"][-1].value if layers else sum(_plain(count) for count in reading["filters"])


def _plain(number: Value[int] | int) -> int:
    return number.value if isinstance(number, Value) else number

"""How an id feature's values become rows of a table, as its several id schemes say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyrec.dialects.fields import mapped, text_or_none
from polyrec.dialects.node import Node, Value

SCHEMES = ("hash_bucket_size", "vocab_list", "vocab_dict", "num_buckets")


@dataclass(frozen=True)
class Ids:
    bucket: dict[str, Any]
    default: Value[str] | None
    """Replaces a missing value; None when it has no id."""
    rows: Value[int]


def read_ids(node: Node, mode: str, is_sequence: bool) -> Ids:
    given = [name for name in SCHEMES if node.has(name) and node.ask(name)[-1].scalar != 0]
    if len(given) > 1:
        node.ask(given[1])[-1].wrong(f"{given[0]} is given as well; leave one of them out")
    default = text_or_none(node, "default_value")
    if is_sequence and default is None:
        # Upstream turns an empty default of a sequence into "0", so an empty sequence has one position.
        default = Value("0", node.origin)
    if not given:
        if not any(node.ask(name) for name in ("zch", "dynamicemb", "vocab_file")):
            message = f"is required, or one of {', '.join(SCHEMES[1:])}"
            node.report.problem(node.origin, node.at("hash_bucket_size"), message)
        return Ids(_identity(Value(1, node.origin)), default, Value(1, node.origin))
    if given[0] not in ("vocab_list", "vocab_dict"):
        node.ignore({"default_bucketize_value": "only a vocabulary uses it"})
    read = {"hash_bucket_size": _hash, "num_buckets": _number, "vocab_list": _words, "vocab_dict": _mapping}
    bucket, rows = read[given[0]](node, default)
    if mode != "encoded":
        node.ignore({"fg_encoded_default_value": "values are not encoded with this fg_mode"})
        return Ids(bucket, default, rows)
    node.ignore({"default_value": "the column is encoded already; fg_encoded_default_value is used"})
    return Ids(_identity(rows), text_or_none(node, "fg_encoded_default_value"), rows)


Bucket = tuple[dict[str, Any], Value[int]]


def _identity(rows: Value[int]) -> dict[str, Any]:
    return {"kind": "identity", "rows": rows, "out_of_range": "error"}


def _hash(node: Node, default: Value[str] | None) -> Bucket:
    rows = node.integer("hash_bucket_size")
    return {"kind": "hash", "rows": rows, "function": "murmur64"}, rows


def _number(node: Node, default: Value[str] | None) -> Bucket:
    rows = node.integer("num_buckets")
    return _identity(rows), rows


def _words(node: Node, default: Value[str] | None) -> Bucket:
    """Row 0 is the default's and row 1 is for unknown words, unless `default_bucketize_value` gives unknown ones a row
    among the words."""
    words = node.texts("vocab_list")
    seen: set[str] = set()
    for word in words:
        if word.value in seen:
            node.report.problem(word.origin, node.at("vocab_list"), f"{word.value} is listed twice")
        seen.add(word.value)
    origin = words[0].origin if words else node.origin
    if node.has("default_bucketize_value"):
        unknown = node.integer("default_bucketize_value")
        if unknown.value >= len(words):
            message = f"must be less than the number of words, {len(words)}"
            node.report.problem(unknown.origin, node.at("default_bucketize_value"), message)
        rows = Value(len(words), origin)
        ids: list[Any] = [Value(index, word.origin) for index, word in enumerate(words)]
        return {"kind": "vocabulary", "words": words, "ids": ids, "unknown": unknown, "rows": rows}, rows
    first = [default] if default is not None and default.value not in seen else []
    ids = [Value(0, value.origin) for value in first]
    ids += [Value(index + 2, word.origin) for index, word in enumerate(words)]
    rows = Value(len(words) + 2, origin)
    return {"kind": "vocabulary", "words": [*first, *words], "ids": ids, "unknown": 1, "rows": rows}, rows


def _mapping(node: Node, default: Value[str] | None) -> Bucket:
    words, ids = [], []
    for entry in node.children("vocab_dict"):
        words.append(entry.text("key"))
        ids.append(entry.integer("value"))
    highest = max(ids, key=lambda value: value.value, default=Value(0, node.origin))
    rows = mapped(highest, lambda value: max(value, 1) + 1)
    unknown: Any = 1
    if node.has("default_bucketize_value"):
        unknown = node.integer("default_bucketize_value")
        rows = mapped(highest, lambda value: value + 1)
    elif default is not None:
        kept = [place for place, word in enumerate(words) if word.value != default.value]
        words, ids = [default, *(words[place] for place in kept)], [0, *(ids[place] for place in kept)]
    return {"kind": "vocabulary", "words": words, "ids": ids, "unknown": unknown, "rows": rows}, rows

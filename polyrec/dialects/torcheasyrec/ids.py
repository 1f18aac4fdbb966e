"""How an id feature's values become rows of a table, as its several id schemes say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyrec.dialects.fields import mapped, text_or_none
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.place import Place
from polyrec.dialects.torcheasyrec.zch import EVERY_VALUE
from polyrec.errors import ConfigError

WORDS = ("vocab_list", "vocab_dict", "vocab_file")
HASHED = ("hash_bucket_size", *WORDS, "zch")
ALL = (*HASHED, "num_buckets")
OF_WORDS = ("default_bucketize_value", "asset_dir")
"""Fields that say more of a scheme of words."""


@dataclass(frozen=True)
class Ids:
    bucket: dict[str, Any]
    default: Value[str] | None
    """Replaces a missing value; None when it has no id."""
    rows: Value[int]
    """How many there may be, which are those of the table if there are no collisions."""


Bucket = tuple[dict[str, Any], Value[int]]


def scheme_of(node: Node, known: tuple[str, ...]) -> str | None:
    """The one of the known fields that is given; of several, all but the first are problems."""
    given = [name for name in known if node.has(name) and (name == "boundaries" or node.ask(name)[-1].scalar != 0)]
    given = [name for name in given if name != "vocab_file" or node.text(name).value]
    for name in given[1:]:
        node.ask(name)[-1].wrong(f"{given[0]} is given as well; leave one of them out")
    return given[0] if given else None


def read_ids(place: Place, known: tuple[str, ...], usual: str) -> Ids:
    """The bucket of values that are no ranges of numbers; `usual` stands for a missing one unless the config says
    otherwise."""
    node, scheme = place.node, place.scheme
    default = default_text(place, usual)
    if scheme is None:
        if not node.ask("dynamicemb"):
            message = f"is required, or one of {', '.join(known[1:])}" if known[1:] else "is required"
            node.report.problem(node.origin, node.at(known[0]), message)
        rows = Value(1, node.origin)
        bucket = {"kind": "hash", "rows": rows, "function": place.data.hash_function}
    else:
        bucket, rows = _READ[scheme](place, default)
    if scheme not in WORDS and set(known) & set(WORDS):
        node.ignore({name: "only a vocabulary uses it" for name in OF_WORDS})
    return encoded(place, Ids(bucket, default, rows))


def encoded(place: Place, ids: Ids) -> Ids:
    """The same where columns hold ids already."""
    node = place.node
    if place.data.mode != "encoded":
        node.ignore({"fg_encoded_default_value": "values are not encoded with this fg_mode"})
        return ids
    node.ignore({"default_value": "the column is encoded already; fg_encoded_default_value is used"})
    default = text_or_none(node, "fg_encoded_default_value")
    if default is None and not node.has("fg_encoded_default_value") and node.flag("use_mask", False).value:
        default = _row_of_default(ids)
    return Ids(identity(ids.rows), default, ids.rows)


def _row_of_default(ids: Ids) -> Value[str] | None:
    """The id that a masked value becomes, which is the default's."""
    from pydantic import TypeAdapter

    from polyrec.dialects.structure import assemble
    from polyrec.families import BucketConfig
    from polyrec.features._values import ElementError, row_of

    if ids.default is None:
        return None
    try:
        bucket = TypeAdapter(BucketConfig).validate_python(assemble(ids.bucket, ids.rows.origin)[0])
        row = row_of(bucket, ids.default.value)
    except (ValueError, ElementError, ConfigError):
        # What is wrong with the bucket is told where it is used.
        return None
    return Value(str(row), ids.default.origin) if row >= 0 else None


def default_text(place: Place, usual: str | None) -> Value[str] | None:
    """What stands for a missing value, None for nothing; kinds that always have one have no such field.

    Upstream turns an empty default of a sequence into "0", so an empty sequence has one position.
    """
    text = Value("", place.node.origin) if usual is None else place.node.text("default_value", usual)
    if text.value:
        return text
    return Value("0", text.origin) if place.is_sequence else None


def identity(rows: Value[int]) -> dict[str, Any]:
    return {"kind": "identity", "rows": rows, "out_of_range": "error"}


def _hash(place: Place, default: Value[str] | None) -> Bucket:
    rows = place.node.integer("hash_bucket_size")
    return {"kind": "hash", "rows": rows, "function": place.data.hash_function}, rows


def _every_value(place: Place, default: Value[str] | None) -> Bucket:
    rows = Value(EVERY_VALUE, place.node.ask("zch")[-1].origin)
    return {"kind": "hash", "rows": rows, "function": place.data.hash_function}, rows


def _number(place: Place, default: Value[str] | None) -> Bucket:
    rows = place.node.integer("num_buckets")
    return identity(rows), rows


def _words(place: Place, default: Value[str] | None) -> Bucket:
    """Row 0 is the default's and row 1 is for unknown words, unless `default_bucketize_value` gives unknown ones a row
    among the words."""
    node = place.node
    node.ignore({"asset_dir": "only vocab_file uses it"})
    words = node.texts("vocab_list")
    seen: set[str] = set()
    for word in words:
        if word.value in seen:
            node.report.problem(word.origin, node.at("vocab_list"), f"{word.value} is listed twice")
        seen.add(word.value)
    rows = Value(len(words), words[0].origin if words else node.origin)
    unknown = _unknown(node, rows, "the number of words")
    if unknown is not None:
        ids: list[Any] = [Value(index, word.origin) for index, word in enumerate(words)]
        return {"kind": "vocabulary", "words": words, "ids": ids, "unknown": unknown, "rows": rows}, rows
    first = [default] if default is not None and default.value not in seen else []
    ids = [Value(0, value.origin) for value in first]
    ids += [Value(index + 2, word.origin) for index, word in enumerate(words)]
    rows = mapped(rows, lambda number: number + 2)
    return {"kind": "vocabulary", "words": [*first, *words], "ids": ids, "unknown": 1, "rows": rows}, rows


def _unknown(node: Node, rows: Value[int], what: str) -> Value[int] | None:
    """Row of unknown words, None when it is not given."""
    if not node.has("default_bucketize_value"):
        return None
    unknown = node.integer("default_bucketize_value")
    if unknown.value >= rows.value:
        message = f"must be less than {what}, {rows.value}"
        node.report.problem(unknown.origin, node.at("default_bucketize_value"), message)
    return unknown


def _mapping(place: Place, default: Value[str] | None) -> Bucket:
    node = place.node
    node.ignore({"asset_dir": "only vocab_file uses it"})
    words, ids = [], []
    for entry in node.children("vocab_dict"):
        words.append(entry.text("key"))
        ids.append(entry.integer("value"))
    highest = max(ids, key=lambda value: value.value, default=Value(0, node.origin))
    rows = mapped(highest, lambda value: value + 1)
    unknown: Any = _unknown(node, rows, "the number of rows, which is one more than the highest id")
    if unknown is None:
        unknown, rows = 1, mapped(highest, lambda value: max(value, 1) + 1)
        if default is not None:
            kept = [place for place, word in enumerate(words) if word.value != default.value]
            words, ids = [default, *(words[place] for place in kept)], [0, *(ids[place] for place in kept)]
    return {"kind": "vocabulary", "words": words, "ids": ids, "unknown": unknown, "rows": rows}, rows


def _file(place: Place, default: Value[str] | None) -> Bucket:
    """A file of words keeps no rows; how many the table needs stands in it."""
    from polyrec.features.buckets.vocabulary_file import read_words

    node = place.node
    file = asset(node, "vocab_file")
    rows = Value(1, file.origin)
    try:
        rows = mapped(file, lambda path: max(read_words(path)[1]) + 1)
    except ConfigError as error:
        node.report.problem(file.origin, node.at("vocab_file"), error.problems[0].message)
    if not node.has("default_bucketize_value"):
        message = "is required: a file keeps no row for unknown words, so one of its rows has to be theirs"
        node.report.problem(node.origin, node.at("default_bucketize_value"), message)
    known = "the number of rows of the file"
    unknown = node.integer("default_bucketize_value", 0) if rows.value == 1 else _unknown(node, rows, known)
    return {"kind": "vocabulary_file", "file": file, "unknown": unknown, "rows": rows}, rows


def asset(node: Node, field: str) -> Value[str]:
    """A file, in the folder `asset_dir` if that is given."""
    folder = node.text("asset_dir", "").value
    return mapped(node.text(field), lambda name: str(Path(folder) / name) if folder else name)


_READ: dict[str, Callable[[Place, Value[str] | None], Bucket]] = {
    "zch": _every_value,
    "hash_bucket_size": _hash,
    "vocab_list": _words,
    "vocab_dict": _mapping,
    "vocab_file": _file,
    "num_buckets": _number,
}

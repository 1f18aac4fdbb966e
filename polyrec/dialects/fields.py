"""What the front doors share: fields that are understood but not used, names that must exist, values with a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from polyrec.dialects.node import Node, Scalar, Value
from polyrec.errors import Origin, nearest

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a field cannot be honoured, and the values of it that ask for nothing."""

    reason: str
    harmless: tuple[Scalar, ...] = ()


@dataclass(frozen=True)
class Unused:
    """Fields of a dialect that have no effect here, and those that cannot be honoured.

    A key is the end of a field's path without indices: `train_config.x` is field `x` of any message so called, and
    `a|b.x` that of two kinds of message. A key without a dot is a field of the whole config.
    """

    ignored: Mapping[str, str]
    refused: Mapping[str, Refusal]

    def settle(self, node: Node) -> None:
        """Deal with every such field of one message."""
        path = plain_path(node.path)
        node.ignore({name: self.ignored[key] for key, name in _of_message(path, tuple(self.ignored))})
        for key, name in _of_message(path, tuple(self.refused)):
            refusal = self.refused[key]
            for field in node.ask(name):
                if field.fields is not None or _plain(field) not in refusal.harmless:
                    field.wrong(refusal.reason)
                field.mark_read()

    def names(self, path: str) -> set[str]:
        """Names of such fields of the message at `path`."""
        return {name for key in (self.ignored, self.refused) for _, name in _of_message(path, tuple(key))}


def plain_path(path: str) -> str:
    """A path without the indices of repeated fields."""
    return re.sub(r"\[\d+\]", "", path)


@cache
def _of_message(path: str, keys: tuple[str, ...]) -> list[tuple[str, str]]:
    """The keys that speak of fields of the message at `path`, and the names of those fields."""
    found = []
    for key in keys:
        parents, _, name = key.rpartition(".")
        if any(f".{path}".endswith(f".{parent}") if parent else not path for parent in parents.split("|")):
            found.append((key, name))
    return found


def mapped(value: Value[T], change: Callable[[T], S]) -> Value[S]:
    """Another value at the same place."""
    return Value(change(value.value), value.origin)


def positive(node: Node, name: str, default: T) -> Value[int] | Value[T]:
    """A whole number of which 0 means that it is not given."""
    value = node.integer(name, 0)
    return value if value.value else Value(default, value.origin)


def text_or_none(node: Node, name: str) -> Value[str] | None:
    """A text of which an empty one means that it is not given."""
    value = node.text(name, "")
    return value if value.value else None


def require(node: Node, name: str) -> Node | None:
    """A message that must be there."""
    found = node.child(name)
    if found is None and not node.ask(name):
        node.report.problem(node.origin, node.at(name), "is required")
    return found


def has_unknown(node: Node) -> bool:
    """Whether a message has a field that nothing has asked for, which will be a problem of its own."""
    return any(name not in node.known for name in node.fields or ())


def is_readable(*values: Value[Any], node: Node) -> bool:
    """Whether none of these values is a stand-in for one that could not be read."""
    return not {value.origin for value in values} & node.report.told


def first_unknown(node: Node) -> Origin | None:
    """Where the first such field stands, for values that would have come from it."""
    return next((found[0].origin for name, found in (node.fields or {}).items() if name not in node.known), None)


def is_known(node: Node, field: str, name: Value[str], names: Iterable[str], what: str) -> bool:
    """Whether a name refers to something that exists; a dangling one becomes a problem."""
    known = names if isinstance(names, Set | Mapping) else set(names)
    if name.value in known:
        return True
    if "" in known and node.report.problems:
        # One of the names could not be read, which is a problem of its own; this one may refer to it.
        return False
    known = sorted(known)
    hint = nearest(name.value, known) or f"; known: {', '.join(known) or 'none'}"
    node.report.problem(name.origin, node.at(field), f"no {what} is called {name.value}{hint}")
    return False


def unique(node: Node, field: str, name: Value[str], seen: dict[str, Value[str]]) -> bool:
    """Whether a name is new; remembers it."""
    first = seen.setdefault(name.value, name)
    if first is name:
        return True
    node.report.problem(name.origin, node.at(field), f"{name.value} is already the name of the one at {first.origin}")
    return False


def describe(roots: Iterable[Node], unused: Unused) -> str:
    """Markdown tables of the fields that reading `roots` asked for, of those ignored and of those refused."""
    read: dict[str, set[str]] = {}
    for root in roots:
        for node in _messages(root, unused):
            path = plain_path(node.path)
            read.setdefault(path, set()).update(node.known - unused.names(path))
    lines = ["## Fields that are read", "", "| message | fields |", "|---|---|"]
    lines += [f"| {path or '(top)'} | {', '.join(sorted(names))} |" for path, names in sorted(read.items()) if names]
    lines += ["", "## Fields without effect", "", "| field | reason |", "|---|---|"]
    lines += [f"| {_shown(key)} | {reason} |" for key, reason in unused.ignored.items()]
    lines += ["", "## Fields that are refused", "", "| field | unless | reason |", "|---|---|---|"]
    for key, refusal in unused.refused.items():
        harmless = ", ".join(_scalar(value) for value in refusal.harmless)
        lines.append(f"| {_shown(key)} | {harmless} | {refusal.reason} |")
    return "\n".join(lines) + "\n"


def _messages(node: Node, unused: Unused) -> Iterable[Node]:
    if node.fields is not None:
        yield node
        left_out = unused.names(plain_path(node.path))
        for name, nodes in node.fields.items():
            for child in nodes if name not in left_out else ():
                yield from _messages(child, unused)


def _plain(field: Node) -> Scalar:
    """The value of a field; in protobuf text a truth is a bare word."""
    words: dict[Scalar, bool] = {"true": True, "True": True, "t": True, "false": False, "False": False, "f": False}
    return field.scalar if field.quoted else words.get(field.scalar, field.scalar)


def _shown(key: str) -> str:
    return key.replace("|", " / ")


def _scalar(value: Any) -> str:
    if value == "":
        return "empty"
    return str(value).lower() if isinstance(value, bool) else str(value)

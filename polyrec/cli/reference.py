"""The fields of the typed config as Markdown, from its classes: nothing is written twice, so nothing goes stale."""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types as limits
from pydantic.fields import FieldInfo

from polyrec import catalog
from polyrec.catalog import Component, Frozen
from polyrec.docstrings import field_docs

TITLE = "The typed config, field by field"
INTRODUCTION = """\
`polyrec schema --markdown` prints this page. Each table is a message of a `RunConfig`; a field whose type is a link
holds the message or the component of that name. A component is a message with a `kind`, which chooses among those of
its family: `{kind: constant, value: 0.0}`. What the texts call None is written `null`. How to write, print and change
a config is in [configuration.md](configuration.md).
"""
WORDS: Mapping[Any, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    type(None): "null",
    Any: "anything",
}
SIGNS = {limits.Gt: (">", "gt"), limits.Ge: (">=", "ge"), limits.Lt: ("<", "lt"), limits.Le: ("<=", "le")}


def page(roots: Iterable[type[Frozen]]) -> str:
    """Every message that the roots can hold, each once and in the order in which they refer to them."""
    parts = [f"# {TITLE}\n", INTRODUCTION]
    for found in _reachable(roots):
        parts += _family(found) if _is_family(found) else [f"## {found.__name__}\n", *_about(found), _table(found)]
    return "\n".join(parts)


def _family(family: type[Frozen]) -> Iterator[str]:
    assert issubclass(family, Component)
    yield f"## {family.__name__}\n"
    yield from _about(family)
    for name in catalog.names(family):
        found = catalog.find(family, name)
        yield f"### kind: {name}\n"
        yield from _about(found) if found.__doc__ else ()
        yield _table(found) if found.model_fields else "No fields.\n"


def _about(cls: type[Frozen]) -> Iterator[str]:
    if cls.__doc__:
        yield " ".join(cls.__doc__.split()) + "\n"


def _table(cls: type[Frozen]) -> str:
    lines = ["| field | holds | default | |", "|---|---|---|---|"]
    docs = field_docs(cls)
    for name, field in cls.model_fields.items():
        cells = (f"`{name}`", _holds(field), _default(field), " ".join(docs.get(name, "").split()))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _holds(field: FieldInfo) -> str:
    return ", ".join([_type(field.annotation), *_limits(field)])


def _limits(field: FieldInfo) -> Iterator[str]:
    for limit in field.metadata:
        for kind, (sign, name) in SIGNS.items():
            if isinstance(limit, kind):
                yield f"{sign} {_number(getattr(limit, name))}"
        if isinstance(limit, limits.MinLen) and limit.min_length == 1:
            yield "not empty"


def _number(value: Any) -> str:
    """A large power of two as such; nobody knows the digits of 2**63."""
    if isinstance(value, int) and value >= 2**31 and value & (value - 1) == 0:
        return f"2^{value.bit_length() - 1}"
    return str(value)


def _type(wanted: Any) -> str:
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_type, inner))
    if origin is Annotated:
        return _type(inner[0])
    if origin in (dict, Mapping):
        return f"map of {_type(inner[0])} to {_type(inner[1])}"
    if origin is tuple:
        return f"list of {_type(inner[0])}" if inner[-1] is Ellipsis else f"[{', '.join(map(_type, inner))}]"
    if isinstance(wanted, type) and issubclass(wanted, Frozen):
        return f"[{wanted.__name__}](#{wanted.__name__.lower()})"
    return WORDS.get(wanted, str(wanted))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Frozen):
        return "its defaults"
    return f"`{json.dumps(value)}`"


def _is_family(cls: type[Frozen]) -> bool:
    return issubclass(cls, Component) and "folder" in vars(cls)


def _reachable(roots: Iterable[type[Frozen]]) -> list[type[Frozen]]:
    found = list(dict.fromkeys(roots))
    for cls in found:  # grows while it is walked
        members = [catalog.find(cls, name) for name in catalog.names(cls)] if issubclass(cls, Component) else [cls]
        fields = (field.annotation for member in members for field in member.model_fields.values())
        for inner in (message for annotation in fields for message in _messages(annotation)):
            if inner not in found:
                found.append(inner)
    return found


def _messages(wanted: Any) -> Iterator[type[Frozen]]:
    """The messages that a type names, however deep."""
    if isinstance(wanted, type) and issubclass(wanted, Frozen):
        yield wanted
    for inner in get_args(wanted):
        yield from _messages(inner)

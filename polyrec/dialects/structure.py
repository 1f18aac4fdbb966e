"""Between a tree of nodes and typed config: drafts, where each of their values stands, and validation in our words.

A draft has the shape of the config: dicts and lists whose leaves are plain values or `Value(value, origin)`. A `Value`
may also hold a dict or a list, which then has that origin.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping, Sequence, Set
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from polyrec import catalog
from polyrec.catalog import Component, Frozen
from polyrec.dialects.node import Node, Report, Value, likeliest
from polyrec.errors import ConfigError, Origin, nearest

M = TypeVar("M", bound=Frozen)
Origins = dict[str, Origin]


class Draft(dict[str, Any]):
    """A dict that knows the place of the message that it was read from, for the fields that are missing in it."""

    origin: Origin | None = None


# -- drafts to plain data


def assemble(draft: Any, fallback: Origin) -> tuple[Any, Origins]:
    """The plain values of a draft, and for each path where it was read; the empty path has the draft's own place, or
    `fallback`."""
    origins: Origins = {}
    data, _ = _assemble(draft, "", origins)
    origins[""] = getattr(draft, "origin", None) or fallback
    return data, origins


def _assemble(draft: Any, path: str, origins: Origins) -> tuple[Any, Origin | None]:
    own: Origin | None = None
    while isinstance(draft, Value):
        own, draft = draft.origin, draft.value
    if isinstance(draft, Draft):
        own = draft.origin or own
    first: Origin | None = None
    data: Any = draft
    if isinstance(draft, Mapping):
        data = {}
        for name, item in draft.items():
            data[name], origin = _assemble(item, f"{path}.{name}" if path else str(name), origins)
            first = first or origin
        kind = origins.get(f"{path}.kind" if path else "kind")
        own = own or kind
    elif isinstance(draft, list | tuple):
        data = []
        for index, item in enumerate(draft):
            value, origin = _assemble(item, f"{path}[{index}]", origins)
            data.append(value)
            first = first or origin
    origin = own or first
    if origin is not None:
        origins[path] = origin
    return data, origin


def origin_of(origins: Mapping[str, Origin], path: str) -> Origin | None:
    """Where a path was read, or the nearest path around it."""
    while path and path not in origins:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return origins.get(path)


# -- plain data to typed config


def build(cls: type[M], draft: Any, report: Report, fallback: Origin | None = None) -> M | None:
    """The typed config that a draft stands for, or None and every reason in `report`."""
    data, origins = assemble(draft, fallback or getattr(draft, "origin", None) or Origin("", 1, 1))
    return validate(cls, data, origins, report)


def validate(cls: type[M], data: Any, origins: Mapping[str, Origin], report: Report) -> M | None:
    try:
        return cls.model_validate(data)
    except ValidationError as error:
        told = report.told
        found = [(detail, *_locate(cls, data, detail)) for detail in error.errors(include_url=False)]
        missing = {path for detail, path, *_ in found if detail["type"] == "missing"}
        unknown = {path: _meant(path, name, owner, missing) for detail, path, owner, name in found
                   if detail["type"] == "extra_forbidden"}  # fmt: skip
        for detail, path, owner, name in found:
            if path in missing and path in unknown.values():
                continue  # Told with the unknown field that stands in its place.
            if detail["type"] == "too_short" and any(other.startswith(f"{path}[") for _, other, *_ in found):
                continue  # Items that are wrong do not count; they are told themselves.
            origin = origin_of(origins, path)
            # A value that could not be read has a stand-in, about which there is nothing more to say; one that decides
            # several fields is wrong once.
            if path in origins:
                if origin in told:
                    continue
                told.add(origin)
            report.problem(origin, path, _words(detail, owner, name, unknown.get(path, "")))
    except ConfigError as error:
        for problem in error.problems:
            report.problem(problem.origin, problem.path, problem.message)
    return None


def _locate(cls: type[Frozen], data: Any, detail: ErrorDetails) -> tuple[str, type[Frozen] | None, str]:
    """Path of an error, the class that has the field, and the field's name.

    Pydantic's location also names the branch of a union that it tried; such parts name nothing in the data.
    """
    owner: type[Frozen] | None = cls
    annotation: Any = cls
    path, name = "", ""
    location = detail["loc"]
    for index, part in enumerate(location):
        if isinstance(data, Component):
            data = data.dump()
        if isinstance(part, int):
            path += f"[{part}]"
            in_range = isinstance(data, Sequence) and not isinstance(data, str) and part < len(data)
            data = data[part] if in_range else None
            annotation = _item(annotation)
        elif isinstance(data, Mapping) and (part in data or index == len(location) - 1):
            owner, name = _owner(annotation, data), part
            path = f"{path}.{part}" if path else part
            data = data.get(part)
            field = owner.model_fields.get(part) if owner else None
            annotation = field.annotation if field else None
    if detail["type"].startswith("kind_"):
        owner, name, path = None, "kind", f"{path}.kind" if path else "kind"
    return path, owner, name


def _owner(annotation: Any, data: Mapping[str, Any]) -> type[Frozen] | None:
    """The class that a mapping is to become."""
    for candidate in _branches(annotation):
        if not isinstance(candidate, type) or not issubclass(candidate, Frozen):
            continue
        if not is_family(candidate):
            return candidate
        kind = data.get("kind")
        if isinstance(kind, str) and kind in catalog.names(candidate):
            return catalog.find(candidate, kind)
    return None


def _branches(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(branch for branch in get_args(annotation) if branch is not type(None))
    return (annotation,)


def _item(annotation: Any) -> Any:
    for branch in _branches(annotation):
        if get_origin(branch) in (tuple, list):
            return get_args(branch)[0]
    return None


def is_family(cls: Any) -> bool:
    """Whether a class stands for all components of a folder."""
    return isinstance(cls, type) and issubclass(cls, Component) and "folder" in cls.__dict__


_WORDS = {
    "missing": "is required",
    "greater_than": "needs more than {gt}",
    "greater_than_equal": "needs at least {ge}",
    "less_than": "needs less than {lt}",
    "less_than_equal": "needs at most {le}",
    "too_short": "needs {min_length} or more, not {actual_length}",
    "too_long": "needs {max_length} or fewer, not {actual_length}",
    "kind_missing": "needs one of {known}",
    "kind_unknown": "{text}",
    "string_pattern_mismatch": "needs a text like {pattern}",
}
_TYPES = {
    "int": "needs a whole number",
    "float": "needs a number",
    "finite": "needs a finite number",
    "string": "needs a text",
    "bool": "needs true or false",
    "tuple": "needs a list",
    "list": "needs a list",
    "dict": "needs fields",
    "model": "needs fields",
    "dataclass": "needs fields",
    "none": "needs nothing",
}


def _meant(path: str, name: str, owner: type[Frozen] | None, missing: Set[str]) -> str:
    """Path of the field that an unknown one most likely stands for, or an empty text."""
    around = path.removesuffix(name)
    known = owner.model_fields if owner else ()
    found = likeliest(name, known, [field for field in known if around + field in missing])
    return around + found if found else ""


def _words(detail: ErrorDetails, owner: type[Frozen] | None, name: str, meant: str) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return "unknown field" + (f"; did you mean {meant.rpartition('.')[2]}?" if meant else "")
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        given = detail.get("input")
        hint = nearest(given, choices) if isinstance(given, str) else ""
        return f"{given} is not supported{hint}; known: {', '.join(choices) or context.get('expected')}"
    if kind in _WORDS:
        whole = {name: int(item) for name, item in context.items() if isinstance(item, float) and item.is_integer()}
        return _WORDS[kind].format_map({**context, **whole})
    if kind == "value_error":
        return str(context.get("error", detail["msg"]))
    needs = _TYPES.get(kind.split("_")[0])
    return f"{needs}, not {_shown(detail.get('input'))}" if needs else detail["msg"]


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "fields"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    return "nothing" if value is None else f'"{value}"' if isinstance(value, str) else str(value)


# -- messages to drafts


def message(node: Node, cls: type[Frozen], renames: Mapping[str, str] | None = None) -> Draft:
    """The draft of a component, or of any class of config, from a message whose fields are called as the class's.

    Of a family, the message names the component by `kind` or by the one field that bears its name. `renames` has names
    of the file and what the class calls them, here and in everything below.
    """
    renames = renames or {}
    draft = Draft()
    draft.origin = node.origin
    if is_family(cls):
        return _member(node, cls, renames, draft)  # type: ignore[type-var]
    for name, field in cls.model_fields.items():
        spellings = [name, *(old for old, new in renames.items() if new == name)]
        spelling = node.one_of(spellings) or next((old for old in spellings if node.is_list(old)), None)
        if spelling is not None:
            draft[name] = _read(node, spelling, field.annotation, renames)
    return draft


def _member(node: Node, family: type[Component], renames: Mapping[str, str], draft: Draft) -> Draft:
    known = catalog.names(family)
    if node.has("kind"):
        kind = node.choice("kind", {name: name for name in known})
        draft.update(message(node, catalog.find(family, kind.value), renames))
        draft["kind"] = kind
        return draft
    spellings = {**{old: new for old, new in renames.items() if new in known}, **{name: name for name in known}}
    spelling = node.one_of(spellings)
    if spelling is None:
        # The missing kind is told of when the draft is built, an unknown name with those that nothing read.
        return draft
    child = node.child(spelling)
    if child is not None:
        draft.update(message(child, catalog.find(family, spellings[spelling]), renames))
        draft.origin = child.origin
    draft["kind"] = Value(spellings[spelling], draft.origin or node.origin)
    return draft


def _read(node: Node, name: str, annotation: Any, renames: Mapping[str, str]) -> Any:
    branches = _branches(annotation)
    for branch in branches:
        item = _item(branch)
        if item is not None and (len(branches) == 1 or node.is_list(name) or len(node.peek(name)) > 1):
            return _read_all(node, name, item, renames)
    branch = branches[0]
    if isinstance(branch, type) and issubclass(branch, Frozen):
        child = node.child(name)
        return None if child is None else message(child, branch, renames)
    if get_origin(branch) is Literal:
        return _read_choice(node, name, get_args(branch))
    readers = {str: node.text, int: node.integer, float: node.number, bool: node.flag}
    if len(branches) == 1 and branch in readers:
        return readers[branch](name)
    found = node.ask(name)
    return plain(found[-1]) if found else None


def _read_all(node: Node, name: str, item: Any, renames: Mapping[str, str]) -> list[Any]:
    branch = _branches(item)[0]
    if isinstance(branch, type) and issubclass(branch, Frozen):
        return [message(child, branch, renames) for child in node.children(name)]
    readers = {str: node.texts, int: node.integers, float: node.numbers}
    if branch in readers:
        return readers[branch](name)
    return [plain(child) for child in node.ask(name)]


def _read_choice(node: Node, name: str, choices: tuple[Any, ...]) -> Value[Any]:
    if all(isinstance(choice, str) for choice in choices):
        return node.choice(name, {choice: choice for choice in choices})
    found = node.ask(name)[-1]
    found.mark_read()
    return Value(found.scalar, found.origin)


def plain(node: Node) -> Any:
    """A node as it stands, all of it read: dicts, lists and values with their origins."""
    if node.fields is None:
        return Value(node.scalar, node.origin)
    node.mark_read()
    if "" in node.lists:
        return Value([plain(item) for item in node.fields.get("", [])], node.origin)
    draft = Draft()
    draft.origin = node.origin
    for name in dict.fromkeys([*node.fields, *node.lists]):
        found = node.fields.get(name, [])
        if name in node.lists:
            draft[name] = Value([plain(item) for item in found], node.lists[name])
        elif found:
            draft[name] = plain(found[-1])
    return draft


def bare(node: Node) -> Any:
    """A node as it stands, without origins."""
    if node.fields is None:
        return node.scalar
    if "" in node.lists:
        return [bare(item) for item in node.fields.get("", [])]
    values = {}
    for name in dict.fromkeys([*node.fields, *node.lists]):
        found = node.fields.get(name, [])
        values[name] = [bare(item) for item in found] if name in node.lists else bare(found[-1])
    return values

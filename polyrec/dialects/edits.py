r"""Edits of a config file's own fields from the command line, made before the dialect reads them.

A path is names with dots between them; a name may choose elements of a repeated field:
`x[2]`, `x[-1]`, `x[1:3]`, `x[:]`, `x[name=value]` and the same with `>`, `<`, `>=` and `<=`, where `name` may be a
path. Backslashes before brackets, which some shells ask for, are dropped. `a;b` with the value `1;2` is two edits.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from polyrec.dialects import json, pbtxt
from polyrec.dialects.node import Node, Report
from polyrec.dialects.settings import set_values
from polyrec.dialects.structure import bare
from polyrec.errors import ConfigError, Origin, Problem, nearest

__all__ = ["Edit", "apply", "parse", "parse_json", "set_values"]

_FLAG = Origin("--edit", 1, 1)

Enums = Mapping[str, Mapping[int, str]]
"""For a field's name, the words that its numbers stand for."""

_STEP = re.compile(r"(?P<name>[^\[\].\s]+)(?:\[(?P<choice>.*)\])?", re.DOTALL)
_SLICE = re.compile(r"\s*(-?\d+)?\s*:\s*(-?\d+)?\s*")
_CONDITION = re.compile(r"\s*(?P<path>[\w.\-]+(?:\[[-\d]+\][\w.\-]*)*?)\s*(?P<sign>>=|<=|=|>|<)\s*(?P<value>.*?)\s*")
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Edit:
    """A path, the value it gets (text, number, bool, None, list or dict), and where that was asked for."""

    path: str
    value: Any
    origin: Origin = _FLAG


class _Step(NamedTuple):
    name: str
    choice: str | None


class _Place(NamedTuple):
    """A chosen message, and the message in it that holds the fields that it was chosen by."""

    node: Node
    inner: Node | None = None


# -- what the command line says


def parse(text: str) -> list[Edit]:
    """The edits of a JSON object, or of one `path=value`, which may begin with dashes like a flag."""
    path, value = split_pair(text)
    if text.lstrip().startswith("{"):
        return parse_json(text)
    if value is None:
        raise ConfigError([Problem(Origin("--edit_config_json", 1, 1), "", "needs an object in braces, or path=value")])
    return _pairs(path.removeprefix("--"), value, Origin(path if path.startswith("--") else f"--edit {path}", 1, 1))


def parse_json(text: str, flag: str = "--edit_config_json") -> list[Edit]:
    """The edits of a JSON object `{path: value, ...}`."""
    report = Report()
    root = json.parse(text, flag, report, shell_brackets=True)
    if report.problems:
        raise ConfigError(report.problems)
    edits = []
    for path, nodes in (root.fields or {}).items():
        value: Any = [bare(node) for node in nodes] if path in root.lists else bare(nodes[-1])
        edits += _pairs(path, value, root.lists.get(path) or nodes[-1].origin)
    return edits + [edit for path in root.lists if path not in (root.fields or {}) for edit in
                    _pairs(path, [], root.lists[path])]  # fmt: skip


def split_pair(text: str) -> tuple[str, str | None]:
    """What stands before and after the first `=` outside brackets."""
    depth = 0
    for index, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "=" and depth <= 0:
            return text[:index].strip(), text[index + 1 :]
    return text, None


def _pairs(path: str, value: Any, origin: Origin) -> list[Edit]:
    """One edit, or one for each of several paths joined by `;`."""
    paths = [part.strip() for part in path.replace("\\[", "[").replace("\\]", "]").split(";")]
    paths = [part for part in paths if part]
    if len(paths) <= 1:
        return [Edit("".join(paths), value, origin)]
    values = value if isinstance(value, list) else str(value).split(";")
    if len(values) != len(paths):
        message = f"has {len(paths)} paths and {len(values)} values"
        raise ConfigError([Problem(origin, path, message)])
    return [Edit(one, item, origin) for one, item in zip(paths, values, strict=True)]


# -- edits to the tree


def apply(root: Node, edits: Iterable[Edit], enums: Enums | None = None) -> None:
    """Make the edits one after another; a path that leads nowhere is a problem in the root's report."""
    for edit in edits:
        try:
            _Editor(root, edit, enums or {}).apply()
        except ConfigError as error:
            for problem in error.problems:
                root.report.problem(problem.origin, problem.path, problem.message)
    root.place(root.path)


class _Editor:
    def __init__(self, root: Node, edit: Edit, enums: Enums) -> None:
        self.root = root
        self.edit = edit
        self.enums = enums

    def wrong(self, message: str) -> ConfigError:
        return ConfigError([Problem(self.edit.origin, self.edit.path, message)])

    def apply(self) -> None:
        steps = self.steps()
        places = [_Place(self.root)]
        for step in steps[:-1]:
            places = [found for place in places for found in self.below(place, step)]
        for place in places:
            self.put(place, steps[-1])

    def steps(self) -> list[_Step]:
        steps = []
        for part in _split(self.edit.path):
            found = _STEP.fullmatch(part.strip())
            if found is None:
                raise self.wrong(f"{part or 'an empty part'} is not a name or name[choice]")
            steps.append(_Step(found["name"], found["choice"]))
        return steps

    def holder(self, place: _Place, name: str) -> Node:
        """The message of a place that has, or is to get, a field."""
        node = place.node
        if place.inner is not None and not node.peek(name):
            node = place.inner
        if node.fields is None:
            raise self.wrong(f"{node.path} is a value and has no {name}")
        return node

    def below(self, place: _Place, step: _Step) -> list[_Place]:
        holder = self.holder(place, step.name)
        if step.choice is not None:
            return self.chosen(holder, step)
        found = holder.peek(step.name)
        if not found:
            child = Node.message(holder.report, self.edit.origin, holder.at(step.name))
            holder.add(step.name, child)
            found = [child]
        if len(found) > 1:
            first = found[0]
            if first.fields is None or holder.is_list(step.name) or step.name.endswith("s"):
                raise self.wrong(
                    f"there are {len(found)} {step.name}; choose with {step.name}[0] to [{len(found) - 1}]"
                )
            return [_Place(found[-1])]
        if found[0].fields is None and not found[0].is_null:
            raise self.wrong(f"{holder.at(step.name)} is a value and has no fields")
        if found[0].fields is None:
            found[0].fields = {}
        return [_Place(found[0])]

    def chosen(self, holder: Node, step: _Step) -> list[_Place]:
        found = holder.peek(step.name)
        choice = step.choice or ""
        if not found:
            known = [name for name in holder.fields or {} if name != step.name]
            raise self.wrong(f"there is no {step.name}{nearest(step.name, known)}")
        if re.fullmatch(r"\s*-?\d+\s*", choice):
            index = int(choice)
            if not -len(found) <= index < len(found):
                raise self.wrong(
                    f"there are {len(found)} {step.name}; the {'last' if index > 0 else 'first'} is "
                    f"{step.name}[{len(found) - 1 if index > 0 else 0}]"
                )
            return [_Place(found[index])]
        span = _SLICE.fullmatch(choice)
        if span:
            start, stop = (int(part) if part else None for part in span.groups())
            places = [_Place(node) for node in found[start:stop]]
            if not places:
                raise self.wrong(f"[{choice}] chooses none of the {len(found)} {step.name}")
            return places
        return self.matching(found, step.name, choice)

    # -- conditions

    def matching(self, found: list[Node], name: str, choice: str) -> list[_Place]:
        condition = _CONDITION.fullmatch(choice)
        if condition is None:
            raise self.wrong(f"[{choice}] is not an index, a slice or a condition such as [name=value]")
        path, sign, value = condition["path"], condition["sign"], condition["value"]
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        places, seen = [], []
        for node in found:
            inner = node if self.values(node, path) else next(
                (child for child in _messages(node) if self.values(child, path)), None
            )  # fmt: skip
            scalars = self.values(inner, path) if inner else []
            seen += scalars
            if any(self.holds(item, sign, value, path) for item in scalars):
                places.append(_Place(node, None if inner is node else inner))
        if not places and not seen:
            names = {field for node in found for part in (node, *_messages(node)) for field in part.fields or {}}
            raise self.wrong(f"no {name} has a {path}{nearest(path, names)}")
        if not places:
            words = [str(item.scalar) for item in seen]
            hint = nearest(value, words) or f"; there are {', '.join(words[:8])}"
            raise self.wrong(f"no {name} has {path}{sign}{value}{hint}")
        return places

    def values(self, node: Node, path: str) -> list[Node]:
        """The scalars that a condition's path leads to."""
        nodes = [node]
        for part in _split(path):
            name, _, index = part.partition("[")
            below = []
            for parent in nodes:
                found = parent.peek(name)
                if index and found:
                    position = int(index.rstrip("]"))
                    found = found[position : position + 1 or None]
                below += found
            nodes = below
        return [found for found in nodes if found.fields is None and not found.is_null]

    def holds(self, node: Node, sign: str, literal: str, path: str) -> bool:
        value: Any = node.scalar
        words = self.enums.get(re.split(r"[.\[]", path)[-1], {})
        if isinstance(value, int) and not isinstance(value, bool) and value in words:
            value = words[value]
        if literal.isdecimal() and int(literal) in words:
            literal = words[int(literal)]
        if isinstance(value, bool):
            value = str(value).lower()
            literal = literal.lower()
        if isinstance(value, int | float):
            try:
                return _SIGNS[sign](value, float(literal))
            except ValueError:
                return False
        return _SIGNS[sign](str(value), literal)

    # -- values

    def put(self, place: _Place, step: _Step) -> None:
        holder = self.holder(place, step.name)
        assert holder.fields is not None
        current = holder.peek(step.name)
        if step.choice is None:
            value = self.given(step.name, current)
            holder.lists.pop(step.name, None)
            holder.fields.pop(step.name, None)
            if isinstance(value, list):
                holder.lists[step.name] = self.edit.origin
            elif value is None:
                return
            for item in value if isinstance(value, list) else [value]:
                holder.add(step.name, self.node(item, holder.at(step.name), current))
            return
        targets = [found.node for found in self.chosen(holder, step)]
        for index, node in enumerate(current):
            if any(node is target for target in targets):
                value = self.given(step.name, [node])
                current[index] = self.node(value, node.path, [node])

    def given(self, name: str, current: list[Node]) -> Any:
        """The edit's value; a text that stands for a message or a list is read as the text form of one."""
        value = self.edit.value
        if not isinstance(value, str):
            return value
        text = value.strip()
        is_message = bool(current) and current[0].fields is not None
        if text.startswith("{") and text.endswith("}"):
            return self.read(f"{name} {text}", name)
        if text.startswith("[") and text.endswith("]"):
            return self.read(f"{name}: {text}", name)
        if is_message:
            return self.read(f"{name} {{{text}}}", name)
        return value

    def read(self, text: str, name: str) -> Any:
        report = Report()
        root = pbtxt.parse(text, self.edit.origin.file, report)
        found = root.peek(name)
        if report.problems or not (found or root.is_list(name)):
            details = "; ".join(problem.message for problem in report.problems)
            raise self.wrong(f"its value {self.edit.value} cannot be read: {details}")
        return found if root.is_list(name) else found[0]

    def node(self, value: Any, path: str, current: list[Node]) -> Node:
        """A value as a node that stands where the edit does."""
        report, origin = self.root.report, self.edit.origin
        if isinstance(value, Node):
            node = Node(report, origin, path, value.scalar, value.quoted)
            if value.fields is not None:
                node.fields = {
                    name: [self.node(item, f"{path}.{name}", []) for item in items]
                    for name, items in value.fields.items()
                }
                node.lists = dict.fromkeys(value.lists, origin)
            return node
        if isinstance(value, dict):
            node = Node.message(report, origin, path)
            for name, item in value.items():
                if isinstance(item, list):
                    node.lists[name] = origin
                for one in item if isinstance(item, list) else [item]:
                    node.add(name, self.node(one, f"{path}.{name}", []))
            return node
        if isinstance(value, list):
            return self.node({"": value}, path, [])
        # `true` stays a text where a text stood.
        quoted = isinstance(value, str) and value in ("true", "false") and bool(current) and current[0].quoted
        return Node(report, origin, path, value, quoted)


def _split(path: str) -> list[str]:
    """A path's parts: the dots inside brackets divide nothing."""
    return re.split(r"\.(?![^\[]*\])", path)


def _messages(node: Node) -> list[Node]:
    return [child for children in (node.fields or {}).values() for child in children if child.fields is not None]

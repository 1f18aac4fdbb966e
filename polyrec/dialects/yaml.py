"""YAML 1.1 to a tree of nodes with line and column."""

from __future__ import annotations

import re

import yaml
from yaml.constructor import SafeConstructor

from polyrec.dialects.node import Node, Report, Scalar
from polyrec.errors import Origin

MAX_DEPTH = 100
_MAX_NODES = 1_000_000
"""Aliases of aliases can stand for more values than memory holds."""
_EXPONENT = re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?[eE][-+]?[0-9]+|[-+]?\.[0-9_]+[eE][-+]?[0-9]+")
"""Numbers such as 1e-3, which YAML 1.1 takes for texts and every reader for numbers."""
_OPEN = {
    "while parsing a flow sequence": "needs a closing bracket",
    "while parsing a flow mapping": "needs a closing brace",
    "while scanning a quoted scalar": "needs a closing quote",
}
"""PyYAML's words for what it was reading when the text went wrong, and what is then missing most likely."""
_TAG = "tag:yaml.org,2002:"


class Loader(yaml.SafeLoader):
    """PyYAML's, with 1e-3 for a number."""


Loader.add_implicit_resolver(_TAG + "float", re.compile(f"^(?:{_EXPONENT.pattern})$"), list("-+0123456789."))


def parse(text: str, file: str, report: Report) -> Node:
    """The tree of the first document of a text."""
    root = Node.message(report, Origin(file, 1, 1))
    try:
        document = yaml.compose(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        # What is not closed is told where it opens, not where the text stopped to make sense.
        is_open = error.context in _OPEN
        mark = (error.context_mark if is_open else None) or error.problem_mark or error.context_mark
        origin = Origin(file, mark.line + 1, mark.column + 1) if mark else root.origin
        report.problem(origin, "", _words(error))
        report.is_broken = True
        return root
    except (yaml.YAMLError, RecursionError) as error:
        report.problem(_place(error, text, file), "", f"cannot be read as YAML: {_reason(error)}")
        report.is_broken = True
        return root
    if document is None:
        return root
    if not isinstance(document, yaml.MappingNode):
        report.problem(root.origin, "", "needs `name: value` lines at its top level")
        report.is_broken = True
        return root
    _Converter(file, report).fill(root, document, ())
    root.place()
    return root


def _words(error: yaml.MarkedYAMLError) -> str:
    problem = (error.problem or "cannot be read").replace("\n", " ")
    if "'\\t'" in problem:
        return "YAML takes no tabs before a name; write blanks"
    context = f"{error.context}: " if error.context and error.context != problem else ""
    if error.context in _OPEN and error.problem_mark:
        return f"{_OPEN[error.context]}: {problem} on line {error.problem_mark.line + 1}"
    where = ""
    if error.context_mark and error.problem_mark and error.context_mark.line != error.problem_mark.line:
        where = f" (begun on line {error.context_mark.line + 1})"
    return f"{context}{problem}{where}"


def _place(error: Exception, text: str, file: str) -> Origin:
    position = getattr(error, "position", 0)
    before = text[:position] if isinstance(position, int) else ""
    return Origin(file, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return f"it is nested more than {MAX_DEPTH} deep"
    return str(getattr(error, "reason", "") or error).replace("\n", " ")


class _Converter:
    def __init__(self, file: str, report: Report) -> None:
        self.file = file
        self.report = report
        self.scalars = SafeConstructor()
        self.count = 0

    def origin(self, node: yaml.Node) -> Origin:
        return Origin(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def fill(self, parent: Node, mapping: yaml.MappingNode, above: tuple[int, ...]) -> None:
        """Fields of a mapping into a message; those of its merged mappings come after and give way."""
        given: dict[str, Origin] = {}
        merged: list[yaml.Node] = []
        for key, value in mapping.value:
            if key.tag == _TAG + "merge":
                merged.append(value)
                continue
            origin = self.origin(key)
            if not isinstance(key, yaml.ScalarNode):
                self.report.problem(origin, parent.path, "needs a word before the colon")
                continue
            name = key.value
            if name in given:
                first = given[name]
                self.report.problem(origin, parent.at(name), f"is given twice, first on line {first.line}")
                continue
            given[name] = origin
            self.field(parent, name, value, above, origin)
        for value in merged:
            for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                self.merge(parent, source, above)

    def merge(self, parent: Node, source: yaml.Node, above: tuple[int, ...]) -> None:
        if not isinstance(source, yaml.MappingNode):
            self.report.problem(self.origin(source), parent.at("<<"), "needs a mapping to merge")
            return
        if not self.goes_deeper(source, above):
            return
        other = Node.message(self.report, self.origin(source), parent.path)
        self.fill(other, source, (*above, id(source)))
        assert parent.fields is not None
        for name, nodes in (other.fields or {}).items():
            if name not in parent.fields and name not in parent.lists:
                parent.fields[name] = nodes
        for name, origin in other.lists.items():
            if parent.fields.get(name) is (other.fields or {}).get(name):
                parent.lists.setdefault(name, origin)

    def field(self, parent: Node, name: str, value: yaml.Node, above: tuple[int, ...], origin: Origin) -> None:
        """A mapping or a list stands where its name does, a scalar has a place of its own."""
        if not isinstance(value, yaml.SequenceNode):
            node = self.node(value, parent.at(name), above)
            if node.fields is not None:
                node.origin = origin
            parent.add(name, node)
        elif self.goes_deeper(value, above):
            parent.lists[name] = origin
            for item in value.value:
                parent.add(name, self.node(item, parent.at(name), (*above, id(value))))

    def node(self, value: yaml.Node, path: str, above: tuple[int, ...]) -> Node:
        node = Node(self.report, self.origin(value), path)
        if isinstance(value, yaml.ScalarNode):
            node.scalar, node.quoted = self.scalar(value, path)
            return node
        node.fields = {}
        if not self.goes_deeper(value, above):
            return node
        if isinstance(value, yaml.SequenceNode):
            self.field(node, "", value, above, node.origin)
        elif isinstance(value, yaml.MappingNode):
            self.fill(node, value, (*above, id(value)))
        return node

    def goes_deeper(self, value: yaml.Node, above: tuple[int, ...]) -> bool:
        self.count += len(value.value)
        reason = ""
        if id(value) in above:
            reason = "holds itself"
        elif len(above) >= MAX_DEPTH:
            reason = f"is nested more than {MAX_DEPTH} deep"
        elif self.count > _MAX_NODES:
            reason = f"stands for more than {_MAX_NODES} values"
        if reason:
            self.report.problem(self.origin(value), "", reason)
            self.report.is_broken = True
        return not reason

    def scalar(self, value: yaml.ScalarNode, path: str) -> tuple[Scalar, bool]:
        kind = value.tag.removeprefix(_TAG)
        try:
            if kind == "null":
                return None, False
            if kind == "bool":
                return self.scalars.construct_yaml_bool(value), False
            if kind == "int":
                return self.scalars.construct_yaml_int(value), False
            if kind == "float":
                return self.scalars.construct_yaml_float(value), False
        except (ValueError, KeyError):
            self.report.problem(self.origin(value), path, f"{value.value} is not a YAML {kind}")
        return value.value, True

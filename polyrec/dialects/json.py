"""JSON text to a tree of nodes with line and column."""

from __future__ import annotations

import bisect
import re

from polyrec.dialects.node import Node, Report, Scalar
from polyrec.errors import Origin

MAX_DEPTH = 100

_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"-?[A-Za-z_][A-Za-z0-9_]*|\S")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_WORDS: dict[str, Scalar] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}


class _Stop(Exception):  # noqa: N818 - control flow, it never leaves this file
    """Nothing after this point can be understood."""


def parse(text: str, file: str, report: Report, shell_brackets: bool = False) -> Node:
    r"""The tree of a JSON object. `shell_brackets` also takes `\[` and `\]` for brackets, in texts and outside them."""
    report.is_json = True
    root = Node.message(report, Origin(file, 1, 1))
    reader = _Reader(text, file, report, shell_brackets)
    try:
        reader.document(root)
    except _Stop:
        report.is_broken = True
    root.place()
    return root


class _Reader:
    def __init__(self, text: str, file: str, report: Report, shell_brackets: bool) -> None:
        self.text = text
        self.file = file
        self.report = report
        self.shell_brackets = shell_brackets
        self.index = 0
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def document(self, root: Node) -> None:
        if self.next() != "{":
            raise self.wrong("needs an object in braces")
        self.fill(root, 1)
        if self.next():
            raise self.wrong("has more text after its end")

    def fill(self, parent: Node, depth: int) -> None:
        opened = self.index
        self.index += 1
        given: dict[str, Origin] = {}
        if self.next() == "}":
            self.index += 1
            return
        while True:
            if self.next() != '"':
                raise self.wrong(f"needs a name in double quotes, not {self.shown(opened)}")
            origin = self.origin()
            name = self.string()
            if self.next() != ":":
                raise self.wrong(f'needs a colon after "{name}", not {self.shown(opened)}')
            self.index += 1
            if name in given:
                self.report.problem(origin, name, f"is given twice, first on line {given[name].line}")
                self.value(Node.message(self.report, origin), name, depth, origin)
            else:
                given[name] = origin
                self.value(parent, name, depth, origin)
            if self.separator("}", opened):
                return

    def value(self, parent: Node, name: str, depth: int, origin: Origin) -> None:
        """One value, or each value of a list, as occurrences of a field; all but scalars stand where the name does."""
        if self.next() != "[":
            node = self.node(depth)
            if node.fields is not None:
                node.origin = origin
            parent.add(name, node)
            return
        opened = self.index
        parent.lists[name] = origin
        self.index += 1
        if self.next() == "]":
            self.index += 1
            return
        while True:
            parent.add(name, self.node(depth))
            if self.separator("]", opened):
                return

    def separator(self, closing: str, opened: int) -> bool:
        """Past a comma, or past the end of what was opened."""
        mark = self.next()
        if mark == closing:
            self.index += 1
            return True
        if mark != ",":
            raise self.wrong(f"needs a comma or {closing}, not {self.shown(opened)}")
        comma = self.index
        self.index += 1
        if self.next() == closing:
            self.index = comma
            raise self.wrong(f"has a comma before {closing}")
        return False

    def node(self, depth: int) -> Node:
        mark = self.next()
        origin = self.origin()
        if depth > MAX_DEPTH:
            raise self.wrong(f"is nested more than {MAX_DEPTH} deep")
        if mark in ("{", "["):
            node = Node.message(self.report, origin)
            if mark == "{":
                self.fill(node, depth + 1)
            else:
                self.value(node, "", depth + 1, origin)
            return node
        if mark == '"':
            return Node(self.report, origin, "", self.string(), quoted=True)
        return Node(self.report, origin, "", self.bare())

    def bare(self) -> Scalar:
        found = _NUMBER.match(self.text, self.index)
        if found:
            self.index = found.end()
            return float(found.group()) if found.group(1) or found.group(2) else int(found.group())
        word = _WORD.match(self.text, self.index)
        if word and word.group() in _WORDS:
            self.index = word.end()
            return _WORDS[word.group()]
        raise self.wrong(f"needs a value, not {word.group() if word else 'the end of the text'}")

    def string(self) -> str:
        opened = self.index
        parts: list[str] = []
        self.index += 1
        while True:
            found = _PLAIN.match(self.text, self.index)
            assert found is not None
            parts.append(found.group())
            self.index = found.end()
            mark = self.text[self.index : self.index + 1]
            if mark == '"':
                self.index += 1
                # Halves of a character outside the basic plane come as two escapes.
                return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if mark != "\\":
                self.index = opened
                raise self.wrong("has a text that is not closed on its line")
            parts.append(self.escape())

    def escape(self) -> str:
        letter = self.text[self.index + 1 : self.index + 2]
        if letter == "u":
            digits = self.text[self.index + 2 : self.index + 6]
            if re.fullmatch("[0-9a-fA-F]{4}", digits):
                self.index += 6
                return chr(int(digits, 16))
        elif letter in _ESCAPES and letter:
            self.index += 2
            return _ESCAPES[letter]
        elif self.shell_brackets and letter and letter in "[]":
            self.index += 2
            return letter
        raise self.wrong(f"has the unknown escape \\{letter}")

    # -- where we are

    def next(self) -> str:
        """The next character that is not space; an empty text at the end."""
        found = _SPACE.match(self.text, self.index)
        assert found is not None
        self.index = found.end()
        if self.shell_brackets and self.text[self.index : self.index + 2] in ("\\[", "\\]"):
            self.index += 1
        return self.text[self.index : self.index + 1]

    def shown(self, opened: int) -> str:
        found = _WORD.match(self.text, self.index)
        if found:
            return found.group()
        return f"the end of the text ({self.text[opened]} of line {self.origin(opened).line} is open)"

    def origin(self, index: int | None = None) -> Origin:
        index = self.index if index is None else index
        line = bisect.bisect_right(self.starts, index)
        return Origin(self.file, line, index - self.starts[line - 1] + 1)

    def wrong(self, message: str) -> _Stop:
        self.report.problem(self.origin(), "", message)
        return _Stop()

"""Protobuf's text format without a schema: any such text to a tree of nodes with line and column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from polyrec.dialects.node import Node, Report
from polyrec.errors import Origin

MAX_DEPTH = 100
"""Messages in messages that protobuf itself would read."""

_CLOSING = {"{": "}", "<": ">"}
_TOKEN = re.compile(
    r"""(?P<line>\n)
    | (?P<space>[ \t\r\f\v\ufeff]+ | \#[^\n]*)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<mark>[{}<>\[\]:;,\-])
    | (?P<text>"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
    | (?P<number>\.?[0-9](?:[eE][+-]|[A-Za-z0-9_.])*)
    | (?P<open>["'][^\n]*)
    | (?P<bad>[^\s{}<>\[\]:;,\-"']+|.)""",
    re.VERBOSE,
)
_NUMBER = re.compile(
    r"(?P<whole>0|[1-9][0-9]*)|0[xX](?P<hex>[0-9a-fA-F]+)|0(?P<octal>[0-7]+)"
    r"|(?P<real>(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eEfF]))(?:[eE][+-]?[0-9]+)?)[fF]?"
)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_LETTERS = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    column: int


@dataclass(slots=True)
class _Open:
    """A message whose end has not been seen."""

    name: str
    origin: Origin
    indent: int


def parse(text: str, file: str, report: Report) -> Node:
    """The tree of a text; what is wrong goes to `report`, and reading goes on behind it where that makes sense."""
    root = Node.message(report, Origin(file, 1, 1))
    reader = _Reader(text, file, report)
    reader.fields(root)
    reader.check_braces()
    root.place()
    return root


def _tokens(text: str) -> list[_Token]:
    tokens = []
    line, start = 1, -1
    new = tuple.__new__
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind == "line":
            line += 1
            start = found.start()
        elif kind != "space":
            tokens.append(new(_Token, (kind, found.group(), line, found.start() - start)))
    tokens.append(_Token("end", "", line, len(text) - start))
    return tokens


class _Reader:
    def __init__(self, text: str, file: str, report: Report) -> None:
        self.tokens = _tokens(text)
        self.index = 0
        self.file = file
        self.report = report
        self.stack: list[_Open] = []
        self.outdented: tuple[str, _Open, Origin] | None = None
        """First message whose closing brace stands left of it: most likely its own brace is missing."""
        self.indented: tuple[_Open, Origin] | None = None
        """First closing brace that stands right of the message it closes: most likely it is one too many."""
        self.stray: Origin | None = None
        self.unclosed: list[tuple[str, _Open]] = []

    # -- fields

    def fields(self, node: Node, closing: str = "") -> None:
        while True:
            kind, text, *_ = token = self.tokens[self.index]
            if kind == "word" or text == "[":
                self.field(node)
            elif kind == "end":
                if closing:
                    self.unclosed.append((self.path(), self.stack[-1]))
                return
            elif text in ("}", ">") and kind == "mark":
                self.index += 1
                if closing:
                    self.close(token, closing)
                    return
                self.stray = self.stray or self.origin(token)
            else:
                self.wrong(token, f"{text} does not belong here, where the name of a field is expected")
                self.skip_line(token.line)

    def field(self, node: Node) -> None:
        name_token = self.tokens[self.index]
        name = self.name()
        token = self.tokens[self.index]
        has_colon = token.text == ":" and token.kind == "mark"
        if has_colon:
            self.index += 1
            token = self.tokens[self.index]
        if token.text in _CLOSING and token.kind == "mark":
            node.add(name, self.child(name, name_token))
        elif token.text == "[" and token.kind == "mark":
            self.items(node, name, name_token, has_colon)
        elif self.is_value(token, name_token):
            if not has_colon:
                self.wrong(name_token, "needs a colon between name and value", name)
            node.add(name, self.scalar(name))
        elif not has_colon and self.is_indented_below(token, name_token):
            self.wrong(name_token, "needs an opening brace", name)
            node.add(name, self.child(name, name_token))
        else:
            self.wrong(name_token, "needs a value" if has_colon else "needs a colon and a value, or a message", name)
            if token.line == name_token.line:
                self.skip_line(token.line)
        if self.tokens[self.index].text in (";", ",") and self.tokens[self.index].kind == "mark":
            self.index += 1

    def name(self) -> str:
        token = self.tokens[self.index]
        self.index += 1
        if token.text != "[":
            return token.text
        parts = []
        while self.tokens[self.index].text != "]" and self.tokens[self.index].line == token.line:
            if self.tokens[self.index].kind == "end":
                break
            parts.append(self.tokens[self.index].text)
            self.index += 1
        if self.tokens[self.index].text == "]":
            self.index += 1
        else:
            self.wrong(token, "needs a closing bracket")
        return f"[{''.join(parts)}]"

    def child(self, name: str, name_token: _Token) -> Node:
        opening = self.tokens[self.index]
        closing = "}"
        if opening.kind == "mark" and opening.text in _CLOSING:
            closing = _CLOSING[opening.text]
            self.index += 1
        node = Node.message(self.report, self.origin(name_token))
        self.stack.append(_Open(name, node.origin, self.indent(name_token)))
        if len(self.stack) > MAX_DEPTH:
            self.wrong(name_token, f"is nested more than {MAX_DEPTH} deep")
            self.report.is_broken = True
            self.index = len(self.tokens) - 1
        else:
            self.fields(node, closing)
        self.stack.pop()
        return node

    # -- values

    def items(self, node: Node, name: str, name_token: _Token, has_colon: bool) -> None:
        opening = self.tokens[self.index]
        node.lists.setdefault(name, self.origin(opening))
        self.index += 1
        while True:
            token = self.tokens[self.index]
            if token.text == "]" and token.kind == "mark":
                self.index += 1
                return
            if token.text in _CLOSING and token.kind == "mark":
                node.add(name, self.child(name, token))
            elif token.kind in ("text", "number", "word", "open") or token.text == "-":
                if token.kind == "word" and self.tokens[self.index + 1].text in (":", "{", "<"):
                    break
                if not has_colon:
                    self.wrong(name_token, "needs a colon between name and value", name)
                    has_colon = True
                node.add(name, self.scalar(name))
            else:
                break
            token = self.tokens[self.index]
            if token.text == "," and token.kind == "mark":
                self.index += 1
            elif token.text != "]":
                break
        if token.kind not in ("end", "word") and token.text not in ("}", ">"):
            self.wrong(token, f"{token.text} does not belong in the list that begins on line {opening.line}", name)
            self.skip_line(token.line)
        else:
            self.wrong(opening, "needs a closing bracket", name)

    def scalar(self, name: str) -> Node:
        token = self.tokens[self.index]
        origin = self.origin(token)
        if token.kind == "text":
            return Node(self.report, origin, "", self.text(name), quoted=True)
        self.index += 1
        if token.kind == "word":
            return Node(self.report, origin, "", token.text)
        if token.kind == "open":
            self.wrong(token, "has a text that is not closed on its line", name)
            return Node(self.report, origin, "", token.text[1:], quoted=True)
        sign = ""
        if token.text == "-":
            sign = "-"
            token = self.tokens[self.index]
            if token.kind == "word" and token.text.lower() in ("inf", "infinity", "nan"):
                self.index += 1
                return Node(self.report, origin, "", sign + token.text)
            if token.kind != "number":
                self.wrong(token, "needs a number after the minus", name)
                self.index += token.kind in ("word", "text")
                return Node(self.report, origin, "", 0)
            self.index += 1
        return Node(self.report, origin, "", self.number(sign, token, name))

    def number(self, sign: str, token: _Token, name: str) -> int | float:
        found = _NUMBER.fullmatch(token.text)
        if found is None:
            self.wrong(token, f"{token.text} is not a number", name)
            return 0
        kind = found.lastgroup
        digits = found.group(kind or 0)
        if kind == "real":
            return float(sign + digits)
        return int(sign + digits, {"whole": 10, "hex": 16, "octal": 8}[kind or "whole"])

    def text(self, name: str) -> str:
        """Adjacent texts are one, also when a character's bytes are spread over them."""
        token = self.tokens[self.index]
        if "\\" not in token.text and self.tokens[self.index + 1].kind != "text":
            self.index += 1
            return token.text[1:-1]
        parts = b""
        while self.tokens[self.index].kind == "text":
            parts += self.unescaped(self.tokens[self.index], name)
            self.index += 1
        try:
            return parts.decode()
        except UnicodeDecodeError:
            self.wrong(token, "has escapes that are not UTF-8", name)
            return parts.decode(errors="replace")

    def unescaped(self, token: _Token, name: str) -> bytes:
        def byte(found: re.Match[str]) -> str:
            octal, pair, short, long, letter = found.groups()
            if octal:
                return chr(0xDC00 + (int(octal, 8) & 0xFF)) if int(octal, 8) > 127 else chr(int(octal, 8))
            if pair:
                return chr(0xDC00 + int(pair, 16)) if int(pair, 16) > 127 else chr(int(pair, 16))
            if short or long:
                point = int(short or long, 16)
                if point < 0x110000 and not 0xD800 <= point < 0xE000:
                    return chr(point)
            elif letter in _LETTERS:
                return chr(_LETTERS[letter])
            self.wrong(token, f"has the unknown escape {found.group()}", name)
            return ""

        # A byte above 127 travels as the lone surrogate that `surrogateescape` turns back into it.
        return _ESCAPE.sub(byte, token.text[1:-1]).encode(errors="surrogateescape")

    # -- where we are

    def is_value(self, token: _Token, name_token: _Token) -> bool:
        if token.kind not in ("text", "number", "word", "open") and token.text != "-":
            return False
        if token.line == name_token.line or token.kind == "text":
            return True
        # On a later line a word that is followed by a colon or a brace is the next field.
        return token.kind == "number" or self.tokens[self.index + 1].text not in (":", "{", "<")

    def is_indented_below(self, token: _Token, name_token: _Token) -> bool:
        return token.kind == "word" and token.line > name_token.line and token.column > self.indent(name_token)

    def indent(self, token: _Token) -> int:
        """Column of the first token of a token's line."""
        index = self.index
        while index and self.tokens[index].line > token.line:
            index -= 1
        while index and self.tokens[index - 1].line == token.line:
            index -= 1
        return self.tokens[index].column

    def origin(self, token: _Token) -> Origin:
        return Origin(self.file, token.line, token.column)

    def path(self, name: str = "") -> str:
        names = [opened.name for opened in self.stack]
        return ".".join([*names, name] if name else names)

    def wrong(self, token: _Token, message: str, name: str = "") -> None:
        self.report.problem(self.origin(token), self.path(name), message)

    def skip_line(self, line: int) -> None:
        """Leave out the rest of a line, but not its braces."""
        while self.tokens[self.index].line == line and self.tokens[self.index].kind != "end":
            if self.tokens[self.index].text in ("}", ">"):
                return
            self.index += 1

    # -- braces

    def close(self, token: _Token, closing: str) -> None:
        opened = self.stack[-1]
        if token.text != closing:
            self.wrong(token, f"{token.text} closes what {_opening(closing)} opened on line {opened.origin.line}")
        if token.line == opened.origin.line or self.indent(token) != token.column:
            return
        if token.column < opened.indent and self.outdented is None:
            self.outdented = (self.path(), opened, self.origin(token))
        if token.column > opened.indent and self.indented is None:
            self.indented = (opened, self.origin(token))

    def check_braces(self) -> None:
        if self.unclosed:
            path, opened = self.unclosed[0]
            where = "before the end of the file"
            if self.outdented:
                path, opened, closed = self.outdented
                where = f"before the brace of line {closed.line}"
            self.report.problem(opened.origin, path, f"needs a closing brace, {where}")
        elif self.stray:
            origin = self.indented[1] if self.indented else self.stray
            self.report.problem(origin, "", "has a closing brace too many")
        self.report.is_broken = self.report.is_broken or bool(self.unclosed or self.stray)


def _opening(closing: str) -> str:
    return "{" if closing == "}" else "<"

"""A config text as a tree that remembers where each value stands and what has been asked of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from polyrec.errors import ConfigError, Origin, Problem, likeness, nearest

_INTEGER = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)

T = TypeVar("T")
Scalar = str | int | float | bool | None


class Required:
    """The default of a field that has none."""


REQUIRED = Required()


@dataclass(frozen=True, slots=True)
class Value(Generic[T]):
    """A value and the place it was read from; the place of the message around it when it was left out."""

    value: T
    origin: Origin


@dataclass(slots=True)
class Report:
    """What reading a config has found so far."""

    problems: list[Problem] = field(default_factory=list)
    ignored: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    withdrawn: set[Origin] = field(default_factory=set)
    """Places of problems that were taken back; what follows from those is not worth telling either."""
    is_broken: bool = False
    """Whether the text's nesting was lost, so that what it seems to say is not worth reading."""
    is_json: bool = False
    """Whether names may be in camelCase and numbers in quotes, as protobuf's JSON form has them."""

    _seen: set[tuple[Origin | None, str]] = field(default_factory=set)

    def problem(self, origin: Origin | None, path: str, message: str) -> None:
        """One more problem; of a field that has one already, a second only follows from the first."""
        key = (origin, path or message)
        if key not in self._seen:
            self._seen.add(key)
            self.problems.append(Problem(origin, path, message))

    @property
    def told(self) -> set[Origin | None]:
        """Places of which something is said already: what stands there in the config is a stand-in."""
        return {problem.origin for problem in self.problems} | self.withdrawn

    def withdraw(self, path: str, start: str, origin: Origin | None = None) -> None:
        """Take back what was said of a path with these first words, here or anywhere: a better message follows."""
        gone = {
            problem
            for problem in self.problems
            if problem.path == path and problem.message.startswith(start) and origin in (None, problem.origin)
        }
        self.problems = [problem for problem in self.problems if problem not in gone]
        self._seen -= {(problem.origin, problem.path or problem.message) for problem in gone}
        self.withdrawn |= {problem.origin for problem in gone if problem.origin is not None}

    def finish(self) -> None:
        """Raise everything that was found wrong, in the order of the text."""
        if self.problems:
            lines = sorted(self.problems, key=lambda p: (p.origin is None, p.origin or Origin("", 0, 0)))
            raise ConfigError(lines)


class Node:
    """A scalar, or a message of named fields, each of which may be given several times."""

    __slots__ = ("_asked", "fields", "lists", "origin", "path", "quoted", "report", "scalar")

    def __init__(self, report: Report, origin: Origin, path: str, scalar: Scalar = None, quoted: bool = False) -> None:
        self.report = report
        self.origin = origin
        self.path = path
        self.scalar = scalar
        """The text, number or word; None for a message."""
        self.quoted = quoted
        """Whether a text stood in quotes, so that `true` and `"true"` differ."""
        self.fields: dict[str, list[Node]] | None = None
        """Fields of a message in the order of the text; None for a scalar."""
        self.lists: dict[str, Origin] = {}
        """Fields that were given as a list, which may be empty, and where it begins. A list in a list is a message
        whose only field has an empty name."""
        self._asked: set[str] = set()

    @classmethod
    def message(cls, report: Report, origin: Origin, path: str = "") -> Node:
        """A message without fields yet."""
        node = cls(report, origin, path)
        node.fields = {}
        return node

    def add(self, name: str, child: Node) -> None:
        """One more occurrence of a field of this message."""
        assert self.fields is not None
        found = self.fields.get(name)
        if found is None:
            self.fields[name] = [child]
        else:
            found.append(child)

    def place(self, path: str = "") -> None:
        """Give this node and all below it their paths; several occurrences of a field are numbered."""
        self.path = path
        if self.fields is None:
            return
        for name, nodes in self.fields.items():
            at = f"{path}.{name}" if path and name else path or name
            if len(nodes) == 1:
                nodes[0].place(at)
                continue
            for index, node in enumerate(nodes):
                node.place(f"{at}[{index}]")

    # -- finding fields

    def peek(self, name: str) -> list[Node]:
        """Every occurrence of a field, without taking note that it was asked for."""
        if self.fields is None:
            return []
        if name not in self.fields and self.report.is_json:
            first, *rest = name.split("_")
            camel = first + "".join(word[:1].upper() + word[1:] for word in rest)
            if camel in self.fields:
                self.fields[name] = self.fields.pop(camel)
                if camel in self.lists:
                    self.lists[name] = self.lists.pop(camel)
        return self.fields.get(name, [])

    def ask(self, name: str) -> list[Node]:
        """Every occurrence of a field; marks the name as one that is known. A null is as good as absent."""
        self._asked.add(name)
        found = self.peek(name)
        if any(node.is_null for node in found):
            return [node for node in found if not node.is_null]
        return found

    @property
    def has_loose_text(self) -> bool:
        """Whether a text may be read as a number: a bare word, the text of an edit, or any text of JSON."""
        return not self.quoted or self.report.is_json

    @property
    def is_null(self) -> bool:
        return self.scalar is None and self.fields is None

    def is_list(self, name: str) -> bool:
        """Whether a field was given as a list; asking does not count as reading it."""
        self.peek(name)
        return name in self.lists

    @property
    def known(self) -> frozenset[str]:
        """Names of the fields that were asked for, given or not."""
        return frozenset(self._asked)

    def has(self, name: str) -> bool:
        return bool(self.ask(name))

    def children(self, name: str) -> list[Node]:
        """Every occurrence of a repeated message."""
        found = self.ask(name)
        for node in found:
            if node.fields is None:
                node.wrong("needs a message in braces")
        return [node for node in found if node.fields is not None]

    def child(self, name: str) -> Node | None:
        """A singular message; given several times, its parts are merged and the later ones win."""
        found = self.children(name)
        if not found:
            return None
        first = found[0]
        for later in found[1:]:
            first.merge(later)
        del found[1:]
        if self.fields is not None:
            self.fields[name] = [first]
        return first

    def merge(self, other: Node) -> None:
        assert self.fields is not None
        assert other.fields is not None
        for name, nodes in other.fields.items():
            self.fields.setdefault(name, []).extend(nodes)
        self.lists.update(other.lists)

    def one_of(self, names: Iterable[str]) -> str | None:
        """Which of several fields is given; the last one in the text wins, as in a protobuf `oneof`, and an edit wins
        over the text."""
        given = {name: found[-1].origin for name in names if (found := self.ask(name))}
        if not given:
            return None
        last = max(given, key=lambda name: (given[name].file != self.origin.file, given[name]))
        for name, origin in given.items():
            if name != last and self.fields is not None:
                del self.fields[name]
                self.report.notes.append(Problem(origin, self.at(name), f"has no effect, {last} is given as well"))
        return last

    # -- reading values; a wrong value becomes a problem and the default (or a plain stand-in) is returned

    def text(self, name: str, default: str | Required = REQUIRED) -> Value[str]:
        return self._last(name, default, "", _as_text)

    def integer(self, name: str, default: int | Required = REQUIRED) -> Value[int]:
        return self._last(name, default, 1, _as_integer)

    def number(self, name: str, default: float | Required = REQUIRED) -> Value[float]:
        return self._last(name, default, 1.0, _as_number)

    def flag(self, name: str, default: bool | Required = REQUIRED) -> Value[bool]:
        return self._last(name, default, False, _as_flag)

    def choice(
        self,
        name: str,
        choices: Mapping[str, T],
        default: T | Required = REQUIRED,
        numbers: Mapping[int, str] | None = None,
    ) -> Value[T]:
        """A word (or its number) from a closed list, and what it stands for."""
        stand_in = next(iter(choices.values()))

        def convert(node: Node) -> T:
            word = node.scalar
            if isinstance(word, int) and not isinstance(word, bool) and numbers and word in numbers:
                word = numbers[word]
            if isinstance(word, str) and word in choices:
                return choices[word]
            hint = nearest(str(word), choices)
            raise ValueError(f"{_show(node)} is not supported{hint}; known: {', '.join(choices)}")

        return self._last(name, default, stand_in, convert)

    def texts(self, name: str) -> list[Value[str]]:
        return self._all(name, _as_text)

    def integers(self, name: str) -> list[Value[int]]:
        return self._all(name, _as_integer)

    def numbers(self, name: str) -> list[Value[float]]:
        return self._all(name, _as_number)

    def _last(self, name: str, default: Any, stand_in: Any, convert: Any) -> Value[Any]:
        found = self.ask(name)
        missing = isinstance(default, Required)
        if not found:
            if missing:
                empty = self.peek(name)
                self.report.problem(empty[-1].origin if empty else self.origin, self.at(name), "is required")
            return Value(stand_in if missing else default, self.origin)
        try:
            return Value(convert(found[-1]), found[-1].origin)
        except ValueError as error:
            found[-1].wrong(str(error))
            return Value(stand_in if missing else default, found[-1].origin)

    def _all(self, name: str, convert: Any) -> list[Value[Any]]:
        values = []
        for node in self.ask(name):
            try:
                values.append(Value(convert(node), node.origin))
            except ValueError as error:
                node.wrong(str(error))
        return values

    # -- what is not used, and what is wrong

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def wrong(self, message: str) -> None:
        self.report.problem(self.origin, self.path, message)

    def ignore(self, reasons: Mapping[str, str]) -> None:
        """Fields that are understood and have no effect here, each with its reason."""
        for name, reason in reasons.items():
            for node in self.ask(name):
                self.report.ignored.append(Problem(node.origin, node.path, reason))
                node.mark_read()

    def refuse(self, reasons: Mapping[str, str]) -> None:
        """Fields that are understood and cannot be honoured, each with its reason."""
        for name, reason in reasons.items():
            for node in self.ask(name):
                node.wrong(reason)
                node.mark_read()

    def scalars(self) -> Iterator[Node]:
        """The values at and below this node, as they stand in the text."""
        if self.fields is None:
            yield self
        for nodes in (self.fields or {}).values():
            for node in nodes:
                yield from node.scalars()

    def mark_read(self) -> None:
        """Take the whole of this message as read."""
        self._asked.update(self.lists)
        for name, nodes in (self.fields or {}).items():
            self._asked.add(name)
            for node in nodes:
                node.mark_read()

    def check_unread(self) -> None:
        """Every field that nothing asked for is a problem, with the nearest name that something did ask for."""
        for name in [name for name in self.lists if name not in self._asked]:
            self._unknown(name, self.lists[name], self.at(name))
        for name, nodes in list((self.fields or {}).items()):
            for node in nodes:
                if name in self._asked:
                    node.check_unread()
                elif name not in self.lists:
                    self._unknown(name, node.origin, node.path)

    def _unknown(self, name: str, origin: Origin, path: str) -> None:
        if not name:
            self.wrong("needs one value, not a list")
            return
        absent = {known for known in self._asked if not self.peek(known) and known not in self.lists}
        meant = likeliest(name, self._asked, absent)
        # One mistake, one message: that the field is missing, or what is wrong with its value, follows from its name.
        self.report.withdraw(path, "", origin)
        if meant in absent:
            self.report.withdraw(self.at(meant), "is required")
        self.report.problem(origin, path, f"unknown field{f'; did you mean {meant}?' if meant else ''}")


def likeliest(word: str, known: Iterable[str], absent: Iterable[str]) -> str:
    """The known name that a misspelt one most likely stands for, or an empty text; one that is absent is likelier."""
    absent = set(absent)
    ratios = {name: likeness(word, name) for name in sorted(set(known))}
    likely = {name: ratio + 0.1 * (name in absent) for name, ratio in ratios.items() if ratio >= 0.5}
    return max(likely, key=lambda name: likely[name], default="")


def _as_text(node: Node) -> str:
    if isinstance(node.scalar, str) and (node.quoted or node.scalar not in ("true", "false")):
        return node.scalar
    raise ValueError(f"needs a text in quotes, not {_show(node)}")


def _as_integer(node: Node) -> int:
    if isinstance(node.scalar, int) and not isinstance(node.scalar, bool):
        return node.scalar
    if node.has_loose_text and isinstance(node.scalar, str) and _INTEGER.fullmatch(node.scalar):
        return int(node.scalar)
    raise ValueError(f"needs a whole number, not {_show(node)}")


def _as_number(node: Node) -> float:
    if isinstance(node.scalar, int | float) and not isinstance(node.scalar, bool):
        return float(node.scalar)
    if node.has_loose_text and isinstance(node.scalar, str) and _NUMBER.fullmatch(node.scalar):
        return float(node.scalar)
    raise ValueError(f"needs a number, not {_show(node)}")


def _as_flag(node: Node) -> bool:
    if isinstance(node.scalar, bool):
        return node.scalar
    if not node.quoted and node.scalar in ("true", "True", "t", "1", 1):
        return True
    if not node.quoted and node.scalar in ("false", "False", "f", "0", 0):
        return False
    raise ValueError(f"needs true or false, not {_show(node)}")


def _show(node: Node) -> str:
    if node.fields is not None:
        return "a list" if "" in node.lists else "a message"
    if isinstance(node.scalar, bool):
        return str(node.scalar).lower()
    return f'"{node.scalar}"' if node.quoted else str(node.scalar)

"""The words of a formula, each with its column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

SYMBOLS = (
    "||",
    "&&",
    "<=",
    ">=",
    "==",
    "!=",
    "<",
    ">",
    "|",
    "&",
    "+",
    "-",
    "*",
    "/",
    "^",
    "!",
    "?",
    ":",
    "(",
    ")",
    ",",
)
"""Longer ones first, since the first that fits is taken."""
DIGITS = frozenset("0123456789")
MEANT = {"=": "==", "**": "^", "~": "!", "≤": "<=", "≥": ">=", "≠": "!="}
"""What other languages write, and what it is here."""


class ExpressionError(ValueError):
    """A formula that cannot be used; `column` counts from 1."""

    def __init__(self, column: int, what: str) -> None:
        self.column = column
        self.what = what
        super().__init__(f"column {column} of the formula: {what}")


@dataclass(frozen=True, slots=True)
class Token:
    kind: Literal["number", "name", "symbol", "end"]
    text: str
    column: int


def tokens(text: str) -> Iterator[Token]:
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        token = _token(text, place)
        place += len(token.text)
        yield token
    yield Token("end", "", len(text) + 1)


def _token(text: str, place: int) -> Token:
    letter = text[place]
    if letter in DIGITS or (letter == "." and text[place + 1 : place + 2] in DIGITS):
        return _number(text, place)
    if letter == "_" or letter.isalpha():
        return Token("name", _run(text, place), place + 1)
    if text.startswith("**", place):
        raise ExpressionError(place + 1, "** is not known; did you mean ^?")
    for symbol in SYMBOLS:
        if text.startswith(symbol, place):
            return Token("symbol", symbol, place + 1)
    hint = f"; did you mean {MEANT[letter]}?" if letter in MEANT else ""
    raise ExpressionError(place + 1, f"{letter} is not known{hint}")


def _run(text: str, place: int) -> str:
    """Letters, digits and underscores from there on."""
    end = place
    while end < len(text) and (text[end] == "_" or text[end].isalnum()):
        end += 1
    return text[place:end]


def _number(text: str, place: int) -> Token:
    end = _digits(text, place)
    if text[end : end + 1] == ".":
        end = _digits(text, end + 1)
    if text[end : end + 1] in ("e", "E"):
        sign = end + 1 + (text[end + 1 : end + 2] in ("+", "-"))
        if text[sign : sign + 1] in DIGITS:
            end = _digits(text, sign)
    if _run(text, end) or text[end : end + 1] == ".":
        raise ExpressionError(place + 1, f"{text[place:end]}{_run(text, end) or '.'} is no number, and no name")
    return Token("number", text[place:end], place + 1)


def _digits(text: str, place: int) -> int:
    """Where the digits that begin there end."""
    while text[place : place + 1] in DIGITS:
        place += 1
    return place

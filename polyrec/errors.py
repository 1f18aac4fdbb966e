"""What can go wrong, as one tree; each leaf knows the exit code of the command that ends with it.

PolyrecError
  ConfigError      2   a config file, an edit or a flag is wrong; holds every problem found
  DataError        3   a row, file or column cannot be used
  CheckpointError  4   nothing whole to load, or it does not fit the model
  ExportError      4   an export is damaged or cannot be made
  StorageError     4   a store that a URL names cannot be reached or used
  LaunchError      4   a process of the job failed
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


class PolyrecError(Exception):
    """The base: its text is for the user, who sees it without a traceback."""

    exit_code = 4


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """Where in a text a value stands; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a config: where, which field, and what to do instead."""

    origin: Origin | None
    path: str
    message: str

    def __str__(self) -> str:
        return ": ".join(str(part) for part in (self.origin, self.path, self.message) if part)


class ConfigError(PolyrecError):
    """Every problem found in one reading of a config."""

    exit_code = 2

    def __init__(self, problems: Iterable[Problem] | str) -> None:
        self.problems = [Problem(None, "", problems)] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class DataError(PolyrecError):
    exit_code = 3


class CheckpointError(PolyrecError):
    pass


class ExportError(PolyrecError):
    pass


class StorageError(PolyrecError):
    pass


class LaunchError(PolyrecError):
    pass


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean x?` for the known name most like `word`, or an empty text."""
    likely = {name: ratio for name in sorted(set(known)) if (ratio := likeness(word, name)) >= 0.5}
    return f"; did you mean {max(likely, key=lambda name: likely[name])}?" if likely else ""


def likeness(word: str, name: str) -> float:
    """How much of two names is the same, from 0 to 1, whether letters are small or not."""
    word, name = word.lower(), name.lower()
    ratio = difflib.SequenceMatcher(None, name, word).ratio()
    if sorted(word.replace("_", "")) == sorted(name.replace("_", "")):
        # Letters that changed places, or underscores that came or went: slips, and hardly another name.
        return 0.9 + 0.1 * ratio
    return ratio

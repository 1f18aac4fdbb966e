"""Command lines read strictly: no abbreviations, and an unknown flag is answered with the nearest one."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from polyrec.errors import ConfigError, Problem, nearest


class Flags(argparse.ArgumentParser):
    """An argument parser whose errors are ConfigErrors."""

    def __init__(self, prog: str, description: str | None = None) -> None:
        super().__init__(
            prog=prog,
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    @property
    def names(self) -> list[str]:
        return [name for action in self._actions for name in action.option_strings]

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix("argument ").replace("expected one argument", "needs a value")
        message = re.sub(r"the following arguments are required: (.*)", r"\1: missing", message)
        raise ConfigError(f"{self.prog}: {message}")

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """The values of `words`; every word that no flag takes is a problem."""
        names = set(self.names)
        unknown = [word for word in words if _is_flag(word) and word.partition("=")[0] not in names]
        if unknown:
            raise ConfigError(Problem(None, self.prog, unknown_flag(word, names)) for word in unknown)
        values, extra = self.parse_known_args(list(words))
        if extra:
            raise ConfigError(Problem(None, self.prog, f"{word}: not expected here") for word in extra)
        return values


def choice(*known: str) -> Callable[[str], str]:
    """Reads a word from a closed list."""

    def read(word: str) -> str:
        if word not in known:
            hint = nearest(word, known)
            raise argparse.ArgumentTypeError(f"{word} is not supported{hint}; known: {', '.join(known)}")
        return word

    return read


def above_zero(word: str) -> int:
    """Reads a whole number above 0."""
    if not re.fullmatch(r"\s*\+?0*[1-9][0-9]*\s*", word):
        raise argparse.ArgumentTypeError(f"needs a whole number above 0, not {word}")
    return int(word)


def _is_flag(word: str) -> bool:
    return re.match(r"--?[A-Za-z]", word) is not None


def unknown_flag(word: str, known: Iterable[str]) -> str:
    name = word.partition("=")[0]
    return f"{name}: unknown flag{nearest(name, known)}"


def paths(values: Iterable[str]) -> tuple[str, ...]:
    """Paths as they were given; an empty text names nothing. Commas and globs are told apart where files are found."""
    return tuple(value for value in values if value)


def names(value: str | None) -> tuple[str, ...]:
    """A list of names joined by commas."""
    return tuple(part.strip() for part in (value or "").split(",") if part.strip())

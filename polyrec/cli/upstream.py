"""Upstream commands as commands of polyrec: their flags are read here, and become a command line of ours.

A command is a pure function from the upstream's words to polyrec's; `forward` runs what it returns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from polyrec.cli import main
from polyrec.cli.flags import Flags
from polyrec.errors import ConfigError, PolyrecError, Problem

NOT_YET = "not available yet"
Found = argparse.Namespace
TRUE = ("true", "t", "yes", "1")
FALSE = ("false", "f", "no", "0", "")


def forward(
    command: Callable[[Sequence[str]], list[str]],
    argv: Sequence[str] | None = None,
    run: Callable[[Sequence[str]], int] = main,
) -> int:
    """Run the polyrec command that an upstream command line stands for."""
    try:
        words = command(sys.argv[1:] if argv is None else argv)
    except PolyrecError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except SystemExit as end:  # argparse ends this way after --help
        return int(end.code or 0)
    return run(words)


class UpstreamFlags(Flags):
    """Flags of an upstream command. A word after a flag is its value, as is what follows an equals sign."""

    def __init__(self, prog: str, description: str | None = None) -> None:
        super().__init__(prog, description)
        self._refused: dict[str, str] = {}
        self._ignored: dict[str, str] = {}

    def values(self, *names: str) -> None:
        """Flags with one value each."""
        for name in names:
            self.add_argument(f"--{name}")

    def lists(self, *names: str) -> None:
        """Flags with any number of values, which may also be given several times."""
        for name in names:
            self.add_argument(f"--{name}", nargs="*", action="extend")

    def switches(self, *names: str) -> None:
        """Flags that are there or not; `--flag True` and `--flag=false` are understood too."""
        for name in names:
            self.add_argument(f"--{name}", nargs="?", const="true", default="false", type=_switch)

    def refuse(self, reasons: Mapping[str, str], short: str | None = None) -> None:
        """Flags that are known and cannot be honoured, each with its reason. Switched off, they are no problem."""
        for name in reasons:
            forms = [f"--{name}", short] if short else [f"--{name}"]
            self.add_argument(*forms, nargs="?", const="true", help=argparse.SUPPRESS)
        self._refused.update(reasons)

    def ignore(self, reasons: Mapping[str, str]) -> None:
        """Flags that are known and change nothing here, each with its reason."""
        for name in reasons:
            self.add_argument(f"--{name}", nargs="?", const="true", help=argparse.SUPPRESS)
        self._ignored.update(reasons)

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        found = super().read(words)
        wrong = [
            Problem(None, self.prog, f"--{name}: {reason}")
            for name, reason in self._refused.items()
            if (getattr(found, name) or "").lower() not in FALSE
        ]
        if wrong:
            raise ConfigError(wrong)
        for name, reason in self._ignored.items():
            if getattr(found, name) is not None:
                sys.stderr.write(f"{self.prog}: --{name} has no effect: {reason}\n")
        return found


def _switch(text: str) -> str:
    if text.lower() in TRUE:
        return "true"
    if text.lower() in FALSE:
        return "false"
    raise argparse.ArgumentTypeError(f"needs true or false, not {text}")


def is_on(value: str) -> bool:
    return value == "true"


def options(found: argparse.Namespace, names: Mapping[str, str]) -> list[str]:
    """`--ours=value` for each of the upstream's flags that was given a value."""
    given = ((ours, getattr(found, theirs)) for theirs, ours in names.items())
    return [f"{ours}={value}" for ours, value in given if value]


def path_options(found: argparse.Namespace, names: Mapping[str, str]) -> list[str]:
    """`--ours a b` for each flag that was given, also when it was given an empty text, which means none."""
    words: list[str] = []
    for theirs, ours in names.items():
        value = getattr(found, theirs)
        if value is not None:
            words += [ours, *(part for part in ([value] if isinstance(value, str) else value) if part)]
    return words


def required(found: argparse.Namespace, prog: str, names: Iterable[str]) -> None:
    missing = [name for name in names if not getattr(found, name)]
    if missing:
        raise ConfigError(Problem(None, prog, f"--{name} is required") for name in missing)

"""Files that a path names and nobody reads: those with a hidden name, and those that hold nothing."""

from __future__ import annotations

import glob
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass

from polyrec.storage.listing import is_hidden

log = logging.getLogger(__name__)

SHOWN = 3
"""Names that are listed of each kind."""
_told: set[str] = set()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is left out of the files that some paths name."""

    hidden: tuple[str, ...] = ()
    """Files and folders whose names begin with a dot or an underscore; of such a folder, the folder alone."""
    empty: tuple[str, ...] = ()

    def __str__(self) -> str:
        kinds = [("with a hidden name", self.hidden), ("empty", self.empty)]
        return "; ".join(f"{len(found)} {kind} ({_listed(found)})" for kind, found in kinds if found)

    def __bool__(self) -> bool:
        return bool(self.hidden or self.empty)

    def tell(self) -> None:
        """One line in the log, once in a process: the same paths are looked at several times in a run."""
        line = str(self)
        if line and line not in _told:
            _told.add(line)
            log.log(logging.WARNING if self.empty else logging.INFO, "left out of the data: %s", line)


def hidden_below(folder: str) -> list[str]:
    """The hidden files and folders of a folder, wherever below it."""
    found: list[str] = []
    for root, folders, names in os.walk(folder, followlinks=True):
        found += [os.path.join(root, name) for name in (*folders, *names) if is_hidden(name)]
        folders[:] = [name for name in folders if not is_hidden(name)]
    return sorted(found)


def hidden_of(pattern: str) -> list[str]:
    """The hidden files that a path of this machine would name if they were not hidden."""
    if os.path.isfile(pattern):
        return []
    if os.path.isdir(pattern):
        return hidden_below(pattern)
    named = pattern.split("/")
    found: dict[str, None] = {}
    for match in sorted(glob.glob(pattern, recursive=True)):
        parts = match.split("/")
        first = next((place for place, part in enumerate(parts) if is_hidden(part) and part not in named), None)
        if first is not None:
            found["/".join(parts[: first + 1])] = None
        elif os.path.isdir(match):
            found.update(dict.fromkeys(hidden_below(match)))
    return list(found)


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(paths[:SHOWN]) + (", ..." if len(paths) > SHOWN else "")

"""From what a user names as data to the files that hold it."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from polyrec.data.left_out import LeftOut, hidden_of, is_hidden
from polyrec.errors import DataError


def expand(paths: Sequence[str], suffixes: tuple[str, ...]) -> list[str]:
    """Every file that `paths` name, each once: sorted within a path, in the order of the paths.

    A path is a file, a folder (all that is below it), a glob, or several of these between commas. From folders only
    files with one of `suffixes` are taken, and none that is hidden: those named with a leading dot or underscore.
    """
    found, left_out = look(paths, suffixes)
    left_out.tell()
    return found


def look(paths: Sequence[str], suffixes: tuple[str, ...]) -> tuple[list[str], LeftOut]:
    """The same files, and what is left out."""
    found: dict[str, None] = {}
    hidden: dict[str, None] = {}
    empty: dict[str, None] = {}
    for pattern in (part for path in paths for part in _split(path)):
        files = _files(pattern, suffixes)
        full = [file for file in files if os.path.getsize(file) > 0]
        if not full:
            raise DataError(_nothing(pattern, suffixes, len(files)))
        empty.update(dict.fromkeys(sorted(set(files) - set(full))))
        hidden.update(dict.fromkeys(hidden_of(_plain(pattern))))
        found.update(dict.fromkeys(full))
    if not found:
        raise DataError("no data: no path is given")
    return list(found), LeftOut(tuple(hidden), tuple(empty))


def _split(path: str) -> list[str]:
    """Parts between commas, unless a file has this very name."""
    if os.path.exists(path):
        return [path]
    return [part.strip() for part in path.split(",") if part.strip()]


def _files(pattern: str, suffixes: tuple[str, ...]) -> list[str]:
    r"""Files of one path. `\*` is read as `*`: shells leave it so when it stands in quotes."""
    if os.path.isfile(pattern):
        return [pattern]
    if os.path.isdir(pattern):
        return sorted(_below(pattern, suffixes))
    matches = glob.glob(_plain(pattern), recursive=True)
    named = pattern.split("/")
    matches = [match for match in matches if not any(is_hidden(part) for part in match.split("/") if part not in named)]
    files = [match for match in matches if os.path.isfile(match)]
    folders = [match for match in matches if os.path.isdir(match)]
    return sorted({*files, *(file for folder in folders for file in _below(folder, suffixes))})


def _plain(pattern: str) -> str:
    for sign in "*?[]":
        pattern = pattern.replace("\\" + sign, sign)
    return pattern


def _below(folder: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    for root, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not is_hidden(name)]
        for name in names:
            if not is_hidden(name) and (not suffixes or name.endswith(suffixes)):
                yield os.path.join(root, name)


def _nothing(pattern: str, suffixes: tuple[str, ...], num_empty: int) -> str:
    if num_empty:
        return f"{pattern}: holds only empty files ({num_empty} of them)"
    kinds = " or ".join(suffixes) or "data"
    if os.path.isdir(pattern):
        others = sorted({Path(file).suffix or "without ending" for file in _below(pattern, ())})
        return f"{pattern}: holds no {kinds} file; it holds: {', '.join(others) or 'nothing'}"
    near = Path(_plain(pattern))
    while not near.exists():
        near = near.parent
    inside = ", ".join(sorted(item.name for item in near.iterdir())[:8]) if near.is_dir() else ""
    return f"{pattern}: no such file; the nearest path that exists is {near} with: {inside or 'nothing'}"

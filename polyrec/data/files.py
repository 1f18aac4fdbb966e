"""From what a user names as data to the files that hold it."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polyrec.data.left_out import LeftOut, hidden_of
from polyrec.errors import DataError
from polyrec.storage import TABLES, is_remote, listing, plain, scheme
from polyrec.storage.listing import is_hidden, unescaped

if TYPE_CHECKING:
    from polyrec.distributed import Ranks
    from polyrec.families import ReaderConfig

TABLE_PARTS = 5
"""Parts of `odps://project/tables/name` between slashes, the empty one after the scheme among them."""


def expand(paths: Sequence[str], suffixes: tuple[str, ...]) -> list[str]:
    """Every file that `paths` name, each once: sorted within a path, in the order of the paths.

    A path is a file, a folder (all that is below it), a glob, or several of these between commas. From folders only
    files with one of `suffixes` are taken, and none that is hidden: those named with a leading dot or underscore.
    URLs of stores are read by the same rules. A table is each of its partitions, as they are named.
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
        if scheme(pattern) == TABLES:
            found.update(dict.fromkeys(partitions(pattern)))
            continue
        files, without = _sizes(pattern, suffixes)
        full = [file for file, size in files.items() if size > 0]
        if not full:
            raise DataError(_nothing(pattern, suffixes, len(files)))
        empty.update(dict.fromkeys(sorted(set(files) - set(full))))
        hidden.update(dict.fromkeys(without))
        found.update(dict.fromkeys(full))
    if not found:
        raise DataError("no data: no path is given")
    return list(found), LeftOut(tuple(hidden), tuple(empty))


def agreed(reader: ReaderConfig, paths: Sequence[str], columns: Sequence[str], ranks: Ranks) -> list[str]:
    """What all ranks read parts of, by names that mean the same rows to each of them."""
    if not reader.has_sessions:
        return expand(paths, reader.suffixes())
    return ranks.agree(reader.shared(expand(paths, ()), columns) if ranks.is_first else [])


def _split(path: str) -> list[str]:
    """Parts between commas, unless a file has this very name."""
    if os.path.exists(path):
        return [path]
    return [plain(part.strip()) for part in path.split(",") if part.strip()]


def partitions(path: str) -> list[str]:
    """`odps://project/tables/name/day=1&day=2` as one path for each partition."""
    table, names = path.split("/")[:TABLE_PARTS], path.split("/", TABLE_PARTS)[TABLE_PARTS:]
    found = [name.strip("/") for name in "".join(names).split("&")]
    return ["/".join([*table, name]) for name in found if name] or ["/".join(table)]


def _sizes(pattern: str, suffixes: tuple[str, ...]) -> tuple[dict[str, int], list[str]]:
    """Files of one path and their bytes, and what is left out for its hidden name."""
    if is_remote(pattern):
        return listing.look(pattern, suffixes)
    return {file: os.path.getsize(file) for file in _files(pattern, suffixes)}, hidden_of(unescaped(pattern))


def _files(pattern: str, suffixes: tuple[str, ...]) -> list[str]:
    """Files of one path of this machine."""
    if os.path.isfile(pattern):
        return [pattern]
    if os.path.isdir(pattern):
        return sorted(_below(pattern, suffixes))
    matches = glob.glob(unescaped(pattern), recursive=True)
    named = pattern.split("/")
    matches = [match for match in matches if not any(is_hidden(part) for part in match.split("/") if part not in named)]
    files = [match for match in matches if os.path.isfile(match)]
    folders = [match for match in matches if os.path.isdir(match)]
    return sorted({*files, *(file for folder in folders for file in _below(folder, suffixes))})


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
    if is_remote(pattern):
        folder, names = listing.nearest_folder(pattern.rstrip("/"))
        others = sorted({Path(file).suffix or "without ending" for file in listing.found(pattern, ())})
        if others:
            return f"{pattern}: holds no {kinds} file; it holds: {', '.join(others)}"
        return _absent(pattern, folder, names) if names else f"{pattern}: no such file; {folder} is empty or not there"
    if os.path.isdir(pattern):
        others = sorted({Path(file).suffix or "without ending" for file in _below(pattern, ())})
        return f"{pattern}: holds no {kinds} file; it holds: {', '.join(others) or 'nothing'}"
    near = Path(unescaped(pattern))
    while not near.exists():
        near = near.parent
    return _absent(pattern, str(near), sorted(item.name for item in near.iterdir()) if near.is_dir() else [])


def _absent(pattern: str, near: str, inside: Sequence[str]) -> str:
    shown = ", ".join(inside[:8]) or "nothing"
    return f"{pattern}: no such file; the nearest path that exists is {near} with: {shown}"

"""Which files of a store a folder or a glob names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import translate
from typing import TYPE_CHECKING

from polyrec.storage import file_system, last_name, named, scheme, split

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

OF_HOSTS = ("hdfs", "viewfs")
"""Stores whose URLs begin with a host; those of the others begin with a bucket, which is part of the path."""
GLOB = re.compile(r"[*?\[]")


def is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def unescaped(pattern: str) -> str:
    r"""A pattern whose `\*` is read as `*`: shells leave it so when it stands in quotes."""
    for sign in "*?[]":
        pattern = pattern.replace("\\" + sign, sign)
    return pattern


def found(url: str, suffixes: tuple[str, ...]) -> dict[str, int]:
    """URLs of the files that a URL names, sorted, with their bytes: itself, all of a folder, or those of a glob."""
    return look(url, suffixes)[0]


def look(url: str, suffixes: tuple[str, ...]) -> tuple[dict[str, int], list[str]]:
    """The same, and the URLs of what is left out for its hidden name; of a hidden folder, the folder alone."""
    url = unescaped(url)
    store, path = file_system(url)
    hidden: set[str] = set()
    with named(url):
        files = dict(sorted(_files(store, path, suffixes, hidden)))
    return {_url_of(url, file): size for file, size in files.items()}, [_url_of(url, name) for name in sorted(hidden)]


def names_in(url: str) -> list[str]:
    """Names of what a folder holds; none when it is not there."""
    store, path = file_system(url)
    with named(url):
        return sorted(last_name(info.path) for info in inside(store, path))


def below(url: str) -> dict[str, int]:
    """Every file of a folder by its path there, with its bytes."""
    store, path = file_system(url)
    with named(url):
        return {
            info.path[len(path.rstrip("/")) + 1 :]: info.size
            for info in inside(store, path, recursive=True)
            if info.is_file
        }


def kind_of(url: str) -> str:
    """`File`, `Directory` or `NotFound`."""
    store, path = file_system(url)
    with named(url):
        return store.get_file_info(path).type.name


def inside(store: FileSystem, path: str, recursive: bool = False) -> list[FileInfo]:
    from pyarrow.fs import FileSelector

    return store.get_file_info(FileSelector(path, allow_not_found=True, recursive=recursive))


def _url_of(url: str, path: str) -> str:
    """A path of the store that `url` lies in, as a URL."""
    base, options = split(url)
    front, _, rest = base.partition("://")
    host = f"{rest.partition('/')[0]}/" if scheme(url) in OF_HOSTS else ""
    return f"{front}://{host}{path.lstrip('/')}{options}"


def _files(store: FileSystem, path: str, suffixes: tuple[str, ...], hidden: set[str]) -> Iterator[tuple[str, int]]:
    for info in _matches(store, path, hidden):
        if info.is_file:
            yield info.path, info.size
            continue
        root = info.path.rstrip("/")
        for item in inside(store, root, recursive=True):
            parts = item.path[len(root) + 1 :].split("/")
            first = next((place for place, part in enumerate(parts) if is_hidden(part)), None)
            if first is not None:
                hidden.add("/".join([root, *parts[: first + 1]]))
            elif item.is_file and (not suffixes or item.path.endswith(suffixes)):
                yield item.path, item.size


def _matches(store: FileSystem, path: str, hidden: set[str]) -> Iterator[FileInfo]:
    match = GLOB.search(path)
    if match is None:
        info = store.get_file_info(path)
        if info.type.name != "NotFound":
            yield info
        return
    base, _, rest = path[: match.start()].rpartition("/")
    yield from _descend(store, base, f"{rest}{path[match.start() :]}".split("/"), hidden)


def _descend(store: FileSystem, folder: str, parts: list[str], hidden: set[str]) -> Iterator[FileInfo]:
    """What the parts of a glob match below a folder; `**` is any number of folders."""
    part, rest = parts[0], parts[1:]
    if part == "**":
        yield from _descend(store, folder, rest or ["*"], hidden)
        for item in inside(store, folder):
            if not item.is_file and not is_hidden(last_name(item.path)):
                yield from _descend(store, item.path.rstrip("/"), parts, hidden)
        return
    wanted = re.compile(translate(part))
    for item in inside(store, folder):
        name = last_name(item.path)
        if not wanted.match(name):
            continue
        if is_hidden(name) and name != part:
            hidden.add(item.path.rstrip("/"))
        elif not rest:
            yield item
        elif not item.is_file:
            yield from _descend(store, item.path.rstrip("/"), rest, hidden)


def nearest_folder(url: str) -> tuple[str, list[str]]:
    """The longest beginning of a URL that is there, and what it holds."""
    base, options = split(unescaped(url))
    front, _, rest = base.partition("://")
    parts = rest.rstrip("/").split("/")
    for count in range(len(parts) - 1, 0, -1):
        candidate = f"{front}://{'/'.join(parts[:count])}{options}"
        inner = [] if GLOB.search(candidate[: len(candidate) - len(options)]) else names_in(candidate)
        if inner:
            return candidate, inner
    return f"{front}://{parts[0]}{options}", []

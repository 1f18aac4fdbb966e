"""Files by path or by URL: the one seam between the program and the stores that its files lie in.

Paths of this machine, `file://` among them, stay what they are and are used as ever. Every other URL is a file system
of Arrow's and a path in it. URLs hold no passwords: stores take credentials from their usual environment and files.
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urlsplit

from polyrec.errors import StorageError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

TABLES = "odps"
"""The scheme of MaxCompute tables, which are no files."""
READ_BYTES = 1 << 20
"""Smallest piece of a text that is asked of a store."""

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")
_OPTIONS = re.compile(r"\?(?=[A-Za-z_]+=)")
"""Where a URL's options begin; any other question mark belongs to a glob."""
_USER = re.compile(r"(?<=://)[^/\s]*@")
_SECRET = re.compile(r"(?i)((?:^|[?&\s])[^=&?\s]*(?:key|secret|token|password|signature|credential)[^=&?\s]*=)[^&\s,]+")


def scheme(path: str) -> str:
    """Of a URL; empty for a path."""
    match = _SCHEME.match(path)
    return match[1].lower() if match else ""


def is_remote(path: str | Path) -> bool:
    """Whether a path is a URL of a store, so not of this machine and not of a table."""
    return scheme(str(path)) not in ("", "file", TABLES)


def plain(path: str) -> str:
    """The path of a `file://` URL; anything else as it is."""
    return unquote(urlsplit(path).path) if scheme(path) == "file" else path


def masked(text: str) -> str:
    """The text without passwords of URLs and values of options whose names say that they are secret."""
    return _SECRET.sub(r"\1***", _USER.sub("***@", text))


def fault(url: str) -> str | None:
    """Why a URL cannot be used, as far as its text tells; None for paths and for good URLs."""
    if scheme(url) in ("", "file"):
        return None
    from polyrec.storage import stores

    return stores.password_fault(url) or (None if scheme(url) == TABLES else stores.fault(url))


def split(url: str) -> tuple[str, str]:
    """A URL without its options, and these with their question mark."""
    match = _OPTIONS.search(url)
    return (url[: match.start()], url[match.start() :]) if match else (url, "")


def joined(folder: str, name: str) -> str:
    """A file or folder below a URL or path."""
    base, options = split(folder)
    return f"{base.rstrip('/')}/{name}{options}" if name else folder


def last_name(path: str | Path) -> str:
    """The last part of a path or URL."""
    return split(str(path))[0].rstrip("/").rpartition("/")[2]


def file_system(url: str) -> tuple[FileSystem, str]:
    """The store of a URL, and the path in it."""
    from polyrec.storage import stores

    wrong = fault(url)
    if wrong:
        raise StorageError(f"{masked(url)}: {wrong}")
    with named(url):
        return stores.opened(url)


def source(path: str) -> str | io.IOBase:
    """What Arrow reads a file from: a path of this machine stays a path."""
    if not is_remote(path):
        return plain(path)
    store, inner = file_system(path)
    return store.open_input_file(inner)


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """A file's bytes from any place on, those of a store in pieces as they are asked for; `.gz` files unpacked."""
    is_packed = split(path)[0].endswith(".gz")
    if not is_remote(path):
        with gzip.open(plain(path)) if is_packed else open(plain(path), "rb") as file:
            yield file  # type: ignore[misc]  # gzip's reader has all that is used of a binary file
        return
    with io.BufferedReader(source(path), READ_BYTES) as raw:  # type: ignore[arg-type]  # Arrow's files can be read into
        if not is_packed:
            yield raw
            return
        with gzip.open(raw) as file:
            yield file  # type: ignore[misc]


def size(path: str) -> int:
    """Bytes of a file."""
    if not is_remote(path):
        return Path(plain(path)).stat().st_size
    store, inner = file_system(path)
    info = store.get_file_info(inner)
    if not info.is_file:
        raise FileNotFoundError(f"{path}: no such file")
    return info.size


@contextmanager
def named(url: str) -> Iterator[None]:
    """Errors of a store become errors that name the URL."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = masked(str(error).partition("\n")[0])
        raise StorageError(f"{masked(url)}: {reason}; are the address and the credentials right?") from error

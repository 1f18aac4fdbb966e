"""Copies of remote folders on this machine while they are in use, and the way of local files to a store."""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from polyrec import runtime
from polyrec.errors import StorageError
from polyrec.storage import file_system, joined, last_name, masked, named

T = TypeVar("T")
R = TypeVar("R")
STREAMS = 8
"""Files on their way at once."""

_held: dict[Path, int] = {}
"""Copies that this process uses, each with the descriptor of its lock."""
_urls: dict[str, str] = {}
"""What lies on this machine only for a URL's sake."""


def shown(text: object) -> str:
    """A text for people: copies on this machine are called by their URLs, and nothing secret is in it."""
    words = str(text)
    for place in sorted(_urls, key=len, reverse=True):
        words = words.replace(place, _urls[place])
    return masked(words)


def stands_for(place: Path, url: str) -> None:
    """What is at the place belongs to the URL; messages call it so."""
    _urls[str(place)] = url


def read_bytes(url: str) -> bytes:
    """A small file of a store."""
    store, path = file_system(url)
    with named(url), store.open_input_file(path) as file:
        return file.read()


def write_bytes(url: str, content: bytes) -> None:
    store, path = file_system(url)
    with named(url), store.open_output_stream(path, compression=None) as file:
        file.write(content)


def send(file: Path, url: str) -> None:
    """A file of this machine to the store, where it appears when all of it is there."""
    from pyarrow.fs import LocalFileSystem, copy_files

    store, path = file_system(url)
    with named(url):
        _make_folder(store, path)
        copy_files(str(file), path, source_filesystem=LocalFileSystem(), destination_filesystem=store)


def fetch(url: str, file: Path) -> None:
    from pyarrow.fs import LocalFileSystem, copy_files

    store, path = file_system(url)
    file.parent.mkdir(parents=True, exist_ok=True)
    with named(url):
        copy_files(path, str(file), source_filesystem=store, destination_filesystem=LocalFileSystem())


def together(transfer: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Do it for each; a few at a time, since one stream seldom fills a line."""
    with ThreadPoolExecutor(STREAMS) as pool:
        return list(pool.map(transfer, items))


def remove(url: str) -> None:
    """A file, or a folder with all that is in it; nothing when it is not there."""
    store, path = file_system(url)
    with named(url):
        kind = store.get_file_info(path).type.name
        if kind == "Directory":
            store.delete_dir(path)
        elif kind == "File":
            store.delete_file(path)


def _make_folder(store: object, path: str) -> None:
    """Stores of folders need them; stores of objects have none, and their buckets are not ours to make."""
    from pyarrow.fs import HadoopFileSystem, PyFileSystem

    if isinstance(store, HadoopFileSystem | PyFileSystem):
        store.create_dir(path.rpartition("/")[0], recursive=True)  # type: ignore[union-attr]


def held(url: str, key: str, names: Iterable[str], check: Callable[[Path], object]) -> Path:
    """A copy of some files of a remote folder, shared by the processes of this machine and kept while one uses it.

    `key` tells versions of the folder apart. `check` raises for a copy that is not what it should be.
    """
    name = f"{hashlib.sha256(f'{url} {key}'.encode()).hexdigest()[:24]}-{last_name(url)}"
    root = _root()
    place = root / name
    stands_for(place, url)
    while place not in _held:
        descriptor = _lock(root / f"{name}.lock", fcntl.LOCK_SH)
        if place.exists():
            _held[place] = descriptor
            continue
        os.close(descriptor)
        # Whoever is first makes the copy; the others wait here and then find it.
        with _locked(root / f"{name}.lock", fcntl.LOCK_EX):
            if not place.exists():
                _fill(place, url, names, check)
    return place


def _fill(place: Path, url: str, names: Iterable[str], check: Callable[[Path], object]) -> None:
    draft = place.with_name(f"{place.name}.partial")
    stands_for(draft, url)
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    names = list(names)
    for name in names:
        if not (draft / name).resolve().is_relative_to(draft.resolve()):
            raise StorageError(f"{url}: lists the file {name}, which lies outside of it")
    try:
        together(lambda name: fetch(joined(url, name), draft / name), names)
        check(draft)
        draft.rename(place)
    except OSError as error:
        raise StorageError(f"{masked(url)}: no copy can be made in {place.parent}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _root() -> Path:
    """The folder of all copies, for this user alone; what ended processes have left in it goes."""
    chosen = runtime.cache_folder()
    root = Path(chosen) if chosen else Path(tempfile.gettempdir(), f"polyrec-copies-{os.getuid()}")
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if root.is_symlink() or root.stat().st_uid != os.getuid():
        raise StorageError(f"{root}: belongs to another user; set POLYREC_CACHE_DIR to a folder of your own")
    for place in root.iterdir():
        if place.is_dir() and place not in _held and place.suffix != ".partial":
            _drop(place)
    return root


def _drop(place: Path) -> None:
    """Remove a copy that no process uses, if its folder is there."""
    try:
        with _locked(place.with_name(f"{place.name}.lock"), fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(place, ignore_errors=True)
    except (BlockingIOError, FileNotFoundError):
        return


@contextmanager
def _locked(path: Path, kind: int) -> Iterator[None]:
    descriptor = _lock(path, kind)
    try:
        yield
    finally:
        os.close(descriptor)


def _lock(path: Path, kind: int) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, kind)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@atexit.register
def release() -> None:
    """Give up all copies; the last process that uses one removes it."""
    while _held:
        place, descriptor = _held.popitem()
        os.close(descriptor)
        _drop(place)

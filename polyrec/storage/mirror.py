"""A remote folder that is written to in small pieces: on this machine first, sent when the run says so."""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polyrec.errors import StorageError
from polyrec.storage import is_remote, joined, plain
from polyrec.storage.copies import fetch, remove, send, stands_for
from polyrec.storage.listing import kind_of

log = logging.getLogger(__name__)


class _Mirror:
    """What this process has of a remote folder, and which of it the store has too."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.root = Path(tempfile.mkdtemp(prefix="polyrec-"))
        self.sent: dict[str, tuple[int, int]] = {}
        stands_for(self.root, url)
        atexit.register(shutil.rmtree, self.root, ignore_errors=True)

    def file(self, name: str) -> Path:
        path = self.root / name
        if name and not path.exists() and kind_of(joined(self.url, name)) == "File":
            fetch(joined(self.url, name), path)
            self.sent[name] = _version(path)
        return path

    def send(self) -> None:
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if path.is_file() and self.sent.get(name) != _version(path):
                version = _version(path)
                send(path, joined(self.url, name))
                self.sent[name] = version


_mirrors: dict[str, _Mirror] = {}


def file_in(folder: str | Path, name: str) -> Path:
    """A file to read, write or append to in a folder by path or URL; `publish` brings it to the URL."""
    folder = str(folder)
    if not is_remote(folder):
        return Path(plain(folder)) / name
    if folder not in _mirrors:
        _mirrors[folder] = _Mirror(folder)
    return _mirrors[folder].file(name)


def publish(folder: str) -> None:
    """What was written of a remote folder's files since the last time."""
    if folder in _mirrors:
        _mirrors[folder].send()


def delete(folder: str, name: str) -> None:
    file_in(folder, name).unlink(missing_ok=True)
    if is_remote(folder):
        remove(joined(folder, name))


@contextmanager
def published(folder: str) -> Iterator[None]:
    """Send what the block has written to the folder's files, also when it ends by an error; then the store's count."""
    try:
        yield
    except BaseException:
        try:
            publish(folder)
        except StorageError as error:
            log.warning("%s; files of the run were not sent", error)
        raise
    else:
        publish(folder)
    finally:
        mirror = _mirrors.pop(folder, None)
        if mirror is not None:
            shutil.rmtree(mirror.root, ignore_errors=True)


def _version(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size

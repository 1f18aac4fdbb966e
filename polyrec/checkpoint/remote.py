"""Checkpoints in stores that cannot rename: a folder is whole when its manifest, the last file sent, is there."""

from __future__ import annotations

import json
import logging
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyrec.checkpoint import folder as whole
from polyrec.errors import CheckpointError, StorageError
from polyrec.storage import copies, joined, listing

log = logging.getLogger(__name__)

UNFINISHED = ".unfinished"
"""File of a folder that is being sent."""
INDEXES = (".metadata", "model/.metadata")
_STATE = "state.json"


class Upload:
    """A folder on its way into a store: files are written to `place`, each process sends its own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.place = Path(tempfile.mkdtemp(prefix="polyrec-"))
        copies.stands_for(self.place, url)

    def begin(self) -> None:
        """Make room for the folder; one process does this before any sends."""
        remove(self.url)
        copies.write_bytes(joined(self.url, UNFINISHED), b"")

    def send(self) -> dict[str, dict[str, object]]:
        """Send all files but the manifest; returns what the manifest must say of them."""
        files = sorted(path for path in self.place.rglob("*") if path.is_file())
        return dict(copies.together(self._send, files))

    def _send(self, path: Path) -> tuple[str, dict[str, object]]:
        name = path.relative_to(self.place).as_posix()
        copies.send(path, joined(self.url, name))
        return name, whole.entry(path)

    def finish(self, facts: Mapping[str, object], entries: Mapping[str, object]) -> None:
        """Send the manifest: the moment at which the folder exists."""
        copies.write_bytes(joined(self.url, whole.MANIFEST), whole.manifest_text(facts, entries).encode())
        copies.remove(joined(self.url, UNFINISHED))

    def close(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)


def remove(url: str) -> None:
    """Delete a folder in such a way that a half-deleted one is never taken for whole."""
    copies.remove(joined(url, whole.MANIFEST))
    copies.remove(url)


def leftovers(parent: str) -> list[str]:
    """What interrupted saves have left."""
    folders = _folders(parent)
    torn = [name for name, files in folders.items() if UNFINISHED in files and whole.MANIFEST not in files]
    return [joined(parent, name) for name in sorted(torn)]


def found_in(parent: str, state: str) -> list[str]:
    """Finished checkpoints of a folder, oldest step first; those whose manifest is damaged come before all others."""
    found = [(step_of(joined(parent, name)), joined(parent, name)) for name, files in _folders(parent).items()
             if whole.MANIFEST in files and state in files]  # fmt: skip
    return [url for _, url in sorted(found)]


def step_of(url: str) -> int:
    """Steps done, -1 when the checkpoint cannot tell."""
    try:
        step = manifest(url).get("step")
    except CheckpointError:
        return -1
    return step if isinstance(step, int) else -1


def newest(parent: str, state: str, leave_out: str = "") -> str | None:
    """The whole checkpoint with the highest step; each damaged one that is passed over is named in the log.

    What is left out is not looked at.
    """
    found = found_in(parent, state)
    unreadable = [url for url in found if step_of(url) < 0]
    for url in (*unreadable, *reversed(found[len(unreadable) :])):
        try:
            copy(url, leave_out)
        except CheckpointError as error:
            log.warning("%s; this checkpoint is not used", error)
        else:
            return url
    return None


def manifest(url: str) -> dict[str, object]:
    try:
        text = copies.read_bytes(joined(url, whole.MANIFEST))
    except StorageError as error:
        raise CheckpointError(f"{url}: has no {whole.MANIFEST} ({error})") from None
    return whole.read_manifest(text, joined(url, whole.MANIFEST))


def is_whole(url: str) -> bool:
    """Whether the folder has been sent to its end."""
    return listing.kind_of(joined(url, whole.MANIFEST)) == "File"


def copy(url: str, leave_out: str = "") -> Path:
    """The folder on this machine, compared with its manifest; without one of its inner folders, if one is named."""
    facts = manifest(url)
    listed: Any = facts["files"]
    files = {name: entry for name, entry in listed.items() if not leave_out or not name.startswith(f"{leave_out}/")}
    sizes = listing.below(url)
    for name, entry in files.items():
        if name not in sizes:
            raise CheckpointError(f"{joined(url, name)}: is missing")
        if sizes[name] != entry["bytes"]:
            raise CheckpointError(f"{joined(url, name)}: has {sizes[name]} bytes instead of {entry['bytes']}")

    def check(place: Path) -> None:
        fault = whole.find_fault_in(place, files)
        if fault is not None:
            raise CheckpointError(copies.shown(fault))

    return copies.held(url, json.dumps([facts, leave_out]), [*files, whole.MANIFEST], check)


def foreign_in(url: str) -> str | None:
    """A checkpoint that another program wrote: the folder itself, or the one in it with the highest number."""
    files = listing.below(url)
    if any(name in files for name in INDEXES):
        return None if _STATE in files or UNFINISHED in files else url
    inner = {path.partition("/")[0] for path in files if path.partition("/")[2] in INDEXES}
    # A folder with a state is one of ours, and no whole one.
    ours = {path.partition("/")[0] for path in files if path.partition("/")[2] in (_STATE, UNFINISHED)}
    numbered = [(int(match[1]), name) for name in inner - ours if (match := re.search(r"(\d+)$", name))]
    return joined(url, max(numbered)[1]) if numbered else None


def foreign_copy(url: str) -> Path:
    """A folder without a manifest on this machine."""
    sizes = listing.below(url)
    return copies.held(url, json.dumps(sizes), sizes, lambda place: None)


def _folders(parent: str) -> dict[str, set[str]]:
    """The folders right below, each with the names of its own files."""
    found: dict[str, set[str]] = {}
    for path in listing.below(parent):
        folder, slash, name = path.partition("/")
        if slash:
            found.setdefault(folder, set()).add(name)
    return found

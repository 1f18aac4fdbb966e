"""Folders that appear whole or not at all, with a manifest of what they hold."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from polyrec.errors import CheckpointError

MANIFEST = "manifest.json"
UNFINISHED = ".unfinished-"
REPLACED = f"{UNFINISHED}replaced-"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a folder is not whole."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def entry(path: Path) -> dict[str, object]:
    """What a manifest says of a file."""
    return {"bytes": path.stat().st_size, "sha256": digest(path)}


def manifest_text(facts: Mapping[str, object], entries: Mapping[str, object]) -> str:
    return json.dumps({**facts, "files": entries}, indent=1) + "\n"


def unfinished(folder: Path) -> Path:
    """Where a folder is written before it gets its name."""
    return folder.parent / f"{UNFINISHED}{folder.name}"


def begin(folder: Path) -> Path:
    """An empty place to write the folder's files; what an interrupted save left there goes."""
    place = unfinished(folder)
    try:
        if place.exists():
            shutil.rmtree(place)
        place.mkdir(parents=True)
    except OSError as error:
        raise CheckpointError(f"{place}: cannot be written: {error.strerror}") from None
    return place


def finish(folder: Path, facts: Mapping[str, object]) -> None:
    """Write the manifest, make every byte durable, then give the folder its name.

    The rename is the moment at which the folder exists: before it nothing has its name, after it everything is there.
    """
    place = unfinished(folder)
    files = sorted(path for path in place.rglob("*") if path.is_file())
    entries = {str(path.relative_to(place)): entry(path) for path in files}
    manifest = place / MANIFEST
    manifest.write_text(manifest_text(facts, entries), encoding="utf-8")
    for path in (*files, manifest):
        _sync(path)
    for path in sorted({path.parent for path in files} | {place}, reverse=True):
        _sync(path)
    if folder.exists():
        replaced = folder.parent / f"{REPLACED}{folder.name}"
        shutil.rmtree(replaced, ignore_errors=True)
        folder.rename(replaced)
        place.rename(folder)
        shutil.rmtree(replaced)
    else:
        place.rename(folder)
    _sync(folder.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def manifest(folder: Path) -> dict[str, object]:
    """What the folder says of itself; an error when it has no readable manifest."""
    try:
        content = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise CheckpointError(f"{folder}: has no {MANIFEST}, so it was never finished") from None
    except OSError as error:
        raise CheckpointError(f"{folder / MANIFEST}: cannot be read: {error}") from None
    return read_manifest(content, folder / MANIFEST)


def read_manifest(content: bytes, name: Path | str) -> dict[str, object]:
    try:
        facts = json.loads(content.decode("utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{name}: cannot be read: {error}") from None
    if not isinstance(facts, dict) or not _lists_files(facts.get("files")):
        raise CheckpointError(f"{name}: does not list files with size and hash")
    return facts


def _lists_files(value: object) -> bool:
    entries = value.values() if isinstance(value, dict) else [None]
    return all(isinstance(entry, dict) and entry.keys() >= {"bytes", "sha256"} for entry in entries)


def find_fault(folder: Path) -> Fault | None:
    """The first way in which the folder differs from its manifest, None when it is whole."""
    try:
        files = manifest(folder)["files"]
    except CheckpointError as error:
        place, _, reason = str(error).partition(": ")
        return Fault(Path(place), reason)
    assert isinstance(files, dict)
    return find_fault_in(folder, files)


def find_fault_in(folder: Path, files: Mapping[str, Mapping[str, object]]) -> Fault | None:
    """The first way in which these files differ from what a manifest says of them."""
    for name, entry in files.items():
        path = folder / name
        if not path.is_file():
            return Fault(path, "is missing")
        if path.stat().st_size != entry["bytes"]:
            return Fault(path, f"has {path.stat().st_size} bytes instead of {entry['bytes']}")
    for name, entry in files.items():
        if digest(folder / name) != entry["sha256"]:
            return Fault(folder / name, "its content is not what was saved")
    return None


def put_back(parent: Path) -> None:
    """Give its name back to each folder that was to be replaced when the save was interrupted between two renames."""
    for path in leftovers(parent):
        folder = parent / path.name.removeprefix(REPLACED)
        if path.name.startswith(REPLACED) and not folder.exists():
            path.rename(folder)


def leftovers(parent: Path) -> Iterator[Path]:
    """What interrupted saves have left."""
    if parent.is_dir():
        yield from sorted(path for path in parent.iterdir() if path.name.startswith(UNFINISHED))


def remove(folder: Path) -> None:
    """Delete a folder in such a way that a half-deleted one is never taken for whole."""
    with contextlib.suppress(FileNotFoundError):
        (folder / MANIFEST).unlink()
    shutil.rmtree(folder, ignore_errors=True)

"""Files that a config names and that must travel with it, such as vocabularies. Imports no torch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

T = TypeVar("T")


class _Mark:
    """Marks a field as the path of such a file."""


Asset = Annotated[str, _Mark()]
"""The type of a config field that is a path of a file the component reads."""


def assets(config: BaseModel) -> Iterator[str]:
    """Paths of all files that the config names, as often as it names them."""
    found: list[str] = []

    def note(path: str) -> str:
        found.append(path)
        return path

    _changed(config, note)
    yield from found


def with_assets(config: T, change: Callable[[str], str]) -> T:
    """The config with each such path replaced by `change` of it."""
    return _changed(config, change)


def asset_name(path: str) -> str:
    """A file name for a copy: files of the same name and other contents get other ones."""
    file = Path(path)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    return f"{file.stem}_{digest}{file.suffix}"


def _is_asset(field: FieldInfo) -> bool:
    """Whether a field is an `Asset`, or an `Asset | None`."""
    marks = [
        *field.metadata,
        *(mark for part in get_args(field.annotation) for mark in getattr(part, "__metadata__", ())),
    ]
    return any(isinstance(mark, _Mark) for mark in marks)


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, BaseModel):
        updates = {}
        for name, field in type(value).model_fields.items():
            old = getattr(value, name)
            new = change(old) if isinstance(old, str) and _is_asset(field) else _changed(old, change)
            if new is not old:
                updates[name] = new
        return value.model_copy(update=updates) if updates else value
    if isinstance(value, tuple):
        new_items = tuple(_changed(item, change) for item in value)
        return new_items if any(new is not old for new, old in zip(new_items, value, strict=True)) else value
    return value

"""Tokenizers of other packages: what their files say of the ids, and the texts of a column as ids."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from polyrec.errors import ConfigError

Form = Literal["tokenizers", "sentencepiece"]
Encode = Callable[[list[str]], list[list[int]]]

PIECES = 1
"""Number of the field of a sentencepiece model that holds one token."""


def num_tokens(file: str, form: Form) -> int:
    """How many rows a table for the ids needs, from the file alone: the package that runs it need not be there."""
    content = _read(file)
    try:
        found = _json_ids(content) if form == "tokenizers" else sum(field == PIECES for field in _fields(content))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ConfigError(f"{file}: is no file of the package {form}: {error}") from None
    if not found:
        raise ConfigError(f"{file}: holds no tokens")
    return found


def encoder(file: str, form: Form) -> Encode:
    """Texts to ids by the tokenizer of a file, which stays loaded as long as it is used."""
    try:
        changed = Path(file).stat().st_mtime_ns
    except OSError:
        raise ConfigError(f"{file}: no such file of a tokenizer") from None
    return _loaded(file, form, changed)


@lru_cache(maxsize=8)
def _loaded(file: str, form: Form, changed: int) -> Encode:
    try:
        package: Any = importlib.import_module(form)
    except ImportError:
        raise ConfigError(f"{file}: the package {form} is not installed; pip install 'polyrec[text]'") from None
    content = _read(file)
    try:
        return _hugging_face(package, content) if form == "tokenizers" else _sentence_piece(package, content)
    # The packages raise nothing narrower.
    except Exception as error:  # noqa: BLE001
        raise ConfigError(f"{file}: is no file of the package {form}: {error}") from None


def _hugging_face(package: Any, content: bytes) -> Encode:
    tokenizer = package.Tokenizer.from_buffer(content)
    if tokenizer.padding is not None and tokenizer.padding["length"] is None:
        # It would fill a text up to the longest one of its batch.
        tokenizer.no_padding()
    return lambda texts: [found.ids for found in tokenizer.encode_batch(texts, add_special_tokens=False)]


def _sentence_piece(package: Any, content: bytes) -> Encode:
    processor = package.SentencePieceProcessor(model_proto=content)
    return processor.encode


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{file}: no such file of a tokenizer") from None
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from None


def _json_ids(content: bytes) -> int:
    """One more than the largest id."""
    found = json.loads(content)
    words = found["model"]["vocab"]
    ids = range(len(words)) if isinstance(words, list) else words.values()
    return max([-1, *ids, *(added["id"] for added in found.get("added_tokens", []))]) + 1


def _fields(content: bytes) -> Iterator[int]:
    """Numbers of the fields of a protobuf message, which has them one after another."""
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        form = key & 7
        if form == 0:
            _, place = _varint(content, place)
        elif form == 2:
            size, place = _varint(content, place)
            place += size
        elif form in (1, 5):
            place += 8 if form == 1 else 4
        else:
            raise ValueError(f"byte {place} begins no field")
        if place > len(content):
            raise ValueError("ends within a field")
        yield key >> 3


def _varint(content: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7

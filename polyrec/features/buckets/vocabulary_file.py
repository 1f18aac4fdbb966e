"""A word becomes the number of its line in a file, or the id written beside it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import Field

from polyrec.assets import Asset
from polyrec.errors import ConfigError
from polyrec.families import BucketConfig
from polyrec.features.buckets.vocabulary import VocabularyBucket


class VocabularyFileBucket(BucketConfig):
    file: Asset
    """UTF-8 text with one word a line, or `word id` with a blank or tab between; the file is read when first used."""
    has_ids: bool | None = None
    """Whether lines hold ids; None when the first line tells."""
    first: int = Field(default=0, ge=0)
    """Id of the first line's word; ids that are written in the file stay as they are."""
    reserved: tuple[str, ...] = ()
    """Words with the ids 0, 1 and so on before those of the file."""
    unknown: int | None
    """Id of a value that is not among the words, None for no id."""

    def rows_of(self, values: pa.Array) -> np.ndarray:
        return self._vocabulary.rows_of(values)

    @cached_property
    def _vocabulary(self) -> VocabularyBucket:
        words, ids = read_words(self.file, self.first, self.has_ids)
        kept = dict(zip(words, ids, strict=True)) | {word: place for place, word in enumerate(self.reserved)}
        try:
            return VocabularyBucket(rows=self.rows, words=tuple(kept), ids=tuple(kept.values()), unknown=self.unknown)
        except ValueError as error:
            raise ConfigError(f"{self.file}: {_first_message(error)}") from None

    @classmethod
    def example(cls) -> VocabularyFileBucket:
        return cls(rows=4, file="words.txt", unknown=0)


def read_words(file: str, first: int = 0, has_ids: bool | None = None) -> tuple[list[str], list[int]]:
    """Words of a file and their ids; all lines have an id of their own, or none has, as the first line tells unless
    `has_ids` does."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ConfigError(f"{file}: no such file of words") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read as UTF-8 text: {error}") from None
    while lines and not lines[-1].strip():
        lines.pop()
    parts = [line.split() for line in lines]
    with_ids = bool(parts) and len(parts[0]) == 2 and parts[0][1].isdigit() if has_ids is None else has_ids
    words: dict[str, int] = {}
    for number, (line, part) in enumerate(zip(lines, parts, strict=True), 1):
        word, id = (line.strip(), first + number - 1) if not with_ids else _word_and_id(file, number, part)
        if word in words:
            raise ConfigError(f"{file}:{number}: {word!r} stands in an earlier line already; list each word once")
        words[word] = id
    if not words:
        raise ConfigError(f"{file}: holds no words")
    return list(words), list(words.values())


def _word_and_id(file: str, number: int, part: list[str]) -> tuple[str, int]:
    if len(part) != 2 or not part[1].isdigit():
        raise ConfigError(f"{file}:{number}: needs a word and its id, as in the first line; found {' '.join(part)!r}")
    return part[0], int(part[1])


def _first_message(error: ValueError) -> str:
    errors = getattr(error, "errors", None)
    return errors()[0]["msg"].removeprefix("Value error, ") if errors else str(error)

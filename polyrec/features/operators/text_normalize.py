"""Texts in one spelling: case, width, script, and without what carries no meaning."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.assets import Asset
from polyrec.families import OperatorConfig
from polyrec.features._characters import GONE, apart, map_of, stop_map
from polyrec.features._texts import characters, from_characters, texts, whole_column
from polyrec.features._values import kept_lengths, missing, places

Step = Literal["upper", "lower", "half_width", "simplified", "filter", "split_chinese", "remove_space"]


class TextNormalize(OperatorConfig):
    column: str
    """Texts, or lists of texts of which each is taken by itself."""
    steps: tuple[Step, ...] = Field(min_length=1)
    """What is done, in this order. upper, lower: the case of letters. half_width: full-width forms of ASCII become
    ASCII. simplified: traditional Chinese characters become simplified ones, each by itself. filter: stop characters
    are taken out. split_chinese: a blank stands between a Chinese character and its neighbours. remove_space: white
    space is taken out."""
    stop_characters: Asset | None = None
    """For `filter`: UTF-8 text, each of whose characters but the ends of lines is taken out; None takes out
    punctuation and symbols."""
    max_length: int | None = Field(default=None, gt=0)
    """Characters that are kept of the text as it is given, from the first; None for all."""

    @model_validator(mode="after")
    def _filters(self) -> Self:
        if self.stop_characters is not None and "filter" not in self.steps:
            raise ValueError("stop_characters are for the step filter; add it, or leave them out")
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        found = texts(rows, self.column)
        points, lengths = characters(found.array)
        if self.max_length is not None and int(lengths.max(initial=0)) > self.max_length:
            points, lengths = points[places(lengths) < self.max_length], np.minimum(lengths, self.max_length)
        for step in self.steps:
            points, lengths = self._taken(step, points, lengths)
        return whole_column(found, from_characters(points, lengths, missing(found.array)))

    def _taken(self, step: Step, points: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if step == "split_chinese":
            return apart(points, lengths)
        is_own = step == "filter" and self.stop_characters is not None
        mapped = (stop_map(str(self.stop_characters)) if is_own else map_of(step))[points]
        kept = mapped != GONE
        if kept.all():
            return mapped, lengths
        return mapped[kept], kept_lengths(lengths, kept)

    @classmethod
    def example(cls) -> TextNormalize:
        return cls(column="title", steps=("half_width", "lower"))

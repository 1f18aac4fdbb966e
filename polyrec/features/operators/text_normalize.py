"""Texts in one spelling: case, width, script, and without what carries no meaning."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa
from pydantic import Field

from polyrec.assets import Asset
from polyrec.families import OperatorConfig

Step = Literal["upper", "lower", "half_width", "simplified", "filter", "split_chinese", "remove_space"]


class TextNormalize(OperatorConfig):
    column: str
    """Texts."""
    steps: tuple[Step, ...] = Field(min_length=1)
    """What is done, in this order. upper, lower: the case of letters. half_width: full-width forms of ASCII become ASCII.
    simplified: traditional Chinese characters become simplified ones. filter: stop characters are taken out.
    split_chinese: a blank stands between a Chinese character and its neighbours. remove_space: white space is taken
    out."""
    stop_characters: Asset | None = None
    """For `filter`: UTF-8 text, each of whose characters but the ends of lines is taken out; None takes out
    punctuation and symbols."""
    max_length: int | None = Field(default=None, gt=0)
    """Characters that are kept of the text as it is given, from the first; None for all."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        raise NotImplementedError

    @classmethod
    def example(cls) -> TextNormalize:
        return cls(column="title", steps=("half_width", "lower"))

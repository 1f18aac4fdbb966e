"""Texts cut into the tokens of a language model's tokenizer, as their ids."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa

from polyrec.assets import Asset
from polyrec.families import OperatorConfig


class Tokenize(OperatorConfig):
    column: str
    """Texts."""
    file: Asset
    """The tokenizer, read when first used."""
    form: Literal["tokenizers", "sentencepiece"]
    """What the file is: the tokenizer.json of the package tokenizers, or the model of the package sentencepiece."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        raise NotImplementedError

    @classmethod
    def example(cls) -> Tokenize:
        return cls(column="title", file="tokenizer.json", form="tokenizers")

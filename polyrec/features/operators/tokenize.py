"""Texts cut into the tokens of a language model's tokenizer, as their ids."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pyarrow as pa

from polyrec.assets import Asset
from polyrec.families import OperatorConfig
from polyrec.features._texts import lists, texts, whole_column
from polyrec.features._tokenizer_files import Form, encoder
from polyrec.features._values import blank_as_null


class Tokenize(OperatorConfig):
    column: str
    """Texts, or lists of texts, which become lists of lists of ids."""
    file: Asset
    """The tokenizer, read when first used. No special tokens are added beside those of the text."""
    form: Form
    """What the file is: the tokenizer.json of the package tokenizers, or the model of the package sentencepiece."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        found = texts(rows, self.column)
        # Each text is cut once, however many rows have it.
        coded = blank_as_null(found.array).dictionary_encode()
        ids = encoder(self.file, self.form)(coded.dictionary.to_pylist())
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        tokens = np.fromiter(chain.from_iterable(ids), np.int64, int(lengths.sum()))
        return whole_column(found, lists(pa.array(tokens), lengths).take(coded.indices))

    @classmethod
    def example(cls) -> Tokenize:
        return cls(column="title", file="tokenizer.json", form="tokenizers")

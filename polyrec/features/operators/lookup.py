"""What a row's map holds for a row's keys."""

from __future__ import annotations

from typing import Literal, Self

import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.families import OperatorConfig

Combiner = Literal["sum", "mean", "min", "max", "count"]


class Lookup(OperatorConfig):
    """Values come in the order of the keys, those of one key in the order of the map. A key that the map does not
    hold gives none; a row without any is null."""

    map: str
    """An Arrow map, or a text or list of texts `key<kv_separator>value`."""
    keys: str
    """What is looked up: text, numbers, or a list of them."""
    separator: str = Field(min_length=1)
    """Stands between the entries of a map that is a text."""
    kv_separator: str = Field(default=":", min_length=1)
    """The first one in an entry of a text stands before its value; an entry without one has no value."""
    key_separator: str | None = Field(default=None, min_length=1)
    """Stands between the keys of a text, None when a text is one key."""
    values: Literal["text", "number"]
    """Whether what is found is text, or numbers."""
    repeats: Literal["first", "last", "all"]
    """Which entries count when the map holds a key several times."""
    key_joint: str | None = None
    """For text: puts the key before each value and this between them; None for the value alone."""
    combiner: Combiner | None = None
    """For numbers: makes one of all that are found; None for the list of them."""
    size: int | None = Field(default=None, gt=0)
    """For numbers: each value is a vector of so many, which the combiner takes place by place; None for one number."""
    value_separator: str = Field(default=",", min_length=1)
    """Stands between the numbers of a vector that is a text."""
    most: int | None = Field(default=None, gt=0)
    """Values of a row that count, from its first; None for all."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.values == "text" and (self.combiner is not None or self.size is not None):
            raise ValueError("combiner and size are for numbers; set values to number, or leave them out")
        if self.values == "number" and self.key_joint is not None:
            raise ValueError("key_joint makes texts; set values to text, or leave it out")
        if self.size is not None and self.combiner is None:
            raise ValueError("size: vectors of several keys need a combiner; sum leaves that of a single key as it is")
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.map, self.keys)

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        raise NotImplementedError

    @classmethod
    def example(cls) -> Lookup:
        return cls(map="clicks_by_brand", keys="brand", separator="|", values="text", repeats="first")

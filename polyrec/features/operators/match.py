"""What a row's map of maps holds for an outer and an inner key."""

from __future__ import annotations

from typing import Literal, Self

import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.families import OperatorConfig


class Match(OperatorConfig):
    """Values come in the order of the map. A row where nothing matches has none."""

    map: str
    """A text `outer^inner:value,inner:value|outer^...` (with the separators below), an Arrow map of outer keys to
    texts `inner:value,...`, or an Arrow map of maps."""
    outer_key: str | None
    """Column of outer keys, None to take every outer key there is."""
    inner_key: str | None
    """Column of inner keys, None to take every inner key there is."""
    values: Literal["text", "number"]
    """Whether what is found is text, or numbers."""
    prefix: str | None = None
    """For text: put this before all else."""
    show_outer: bool = False
    """For text: put the outer key before the value."""
    show_inner: bool = False
    """For text: put the inner key before the value, after the outer one."""
    joint: str = "_"
    """Stands between the prefix, the shown keys and the value."""
    key_separator: str | None = Field(default=None, min_length=1)
    """Stands between the keys of a text, None when a text is one key."""
    outer_separator: str = Field(default="|", min_length=1)
    """Stands between the outer entries of a text."""
    outer_kv_separator: str = Field(default="^", min_length=1)
    """Stands between an outer key and its inner entries."""
    inner_separator: str = Field(default=",", min_length=1)
    """Stands between the inner entries of a text."""
    inner_kv_separator: str = Field(default=":", min_length=1)
    """Stands between an inner key and its value."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.values == "number" and (self.prefix is not None or self.show_outer or self.show_inner):
            raise ValueError("prefix, show_outer and show_inner make texts; set values to text, or leave them out")
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        keys = (key for key in (self.outer_key, self.inner_key) if key is not None)
        return tuple(dict.fromkeys((self.map, *keys)))

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        raise NotImplementedError

    @classmethod
    def example(cls) -> Match:
        return cls(map="brands_by_category", outer_key="category", inner_key="brand", values="number")

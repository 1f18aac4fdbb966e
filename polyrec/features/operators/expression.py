"""Numbers computed by a formula over columns, such as `price * log(1 + clicks)`."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute
from pydantic import Field, ValidationInfo, field_validator

from polyrec.data.columns import RowError
from polyrec.families import OperatorConfig
from polyrec.features._expression.evaluate import LengthsError
from polyrec.features._expression.formula import Formula, Numbers, check_names
from polyrec.features._texts import lists
from polyrec.features._values import Values, as_text, decode, missing, pad, values

compute: Any = pyarrow.compute


class Expression(OperatorConfig):
    variables: dict[str, str]
    """Names in the formula, and the column that each stands for."""
    text: str
    """The formula; see docs/expressions.md."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the numbers of a text, None when a text is one number."""
    missing: Literal["skip", "nan"] = "skip"
    """What a variable without a value does. skip: what is computed of it has no result. nan: the variable is NaN, which
    `isnan` tells and which most other functions hand on."""
    default: float | None = None
    """Stands for each result that is missing or no number; None for null."""

    @field_validator("variables")
    @classmethod
    def _names(cls, variables: dict[str, str]) -> dict[str, str]:
        check_names(variables)
        return variables

    @field_validator("text")
    @classmethod
    def _readable(cls, text: str, info: ValidationInfo) -> str:
        if "variables" in info.data:
            Formula(text, info.data["variables"])
        return text

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.variables.values()))

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        formula = self._formula
        absent = np.zeros(rows.num_rows, bool)
        variables = {name: self._numbers(rows, name, absent) for name in formula.numbers}
        text_lengths = {name: self._text_lengths(rows, name, absent) for name in formula.texts}
        try:
            found = formula(variables, text_lengths.__getitem__)
        except LengthsError as error:
            raise RowError(f"formula {self.text}", error.row, error.what, "size") from None
        gaps = np.isnan(found.values)
        read = [*variables.values(), *text_lengths.values()]
        if self.missing == "skip" and any(some.lengths is not None and np.isnan(some.values).any() for some in read):
            gaps |= formula.gaps(variables, text_lengths.__getitem__)
        if found.lengths is not None:
            return self._lists(found.values, gaps, found.lengths, absent)
        return self._array(np.broadcast_to(found.values, rows.num_rows), absent | gaps)

    @cached_property
    def _formula(self) -> Formula:
        return Formula(self.text, self.variables)

    def _numbers(self, rows: pa.RecordBatch, name: str, absent: np.ndarray) -> Numbers:
        """The numbers of a variable; rows in which it keeps the result from being are noted in `absent`."""
        found = values(rows, self.variables[name], self.separator)
        numbers = found.numbers(np.float64)
        if found.single:
            if self.missing == "skip":
                absent |= np.isnan(numbers)
            return Numbers(numbers)
        return self._list_numbers(found, numbers, absent)

    def _list_numbers(self, found: Values, numbers: np.ndarray, absent: np.ndarray) -> Numbers:
        """A list without numbers is one NaN, so that every row has something to compute with."""
        given = found.lengths > 0
        lengths = found.lengths
        if not given.all():
            lengths = np.maximum(lengths, 1)
            numbers = pad(numbers, np.repeat(given, lengths), np.nan)
            if self.missing == "skip":
                absent |= ~given
        return Numbers(numbers, lengths, given)

    def _text_lengths(self, rows: pa.RecordBatch, name: str, absent: np.ndarray) -> Numbers:
        """Characters of each text; of one that is missing 0, or NaN where that keeps the result from being."""
        found = values(rows, self.variables[name], self.separator)
        texts = as_text(decode(found.array))
        counts = compute.utf8_length(texts).fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
        gaps = missing(texts)
        if gaps is not None and self.missing == "skip":
            counts[gaps] = np.nan
        if not found.single:
            padded = self._list_numbers(found, counts, absent)
            return padded if self.missing == "skip" else replace(padded, values=np.nan_to_num(padded.values))
        if gaps is not None and self.missing == "skip":
            absent |= gaps
        return Numbers(counts)

    def _lists(self, results: np.ndarray, gaps: np.ndarray, lengths: np.ndarray, absent: np.ndarray) -> pa.Array:
        """A list for each row; where there is none, the default alone, or null."""
        if absent.any():
            chosen = np.repeat(~absent, lengths)
            lengths = np.where(absent, 0 if self.default is None else 1, lengths)
            places = np.repeat(~absent, lengths)
            results, gaps = pad(results[chosen], places, np.nan), pad(gaps[chosen], places, True)
        return lists(self._array(results, gaps), lengths, absent if self.default is None else None)

    def _array(self, results: np.ndarray, gaps: np.ndarray) -> pa.Array:
        if not gaps.any():
            return pa.array(results, pa.float64())
        if self.default is None:
            return pa.array(results, pa.float64(), mask=gaps)
        return pa.array(np.where(gaps, self.default, results), pa.float64())

    @classmethod
    def example(cls) -> Expression:
        return cls(variables={"price": "price", "clicks": "clicks"}, text="price * log(1 + clicks)")

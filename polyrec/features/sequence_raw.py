"""Numbers in their order: one vector for each position of a sequence."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pydantic import Field

from polyrec.data.columns import RaggedDense
from polyrec.families import FeatureConfig, NormalizerConfig
from polyrec.features._positions import inner_values
from polyrec.features._values import Values, is_list, is_text, values
from polyrec.features._vectors import vectors


class SequenceRawFeature(FeatureConfig):
    column: str
    """Texts, lists of numbers or texts, or lists of lists of numbers. NaN counts as null."""
    size: int = Field(default=1, gt=0)
    """Numbers at each position; a plain list of numbers is cut into positions of this size."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the positions of a text, None when a text is one position."""
    value_separator: str | None = Field(default=None, min_length=1)
    """Stands between the numbers of a position that is a text."""
    default: float | None
    """Stands for each number that is missing, and for the one position of a row that has none. None leaves such rows
    without positions and makes a missing number an error."""
    max_length: int | None = Field(default=None, gt=0)
    """Positions that are kept, from the first; None for all."""
    normalizer: NormalizerConfig | None = None
    """Scales the numbers of the data, not the default."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def width(self) -> int:
        return self.size

    @property
    def is_sequence(self) -> bool:
        return True

    def transform(self, rows: pa.RecordBatch) -> RaggedDense:
        positions, lengths = self._positions(values(rows, self.column, self.separator))
        numbers = vectors(positions, self.size, self.default, self.normalizer)
        if self.default is not None and not lengths.all():
            padded = np.maximum(lengths, 1)
            given = np.repeat(lengths > 0, padded)
            whole = np.full((len(given), self.size), self.default, np.float32)
            whole[given] = numbers
            numbers, lengths = whole, padded
        return RaggedDense(numbers, lengths.astype(np.int32))

    def _positions(self, found: Values) -> tuple[Values, np.ndarray]:
        """The numbers of each position, and how many positions each row has."""
        if found.single:
            found = found.drop_missing()
        if is_list(found.array.type) or (self.value_separator is not None and is_text(found.array)):
            found = found.head(self.max_length)
            return inner_values(found, self.value_separator), found.lengths
        return self._cut(found)

    def _cut(self, found: Values) -> tuple[Values, np.ndarray]:
        """Numbers of a row one after another, cut into positions."""
        broken = found.lengths % self.size != 0
        if broken.any():
            row = int(np.argmax(broken))
            text = f"{found.lengths[row]} numbers cannot be cut into positions of {self.size}"
            raise found.error_in(row, f"{text}; correct the row, or the size", "size")
        found = found.head(None if self.max_length is None else self.max_length * self.size)
        lengths = found.lengths // self.size
        counts = np.full(int(lengths.sum()), self.size)
        owners = np.repeat(np.arange(len(lengths)), lengths)
        return Values(self.column, found.array, counts, origins=owners), lengths

    @classmethod
    def example(cls) -> SequenceRawFeature:
        return cls(name="prices", column="prices", default=None, separator=";")

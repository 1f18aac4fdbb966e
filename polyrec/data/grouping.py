"""Columns by whose values losses and metrics take rows together, as one number for each row."""

from __future__ import annotations

from collections.abc import Container
from functools import partial

import numpy as np
import pyarrow as pa

from polyrec.config import RunConfig
from polyrec.data.sift import Stage
from polyrec.features._program import in_order, make
from polyrec.features._values import pad, values
from polyrec.features.buckets.hash import HashBucket

NO_VALUE = -1
_HASHES = HashBucket(rows=2**63 - 1, function="murmur64")


def group_ids(rows: pa.RecordBatch, name: str) -> np.ndarray:
    """int64 [B], alike in every process for rows whose first values in the column are alike when written as text.

    Rows without a value have `NO_VALUE`. Of ten million different values two fall together once in 100,000 times.
    """
    found = values(rows, name).drop_missing().head(1)
    return pad(found.ids(_HASHES), found.lengths > 0, NO_VALUE)


class Grouping:
    """The group columns of a run, and the derived columns that these are or are made of."""

    def __init__(self, config: RunConfig) -> None:
        self.columns = config.group_columns
        self._config = config
        self._derived = in_order(config.derived, self.columns)

    def __call__(self, rows: pa.RecordBatch) -> dict[str, np.ndarray]:
        for derived in self._derived:
            rows = rows.append_column(derived.name, make(derived, rows))
        return {name: group_ids(rows, name) for name in self.columns}

    def stages(self, known: Container[str | None]) -> list[Stage]:
        """The parts of the work that may fail for some rows, but those that make known columns."""
        return [
            Stage(partial(make, item), self._config.columns_behind([item.name]), item.name)
            for item in self._derived
            if item.name not in known
        ]

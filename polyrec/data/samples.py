"""A few rows of the data that a model can be tried with."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from polyrec.config import RunConfig
from polyrec.data.batch import Collator
from polyrec.data.loader import RowLoader
from polyrec.data.readers import first_rows
from polyrec.data.sift import Sieve
from polyrec.errors import DataError
from polyrec.families import ReaderConfig


def sample_rows(
    config: RunConfig, reader: ReaderConfig, files: Sequence[str], count: int, columns: Sequence[str] = ()
) -> pa.RecordBatch:
    """The first rows of the data; where rows may be faulty, the first that can be used, with null for what cannot.

    They have these columns, or those that features read.
    """
    columns = columns or config.feature_columns
    if config.data.faults.policy == "fail":
        return first_rows(reader, files, columns, count)
    collate = Collator(config, with_labels=False)

    def tried(rows: pa.RecordBatch, _: int) -> pa.RecordBatch:
        collate(rows)
        return loader.as_stored(rows)

    sieve = Sieve(config.data.faults, collate.stages())
    loader = RowLoader(reader, files, columns, batch_size=count, sieve=sieve)
    loader.faults = None  # a run tells of them when it comes there
    for rows, _ in loader.prepared(tried, 0):
        return rows
    raise DataError(f"{', '.join(files)}: no row can be used")

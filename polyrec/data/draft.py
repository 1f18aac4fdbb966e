"""Rows on their way into one batch, of which some may turn out to be of no use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from polyrec.data.columns import RowError
from polyrec.data.cursor import Part
from polyrec.data.faults import Fault, FaultLog
from polyrec.data.sift import Sieve, Sifted
from polyrec.families import ReaderConfig


class Draft:
    """What has been taken for a batch, and which of it stays."""

    def __init__(
        self,
        reader: ReaderConfig,
        join: Callable[[Sequence[pa.RecordBatch]], pa.RecordBatch],
        sieve: Sieve | None,
        log: FaultLog | None,
    ) -> None:
        """`join` makes one batch of several."""
        self._reader = reader
        self._join = join
        self._sieve = sieve
        self._log = log
        self._parts: list[Part] = []
        self._taken: list[pa.RecordBatch] = []
        self._count = 0
        self._rows: list[pa.RecordBatch] = []
        self._numbers = np.zeros(0, np.int64)
        """Of the rows that stay, their numbers among those that were taken."""
        self._is_changed = self._is_sifted = False
        self._known: set[tuple[int, str]] = set()

    @property
    def count(self) -> int:
        """Rows that stay."""
        return len(self._numbers)

    @property
    def rows(self) -> pa.RecordBatch:
        """Those rows; what cannot be used in them is null."""
        if len(self._rows) > 1:
            self._rows = [self._join(self._rows)]
        return self._rows[0]

    @property
    def originals(self) -> pa.RecordBatch:
        """Those rows as they were read."""
        if not self._is_changed:
            return self.rows
        return self._join(self._taken).take(pa.array(self._numbers))

    def add(self, parts: Sequence[Part]) -> None:
        rows = self._join([part.rows() for part in parts])
        numbers = np.arange(self._count, self._count + rows.num_rows)
        self._parts += parts
        self._count += rows.num_rows
        if self._sieve is not None:
            sifted = self._sieve.marked(rows)
            rows = rows.select(sifted.rows.schema.names)
            self._taken.append(rows)
            self._note(sifted, numbers)
            rows, numbers = sifted.rows, numbers[sifted.kept]
            if self._is_sifted:
                # The others are sound, so these few are looked at alone.
                sifted = self._sieve(rows)
                self._note(sifted, numbers)
                rows, numbers = sifted.rows, numbers[sifted.kept]
        self._rows.append(rows)
        self._numbers = np.concatenate([self._numbers, numbers])

    def sift(self, error: RowError) -> None:
        """Deal with what made a batch of these rows fail; raises where nothing may be left out."""
        if self._sieve is None:
            raise error.at(self._place(error.row)) from error
        sifted = self._sieve(self.rows, error)
        self._note(sifted, self._numbers)
        self._rows, self._numbers, self._is_changed = [sifted.rows], self._numbers[sifted.kept], True
        self._is_sifted = True

    def _note(self, sifted: Sifted, numbers: np.ndarray) -> None:
        faults: Mapping[int, list[Fault]] = sifted.faults
        if not faults:
            return
        self._is_changed = True
        if self._log is None:
            return
        kept = set(sifted.kept.tolist())
        for row, of_row in sorted(faults.items()):
            number = int(numbers[row])
            new = [fault for fault in of_row if (number, fault.subject) not in self._known]
            self._known.update((number, fault.subject) for fault in new)
            self._log.note(new, row not in kept, lambda number=number: self._place(number))

    def _place(self, number: int) -> str:
        """File and line, or row, of one of those that were taken."""
        for part in self._parts:
            if number < part.stop - part.start:
                return self._reader.place(*part.origin(number))
            number -= part.stop - part.start
        raise AssertionError("an error is about a row of its batch")

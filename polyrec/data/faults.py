"""Faults in the data: how a reader tells of them beside its rows, how they are counted, and what people see of them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from polyrec.config import Faults
from polyrec.data.columns import Kind
from polyrec.errors import DataError

log = logging.getLogger(__name__)

MARKS = "polyrec.faults"
"""Column that a reader adds when it hands on rows that it could not read wholly."""
MARK = pa.list_(
    pa.struct([("subject", pa.string()), ("kind", pa.string()), ("what", pa.string()), ("is_whole", pa.bool_())])
)
"""Its type: for each row its faults, null where there are none."""
SHOWN_OF_ALL, SHOWN_OF_EACH = 10, 2
"""Faults of a pass that are told of in full: to find a line in a large text takes a while."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong in one row."""

    subject: str
    """`column price`, or a feature, group, slot or line."""
    kind: Kind
    what: str
    is_whole: bool = False
    """Whether the row is of no use whatever counts as missing."""


def unmarked(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows without faults, with the column of marks."""
    return rows.append_column(MARKS, pa.nulls(rows.num_rows, MARK))


def marked(rows: pa.RecordBatch, faults: Mapping[int, Sequence[Fault]]) -> pa.RecordBatch:
    """Rows with the faults of some of them."""
    marks = [[asdict(fault) for fault in faults[row]] if row in faults else None for row in range(rows.num_rows)]
    return rows.append_column(MARKS, pa.array(marks, MARK))


def marks_of(rows: pa.RecordBatch) -> dict[int, list[Fault]]:
    """The faults of rows that have some, by their number."""
    column = rows.column(MARKS)
    if column.null_count == len(column):
        return {}
    found = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    values = column.take(pa.array(found)).to_pylist()
    return {int(row): [Fault(**fault) for fault in faults] for row, faults in zip(found, values, strict=True)}


@dataclass(slots=True)
class FaultCounts:
    """How many faults there were, of which kind and in which columns."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By subject and kind."""
    left_out: int = 0
    """Rows that were left out."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def add(self, faults: Iterable[Fault]) -> None:
        self.counts.update((fault.subject, fault.kind) for fault in faults)

    def __add__(self, other: FaultCounts) -> FaultCounts:
        return FaultCounts(self.counts + other.counts, self.left_out + other.left_out)

    def facts(self) -> dict[str, Any]:
        """Plain values for JSON."""
        by_column: dict[str, dict[str, int]] = {}
        for (subject, kind), count in sorted(self.counts.items()):
            by_column.setdefault(subject.removeprefix("column "), {})[kind] = count
        return {"count": self.total, "rows_left_out": self.left_out, "by_column": by_column}

    def table(self) -> str:
        """Lines for people, the most frequent first."""
        rows = [(str(count), kind, subject) for (subject, kind), count in self.counts.most_common()]
        lines = [f"  {count:>12}  {kind:<11} {subject}" for count, kind, subject in rows]
        return "\n".join([f"{self.total} faults, {self.left_out} rows left out", *lines])


class FaultLog:
    """The faults of one process: shows the first of each pass, counts all, and ends the run when there are too many."""

    def __init__(self, config: Faults) -> None:
        self.config = config
        self.all = FaultCounts()
        """Of all passes."""
        self.of_pass = FaultCounts()
        self._shown: Counter[tuple[str, str]] = Counter()

    def begin_pass(self) -> None:
        self.of_pass = FaultCounts()
        self._shown = Counter()

    def note(self, faults: Sequence[Fault], is_left_out: bool, place: Callable[[], str]) -> None:
        """The faults of one row; `place` finds out where it stands."""
        for counts in (self.all, self.of_pass):
            counts.add(faults)
            counts.left_out += is_left_out
        where: str | None = None
        for fault in faults:
            key = (fault.subject, fault.kind)
            if self._shown[key] < SHOWN_OF_EACH and self._shown.total() < SHOWN_OF_ALL:
                self._shown[key] += 1
                where = where or place()
                outcome = "the row is left out" if is_left_out else "it counts as missing"
                log.warning("%s: %s: %s (%s)", where, fault.subject, fault.what, outcome)
                if self._shown.total() == SHOWN_OF_ALL:
                    log.warning("faults that follow in this pass are counted, not shown")
        budget = self.config.budget
        if budget is not None and self.of_pass.total > budget:
            summary = self.of_pass.table()
            raise DataError(f"more than the {budget} faults that data.faults.budget allows in one pass: {summary}")


def summed(parts: Iterable[FaultCounts]) -> FaultCounts:
    """The faults of several processes."""
    return sum(parts, FaultCounts())

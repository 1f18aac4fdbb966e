"""Which rows of a batch cannot be used, and what is left of it: looked at only when making a batch has failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from polyrec.config import Faults
from polyrec.data.columns import RowError
from polyrec.data.faults import MARKS, SHOWN_OF_ALL, Fault, marks_of

TOLD_APART = SHOWN_OF_ALL
"""Rows whose own error is found out; further ones of the same kind are counted and not shown."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of making a batch that may fail for some of the rows."""

    run: Callable[[pa.RecordBatch], object]
    """Raises a `RowError` if any row cannot be used."""
    inputs: tuple[str, ...] = ()
    """Columns of the data that it reads; empty when a row that fails is of no use at all."""
    makes: str | None = None
    """The column that its result is, for the stages after it."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is left of some rows."""

    rows: pa.RecordBatch
    kept: np.ndarray
    """Numbers of these among the rows as they were."""
    faults: dict[int, list[Fault]]
    """What was wrong with rows as they were, by their number."""


class Sieve:
    """Leaves rows out, or lets values count as missing, as the policy has it."""

    def __init__(self, config: Faults, stages: Sequence[Stage], required: Iterable[str] = ()) -> None:
        """`required` are columns that every row must have: nothing stands for a missing label."""
        assert config.policy != "fail"
        self.config = config
        self._stages = stages
        self._required = {f"column {name}" for name in required} | {f"slot {name}" for name in required}
        self._base = {stage.makes: stage.inputs for stage in stages if stage.makes is not None}

    def marked(self, rows: pa.RecordBatch) -> Sifted:
        """Rows without the marks that a reader made, and without those that these say cannot be used."""
        faults = marks_of(rows)
        rows = rows.drop_columns(MARKS)
        gone = [row for row, found in faults.items() if self._is_lost(found)]
        rows, kept = _without(rows, np.arange(rows.num_rows), gone)
        return Sifted(rows, kept, faults)

    def __call__(self, rows: pa.RecordBatch, error: RowError | None = None) -> Sifted:
        """What is left of rows that may have failed together with this error; some may fail again without the rest."""
        names, kept = rows.schema.names, np.arange(rows.num_rows)
        faults: dict[int, list[Fault]] = {}
        for stage in self._stages:
            emptied: set[int] = set()
            while bad := failures(stage.run, rows):
                gone, cleared = [], {}
                for row, problem in bad.items():
                    at = int(kept[row])
                    if self.config.policy == "skip" or not stage.inputs or at in emptied:
                        gone.append(row)
                    else:
                        cleared[row] = self._columns(stage, problem)
                    if at not in emptied:
                        found = Fault(problem.subject, problem.kind, problem.what)
                        faults.setdefault(at, []).append(found)
                emptied.update(int(kept[row]) for row in cleared)
                rows = _cleared(rows, cleared)
                rows, kept = _without(rows, kept, gone)
            if stage.makes is not None:
                rows = rows.append_column(stage.makes, stage.run(rows))
        if not faults and error is not None:
            # Each row can be used alone or with some of the others, but not with all.
            rows, kept = _without(rows, kept, [error.row])
            faults[error.row] = [Fault(error.subject, error.kind, error.what)]
        return Sifted(rows.select(names), kept, faults)

    def _is_lost(self, faults: Sequence[Fault]) -> bool:
        return self.config.policy == "skip" or any(
            fault.is_whole or fault.subject in self._required for fault in faults
        )

    def _columns(self, stage: Stage, problem: RowError) -> tuple[str, ...]:
        """Columns of the data whose values count as missing for this problem."""
        name = problem.subject.removeprefix("column ")
        if name in stage.inputs:
            return (name,)
        return self._base.get(name, stage.inputs)


def failures(run: Callable[[pa.RecordBatch], object], rows: pa.RecordBatch) -> dict[int, RowError]:
    """Rows for which a stage fails, each with its error: those that the error names, or found by trying halves.

    When only the whole fails and no part of it, that is the row that the whole's error names. Without them, others may
    fail for another reason.
    """
    if not rows.num_rows:
        return {}
    try:
        run(rows)
    except RowError as error:
        if rows.num_rows == 1:
            return {0: error}
        if error.rows is not None:
            first = {int(row): failures(run, rows.slice(row, 1)).get(0, error) for row in error.rows[:TOLD_APART]}
            return {int(row): first.get(int(row), error) for row in error.rows}
        middle = rows.num_rows // 2
        found = failures(run, rows.slice(0, middle))
        found |= {middle + row: error for row, error in failures(run, rows.slice(middle)).items()}
        return found or {error.row: error}
    return {}


def _without(rows: pa.RecordBatch, kept: np.ndarray, gone: Sequence[int]) -> tuple[pa.RecordBatch, np.ndarray]:
    if not len(gone):
        return rows, kept
    chosen = np.ones(rows.num_rows, bool)
    chosen[gone] = False
    return rows.filter(pa.array(chosen)), kept[chosen]


def _cleared(rows: pa.RecordBatch, cleared: dict[int, tuple[str, ...]]) -> pa.RecordBatch:
    """The rows with null for those columns of some."""
    by_column: dict[str, list[int]] = {}
    for row, columns in cleared.items():
        for name in columns:
            by_column.setdefault(name, []).append(row)
    for name, found in by_column.items():
        gaps = np.zeros(rows.num_rows, bool)
        gaps[found] = True
        rows = emptied(rows, name, gaps)
    return rows


def emptied(rows: pa.RecordBatch, name: str, gaps: np.ndarray) -> pa.RecordBatch:
    """The rows with null in a column where `gaps` is true."""
    place = rows.schema.get_field_index(name)
    field = rows.schema.field(place).with_nullable(True)
    places = pa.array(np.arange(rows.num_rows), mask=gaps)
    return rows.set_column(place, field, rows.column(place).take(places))

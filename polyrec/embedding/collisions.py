"""Tables whose ids are values of any size: which value has which row, and which must give its row up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from polyrec.config import Collisions, Table

NONE = np.iinfo(np.int64).max
"""Stands where there is no value; values are smaller, so it sorts behind them."""


@dataclass(slots=True)
class _Values:
    """Some values, and what is known of each."""

    values: np.ndarray
    counts: np.ndarray
    """How often it was seen, int64."""
    seen: np.ndarray
    """The last step in which it was, int32."""

    @classmethod
    def none(cls, size: int) -> _Values:
        return cls(np.full(size, NONE, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int32))

    def __len__(self) -> int:
        return self.values.size

    def at(self, places: np.ndarray | slice) -> _Values:
        return _Values(*(getattr(self, item.name)[places] for item in fields(self)))

    def put(self, places: np.ndarray | slice, others: _Values) -> None:
        for item in fields(self):
            getattr(self, item.name)[places] = getattr(others, item.name)

    def without(self, places: np.ndarray) -> _Values:
        return _Values(*(np.delete(getattr(self, item.name), places) for item in fields(self)))


class KnownValues:
    """The values that hold the rows of a table, and at most as many others that wait for one.

    While rows are free, a new value takes one at once, or, when it must be seen several times, in the first round after
    that. The last row is never taken; it belongs to all values without a row. In each round, at every so manyth step,
    values that wait take the rows of less wanted ones. All of it depends on nothing but the steps' values and counts,
    so processes that learn the same know the same.
    """

    def __init__(self, table: Table) -> None:
        assert table.collisions is not None
        self._policy: Collisions = table.collisions
        self._at_least = 1 if self._policy.at_least is None else self._policy.at_least
        self._most = table.rows - 1
        self._of_rows = _Values.none(table.rows)
        self._waiting = _Values.none(table.rows)
        """By value; NONE fills the end."""
        self._fresh: list[_Values] = []
        """Values that joined those that wait since these were last put in order."""
        self._index: tuple[np.ndarray, np.ndarray] | None = None
        """The values that hold rows, in order, and their rows; None when it must be made again."""

    def state(self) -> Mapping[str, np.ndarray]:
        """What a checkpoint keeps, as the live arrays: they may be written to until values are looked up again."""
        self._keep_waiting(self._all_waiting())
        self._index = None
        parts = {"known": self._of_rows, "waiting": self._waiting}
        return {
            f"{part}.{item.name}": getattr(values, item.name)
            for part, values in parts.items()
            for item in fields(values)
        }

    def rows_of(self, values: np.ndarray) -> np.ndarray:
        """The row of each value, int64 [V]; the last row for those that have none."""
        known, rows = self._sorted()
        places = known.searchsorted(values)
        return np.where(known[places] == values, rows[places], self._most)

    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        if self._index is None:
            rows = np.argsort(self._of_rows.values, kind="stable")
            values = self._of_rows.values[rows]
            held = int(values.searchsorted(NONE))
            # The end is a value that is never asked for, so that every search ends at a place.
            self._index = values[: held + 1], rows[: held + 1]
        return self._index

    @property
    def _num_held(self) -> int:
        return len(self._sorted()[0]) - 1

    def learn(self, values: np.ndarray, counts: np.ndarray, step: int) -> np.ndarray:
        """Take in the distinct values of a step, in order; returns the rows that changed hands, int64 [R]."""
        new = self._note(values, counts, step)
        if self._at_least <= 1 and len(new) and self._num_held < self._most:
            new = self._take_free(new)
        if len(new):
            self._fresh.append(new)
        if self._num_waiting + sum(map(len, self._fresh)) > len(self._waiting):
            self._keep_waiting(self._remembered(self._all_waiting(), step))
        return self._round(step) if step % self._policy.every_steps == 0 else np.zeros(0, np.int64)

    def _note(self, values: np.ndarray, counts: np.ndarray, step: int) -> _Values:
        """Count the values that hold rows; returns the others."""
        known, rows = self._sorted()
        places = known.searchsorted(values)
        has_row = known[places] == values
        met = rows[places[has_row]]
        self._of_rows.counts[met] += counts[has_row]
        self._of_rows.seen[met] = step
        left = values[~has_row]
        return _Values(left, counts[~has_row], np.full(left.size, step, np.int32))

    def _take_free(self, new: _Values) -> _Values:
        """Give free rows to new values, the most frequent ones first; returns the others."""
        if self._num_waiting:  # as they may when the run that these tables come from asked for more sightings
            waiting = self._all_waiting()
            self._keep_waiting(waiting.without(np.isin(waiting.values, new.values).nonzero()[0]))
        chosen = np.argsort(-new.counts, kind="stable")[: self._most - self._num_held]
        self._settle(new.at(chosen))
        return new.without(chosen)

    def _settle(self, chosen: _Values) -> None:
        """Put values into the next free rows."""
        held = self._num_held
        self._of_rows.put(slice(held, held + len(chosen)), chosen)
        self._add_to_index(chosen.values, np.arange(held, held + len(chosen)))

    def _add_to_index(self, values: np.ndarray, rows: np.ndarray) -> None:
        known, rows_known = self._sorted()
        order = np.argsort(values)
        spots = known.searchsorted(values[order])
        self._index = np.insert(known, spots, values[order]), np.insert(rows_known, spots, rows[order])

    # -- values that wait

    @property
    def _num_waiting(self) -> int:
        """Without those that joined since they were last put in order."""
        return int(self._waiting.values.searchsorted(NONE))

    def _all_waiting(self) -> _Values:
        """Those that wait, each once and in order."""
        waiting = self._waiting.at(slice(self._num_waiting))
        if not self._fresh:
            return waiting
        parts = _Values(
            *(np.concatenate([getattr(part, item.name) for part in self._fresh]) for item in fields(_Values))
        )
        # Parts stand by step, so the last of a value tells when it was seen.
        values, places = np.unique(parts.values, return_inverse=True)
        counts, seen = np.zeros(values.size, np.int64), np.zeros(values.size, np.int32)
        np.add.at(counts, places, parts.counts)
        seen[places] = parts.seen
        return _joined(waiting, _Values(values, counts, seen))

    def _keep_waiting(self, waiting: _Values) -> None:
        kept, before, size = self._waiting, self._num_waiting, len(waiting)
        kept.put(slice(size), waiting)
        kept.put(slice(size, before), _Values.none(max(before - size, 0)))
        self._fresh = []

    def _remembered(self, waiting: _Values, step: int) -> _Values:
        """The more wanted half, where they are too many; pruning to the limit would have to be done at every step."""
        limit = len(self._waiting)
        if len(waiting) <= limit:
            return waiting
        surplus = len(waiting) - (limit + 1) // 2
        return waiting.without(_lowest(self._wanted(waiting, step), waiting.seen, surplus))

    # -- rounds

    def _round(self, step: int) -> np.ndarray:
        waiting = self._all_waiting()
        worthy = (waiting.counts >= self._at_least).nonzero()[0]
        candidates = waiting.at(worthy)
        wanted = -self._wanted(candidates, step)
        best = worthy[_lowest(wanted, -candidates.seen, min(worthy.size, self._most))]
        free = self._most - self._num_held
        self._settle(waiting.at(best[:free]))
        rows, losers = self._evict(waiting.at(best[free:]), step)
        left = waiting.without(best[: free + rows.size])
        left = _joined(left, losers.at(np.argsort(losers.values)))
        self._keep_waiting(self._remembered(left, step))
        return rows

    def _evict(self, best: _Values, step: int) -> tuple[np.ndarray, _Values]:
        """Values, the most wanted first, take rows as long as they are more wanted than those that lose them."""
        holding = self._of_rows.at(slice(self._num_held))
        wanted = self._wanted(holding, step)
        rows = _lowest(wanted, holding.seen, min(len(best), len(holding)))
        rows = rows[self._wanted(best.at(slice(rows.size)), step) > wanted[rows]]
        losers = self._of_rows.at(rows)
        winners = best.at(slice(rows.size))
        self._of_rows.put(rows, winners)
        known, rows_known = self._sorted()
        gone = known.searchsorted(losers.values)
        self._index = np.delete(known, gone), np.delete(rows_known, gone)
        self._add_to_index(winners.values, rows)
        return rows, losers

    def _wanted(self, known: _Values, step: int) -> np.ndarray:
        counts = known.counts.astype(np.float64)
        if self._policy.eviction == "lfu":
            return counts
        # A run that goes on from another's tables counts steps from 0 again.
        age = np.maximum(step - known.seen.astype(np.float64), 0) + 1
        recent = age**-self._policy.decay
        return recent if self._policy.eviction == "lru" else counts * recent


def _joined(known: _Values, more: _Values) -> _Values:
    """Both in one order, which each of them is in; of values in both the counts add up and the later step counts."""
    if not len(more):
        return known
    spots = known.values.searchsorted(more.values)
    is_known = np.zeros(spots.size, bool)
    inside = spots < len(known)
    is_known[inside] = known.values[spots[inside]] == more.values[inside]
    met, new = spots[is_known], more.at(~is_known)
    counts, seen = known.counts.copy(), known.seen.copy()
    counts[met] += more.counts[is_known]
    seen[met] = np.maximum(seen[met], more.seen[is_known])
    spots = spots[~is_known]
    before = _Values(known.values, counts, seen)
    return _Values(*(np.insert(getattr(before, item.name), spots, getattr(new, item.name)) for item in fields(new)))


def _lowest(scores: np.ndarray, seen: np.ndarray, number: int) -> np.ndarray:
    """Places of the lowest scores, lowest first; of equal ones those seen longest ago, then the first."""
    places = np.arange(scores.size)
    if 0 < number < scores.size:
        # Sorting all of a large table to find a few would take longer than the rest of a step.
        places = (scores <= np.partition(scores, number - 1)[number - 1]).nonzero()[0]
    return places[np.lexsort((seen[places], scores[places]))][:number]

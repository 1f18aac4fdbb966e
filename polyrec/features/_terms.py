"""Terms of a query within a title: which, in which order and how close together. No loop over rows, only over the
distinct terms of the longest query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polyrec.data.columns import RowError
from polyrec.features._operands import among, codes, owners
from polyrec.features._values import Values, places

FAR = np.iinfo(np.int64).max // 2
# Distances that are looked at in one batch, some tens of seconds of work.
MOST_STEPS = 1e9


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms are numbers, the same for equal ones of a row and different in other rows."""

    query: np.ndarray
    title: np.ndarray
    query_lengths: np.ndarray
    title_lengths: np.ndarray
    words: int
    """A term divided by this is its row."""
    title_column: str

    @classmethod
    def of(cls, query: Values, title: Values) -> Terms:
        query_codes, title_codes, words = codes(query.array, title.array)
        return cls(
            owners(query.lengths) * words + query_codes,
            owners(title.lengths) * words + title_codes,
            query.lengths,
            title.lengths,
            words,
            title.column,
        )

    def query_ratio(self) -> np.ndarray:
        """The share of the query's terms that the title has, 0 without terms."""
        return self._ratio(self.query, self.title, self.query_lengths)

    def title_ratio(self) -> np.ndarray:
        """The share of the title's terms that the query has, 0 without terms."""
        return self._ratio(self.title, self.query, self.title_lengths)

    def _ratio(self, terms: np.ndarray, others: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        common = np.bincount(terms[among(terms, others)] // self.words, minlength=len(lengths))
        return common / np.maximum(lengths, 1)

    def first_place(self) -> np.ndarray:
        """Where the whole query first stands in the title without a gap, -1 for nowhere or without terms."""
        rows, at = owners(self.title_lengths), places(self.title_lengths)
        needed = self.query_lengths[rows]
        begins = np.flatnonzero((needed > 0) & (at + needed <= self.title_lengths[rows]))
        query_starts = np.cumsum(self.query_lengths) - self.query_lengths
        whole = [np.zeros(0, np.int64)]
        place = 0
        while len(begins):
            same = self.title[begins + place] == self.query[query_starts[rows[begins]] + place]
            begins = begins[same]
            place += 1
            is_done = needed[begins] == place
            whole.append(begins[is_done])
            begins = begins[~is_done]
        found = np.full(len(self.query_lengths), FAR)
        ends = np.concatenate(whole)
        np.minimum.at(found, rows[ends], at[ends])
        return np.where(found == FAR, -1, found)

    def cover(self) -> np.ndarray:
        """Length of the shortest part of the title that has every term of the query, 0 where one is not in it."""
        hits = Hits.of(self)
        in_query = np.bincount(np.unique(self.query) // self.words, minlength=len(self.query_lengths))
        begins = np.full(len(hits.at), FAR)
        for kind, active in hits.each_kind():
            begins[active] = np.minimum(begins[active], hits.latest(kind, active))
        has_all = begins >= hits.first_at
        shortest = np.full(len(in_query), FAR)
        np.minimum.at(shortest, hits.rows[has_all], (hits.at - begins + 1)[has_all])
        return np.where((in_query > 0) & (hits.kinds_per_row == in_query), shortest, 0)

    def distances(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The smallest, largest and mean distance between two different terms of the query in the title, each pair
        where it is closest. 0 where only one of the terms is in the title; its length and 1 where none is."""
        hits = Hits.of(self)
        low, high = np.full(len(self.query_lengths), FAR), np.zeros(len(self.query_lengths), np.int64)
        total, pairs = np.zeros_like(high), np.zeros_like(high)
        for kind, active in hits.each_kind():
            at = hits.at[active]
            apart = np.minimum(at - hits.latest(kind, active), hits.earliest(kind, active) - at)
            is_other = hits.ranks[active] != kind
            closest = np.full(len(hits.row_of_kind), FAR)
            np.minimum.at(closest, hits.kinds[active][is_other], apart[is_other])
            found = np.flatnonzero(closest < FAR)
            rows, closest = hits.row_of_kind[found], closest[found]
            np.minimum.at(low, rows, closest)
            np.maximum.at(high, rows, closest)
            np.add.at(total, rows, closest)
            np.add.at(pairs, rows, 1)
        alone = np.where(hits.kinds_per_row == 0, self.title_lengths + 1, 0)
        mean = total / np.maximum(pairs, 1)
        has_pairs = pairs > 0
        return np.where(has_pairs, low, alone), np.where(has_pairs, high, alone), np.where(has_pairs, mean, alone)


@dataclass(frozen=True, slots=True)
class Hits:
    """The terms of titles that their queries have, in order."""

    at: np.ndarray
    """Where each stands among the terms of all titles."""
    rows: np.ndarray
    first_at: np.ndarray
    """Where the title of each begins."""
    end_at: np.ndarray
    """Where it ends."""
    kinds: np.ndarray
    """Which of the different terms of all rows each is."""
    ranks: np.ndarray
    """Which of those of its row."""
    row_of_kind: np.ndarray
    kinds_per_row: np.ndarray

    @classmethod
    def of(cls, terms: Terms) -> Hits:
        at = np.flatnonzero(among(terms.title, terms.query))
        different, kinds = np.unique(terms.title[at], return_inverse=True)
        row_of_kind = different // terms.words
        kinds_per_row = np.bincount(row_of_kind, minlength=len(terms.query_lengths))
        rows = row_of_kind[kinds]
        # Each rank is a pass over the hits of its row.
        steps = kinds_per_row.astype(np.float64) * np.bincount(row_of_kind[kinds], minlength=len(kinds_per_row))
        if steps.sum() > MOST_STEPS:
            row = int(np.argmax(steps))
            what = f"{kinds_per_row[row]} different terms of the query stand in the title, too many to compare"
            raise RowError(
                f"column {terms.title_column}", row, f"{what}; shorten the texts, or make batches smaller", "size"
            )
        ends = np.cumsum(terms.title_lengths)
        first_at = (ends - terms.title_lengths)[rows]
        return cls(at, rows, first_at, ends[rows], kinds, places(kinds_per_row)[kinds], row_of_kind, kinds_per_row)

    def each_kind(self) -> Iterator[tuple[int, np.ndarray]]:
        """Each rank that a term can have in its row, and the hits of rows that have so many."""
        per_hit = self.kinds_per_row[self.rows]
        for kind in range(int(self.kinds_per_row.max(initial=0))):
            yield kind, np.flatnonzero(per_hit > kind)

    def latest(self, kind: int, active: np.ndarray) -> np.ndarray:
        """Where the term of this rank last stood at or before each hit of the row, -FAR for nowhere."""
        at = np.where(self.ranks[active] == kind, self.at[active], -FAR)
        found = np.maximum.accumulate(at)
        return np.where(found < self.first_at[active], -FAR, found)

    def earliest(self, kind: int, active: np.ndarray) -> np.ndarray:
        """Where it stands next, FAR for nowhere."""
        at = np.where(self.ranks[active] == kind, self.at[active], FAR)
        found = np.minimum.accumulate(at[::-1])[::-1]
        return np.where(found >= self.end_at[active], FAR, found)

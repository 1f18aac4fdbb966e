"""Items that were not chosen, for all rows of a batch, and those that single rows passed over."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from polyrec.data.samplers import Sampled
from polyrec.data.samplers._edges import Edges, EdgeTable, read_edges
from polyrec.data.samplers._items import ItemTable, item_schema, read_items
from polyrec.data.samplers._read import one_each
from polyrec.errors import DataError
from polyrec.families import SamplerConfig
from polyrec.features._values import values

ROUNDS = 8
"""Times that items which may not be drawn are drawn anew; after that all items are weighed, which takes longer."""

Pairs = tuple[np.ndarray, np.ndarray]
"""Rows and items that belong together, int64 each."""
_NO_PAIRS: Pairs = (np.zeros(0, np.int64), np.zeros(0, np.int64))


class Negatives(SamplerConfig):
    """What all samplers have that draw items for a whole batch."""

    items: ItemTable
    item_column: str
    """Column of the item that a row is about."""
    attributes: tuple[str, ...] = ()
    """Columns of items beside their id, in the order of the table's attributes."""
    count: int = Field(gt=0)
    """Items drawn for each batch, exactly so many."""
    eval_count: int | None = Field(default=None, gt=0)
    """The same in evaluation; None for `count`."""
    draw_by: Literal["weight", "evenly"] = "weight"
    """Whether the weights of the items count."""
    is_distinct: bool = False
    """Whether no item is drawn twice for a batch."""
    kept_from: Literal["batch", "row"] = "batch"
    """batch: an item that is positive for any row of the batch is not drawn. row: it may be, but does not count
    against the rows that it is positive for."""
    id_separator: str | None = Field(default=None, min_length=1)
    """Between the ids of a text in `item_column` when a row is about several; each of them is kept from the row."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.item_column,)

    @property
    def item_columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.item_column, *self.attributes)))

    def open(self, *, is_training: bool) -> NegativeSampler:
        return NegativeSampler(self, is_training)


class HardNegatives(Negatives):
    """And those that draw more for single rows."""

    user_column: str
    """Column of the row's user."""
    hard_edges: EdgeTable
    """From users to items that they passed over."""
    hard_count: int = Field(gt=0)
    """Most of these for a row; of more, as many are chosen evenly."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.item_column, self.user_column)

    def open(self, *, is_training: bool) -> NegativeSampler:
        return NegativeSampler(self, is_training, self.user_column, hard_edges=self.hard_edges)


class NegativeSampler:
    def __init__(
        self,
        config: Negatives,
        is_training: bool,
        user_column: str = "",
        positive_edges: EdgeTable | None = None,
        hard_edges: EdgeTable | None = None,
    ) -> None:
        self._config = config
        self._user_column = user_column
        self._count = config.count if is_training or config.eval_count is None else config.eval_count
        self._hard_count = config.hard_count if isinstance(config, HardNegatives) else 0
        self.items = read_items(config.items, config.item_column, config.attributes)
        self._positive: Edges | None = positive_edges and read_edges(positive_edges, self.items)
        self._hard: Edges | None = hard_edges and read_edges(hard_edges, self.items)

    def __call__(self, rows: pa.RecordBatch, random: np.random.Generator) -> Sampled:
        own, chosen = self._own(rows), self._joined(self._positive, rows)
        drawn, hidden = self._shared(own, chosen, random)
        owners, hard = self._of_rows(own, chosen, self._joined(self._hard, rows), random)
        numbers = np.concatenate((drawn, hard))
        schema = item_schema(rows, self._config.item_columns)
        return Sampled(
            rows,
            self.items.take(numbers, schema),
            owners,
            *hidden,
            place=lambda number: self.items.place(int(numbers[number])),
        )

    def _own(self, rows: pa.RecordBatch) -> Pairs:
        """The items that the rows are about; those that the table does not have cannot be drawn anyway."""
        name = self._config.item_column
        found = values(rows, name, self._config.id_separator)
        numbers = self.items.ids.numbers(found.array, name)
        owners = np.repeat(np.arange(rows.num_rows), found.lengths)
        return owners[numbers >= 0], numbers[numbers >= 0]

    def _joined(self, edges: Edges | None, rows: pa.RecordBatch) -> Pairs:
        """The rows and the items that their users have edges to, in the order of the rows, then of the items."""
        return _NO_PAIRS if edges is None else edges.of(one_each(rows, self._user_column), self._user_column)

    def _shared(self, own: Pairs, chosen: Pairs, random: np.random.Generator) -> tuple[np.ndarray, Pairs]:
        """Items for all rows, and the pairs of a row and a place among them that must not count."""
        owners, items = (np.concatenate(parts) for parts in zip(own, chosen, strict=True))
        if self._config.kept_from == "batch":
            return self._draw(random, np.unique(items)), _NO_PAIRS
        drawn = self._draw(random, np.zeros(0, np.int64))
        is_drawn = np.zeros(len(self.items), bool)
        is_drawn[drawn] = True
        return drawn, _matches((owners[is_drawn[items]], items[is_drawn[items]]), drawn)

    def _of_rows(self, own: Pairs, chosen: Pairs, passed: Pairs, random: np.random.Generator) -> Pairs:
        """Items that single rows passed over, in the order of the rows; none that is positive for the row."""
        size = len(self.items)
        keys, own_keys, chosen_keys = (owners * size + items for owners, items in (passed, own, chosen))
        keys = keys[~_in_order(keys, np.sort(own_keys)) & ~_in_order(keys, chosen_keys)]
        owners, items = keys // size, keys % size
        order = np.argsort(owners + random.random(len(owners)), kind="stable")
        owners, items = owners[order], items[order]
        begins = np.searchsorted(owners, owners, side="left")
        is_kept = np.arange(len(owners)) - begins < self._hard_count
        return owners[is_kept], items[is_kept]

    def _draw(self, random: np.random.Generator, excluded: np.ndarray) -> np.ndarray:
        """As many items as wanted, none of those excluded, which are in order."""
        found = np.zeros(0, np.int64)
        for _ in range(ROUNDS):
            wanted = self._count - len(found)
            if not wanted:
                return found
            more = self._draw_any(random, wanted + wanted // 4 + 8)
            found = np.concatenate((found, more[~_in_order(more, excluded)]))
            if self._config.is_distinct:
                found = found[np.sort(np.unique(found, return_index=True)[1])]
            found = found[: self._count]
        return np.concatenate((found, self._draw_rest(random, found, excluded)))

    def _draw_any(self, random: np.random.Generator, count: int) -> np.ndarray:
        if self._config.draw_by == "evenly":
            return random.integers(0, len(self.items), count)
        return self.items.alias.draw(random, count)

    def _draw_rest(self, random: np.random.Generator, found: np.ndarray, excluded: np.ndarray) -> np.ndarray:
        """What is missing, from the weights of all items that may still be drawn."""
        weights = self.items.weights.copy() if self._config.draw_by == "weight" else np.ones(len(self.items))
        weights[excluded] = 0
        count = np.count_nonzero(weights)
        if count < (self._count if self._config.is_distinct else 1):
            raise DataError(
                f"{self.items.path}: only {count} of {len(self.items)} items are left to draw {self._count} from, "
                "without those of the batch; lower the count or the batch size, or set kept_from to row"
            )
        wanted = self._count - len(found)
        if self._config.is_distinct:
            weights[found] = 0
        left = np.flatnonzero(weights)
        if self._config.is_distinct:
            # The first to arrive, at rates that are their weights, come in the order in which they would be drawn.
            arrivals = random.standard_exponential(len(left)) / weights[left]
            return left[np.argsort(arrivals, kind="stable")[:wanted]]
        sums = np.cumsum(weights[left])
        places = np.searchsorted(sums, random.random(wanted) * sums[-1], side="right")
        return left[np.minimum(places, len(left) - 1)]


def _in_order(wanted: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """Which of the wanted are among ordered numbers."""
    if not len(ordered):
        return np.zeros(len(wanted), bool)
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return ordered[places] == wanted


def _matches(positives: Pairs, drawn: np.ndarray) -> Pairs:
    """For each row the places at which an item was drawn that is positive for it."""
    order = np.argsort(drawn, kind="stable")
    ordered = drawn[order]
    begins = np.searchsorted(ordered, positives[1], side="left")
    counts = np.searchsorted(ordered, positives[1], side="right") - begins
    rows = np.repeat(positives[0], counts)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts - begins, counts)
    return rows, order[places]

"""A table of edges: the items that each user, or each leaf of a tree, is joined to."""

from __future__ import annotations

import logging
from functools import lru_cache

import numpy as np
import pyarrow as pa
from pydantic import Field

from polyrec.catalog import Frozen
from polyrec.data.samplers._items import Items
from polyrec.data.samplers._read import Ids, Stamp, hashes, read_rows, stamp, text_column

log = logging.getLogger(__name__)


class EdgeTable(Frozen):
    """Files with two ids for each edge, in this order; a weight may follow and does not count."""

    path: str
    """Files, a folder or a glob; those called `.parquet` are Parquet, all others text."""
    separator: str = Field(default="\t", min_length=1)
    """Between the fields of a line of text: from, to, weight."""


def read_edges(config: EdgeTable, items: Items) -> Edges:
    return _read(config, items, stamp(config.path))  # type: ignore[arg-type]  # frozen models have a hash


@lru_cache(maxsize=4)
def _read(config: EdgeTable, items: Items, files: Stamp) -> Edges:
    return Edges(config, items, files)


class Edges:
    """By their first end, in the order of the items' numbers; one that is given twice counts once."""

    def __init__(self, config: EdgeTable, items: Items, files: Stamp) -> None:
        rows = read_rows([file for file, _, _ in files], config.separator, ["from", "to", "weight"], 1, is_named=False)
        sources, given = hashes(text_column(rows, "from"), "from")
        rows.check(~given, lambda _: "an edge from nowhere; give it an id")
        targets = items.ids.numbers(text_column(rows, "to"), "to")
        known = targets >= 0
        if not known.all():
            row = int(np.argmin(known))
            log.warning(
                "%s: %d of %d edges lead to no item and are left out, the first at %s",
                config.path, len(known) - int(known.sum()), len(known), rows.place(row),
            )  # fmt: skip
        sources, targets = sources[known], targets[known]
        order = np.lexsort((targets, sources))
        sources, targets = sources[order], targets[order]
        is_new = np.ones(len(order), bool)
        is_new[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
        sources, targets = sources[is_new], targets[is_new]
        begins = np.flatnonzero(np.concatenate(([len(sources) > 0], sources[1:] != sources[:-1])))
        self._ids = Ids(sources[begins])
        self._offsets = np.append(begins, len(sources))
        self._targets = targets.astype(np.int32) if len(items) < 2**31 else targets

    def of(self, sources: pa.Array, name: str) -> tuple[np.ndarray, np.ndarray]:
        """All edges from these: the number of each one's row, rising, and of its item."""
        if not len(self._ids):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        numbers = self._ids.numbers(sources, name)
        begins = np.where(numbers >= 0, self._offsets[numbers], 0)
        counts = np.where(numbers >= 0, self._offsets[numbers + 1] - begins, 0)
        rows = np.repeat(np.arange(len(numbers)), counts)
        places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts - begins, counts)
        return rows, self._targets[places].astype(np.int64)

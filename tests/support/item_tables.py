"""Small tables of items and edges as text and as Parquet, and rows about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from polyrec.data.samplers._edges import EdgeTable
from polyrec.data.samplers._items import ItemTable

ITEMS_HEADER = "id:int64\tweight:float\tattrs:string\n"
EDGES_HEADER = "userid:int64\titemid:int64\tweight:float\n"


def items(folder: Path, weights: Sequence[float], header: str = ITEMS_HEADER) -> ItemTable:
    """Items 100, 101 and so on, of the category `c<id % 3>` at the price of a tenth of the id."""
    path = folder / "items.txt"
    lines = [f"{100 + n}\t{weight}\tc{(100 + n) % 3}:{(100 + n) / 10}\n" for n, weight in enumerate(weights)]
    path.write_text(header + "".join(lines))
    return ItemTable(path=str(path))


def parquet_items(folder: Path, weights: Sequence[float]) -> ItemTable:
    """The same ones."""
    ids = np.arange(100, 100 + len(weights))
    columns = {
        "id": ids,
        "weight": np.array(weights, np.float64),
        "category": [f"c{number % 3}" for number in ids],
        "price": ids / 10,
    }
    pq.write_table(pa.table(columns), folder / "items.parquet")
    return ItemTable(path=str(folder / "items.parquet"))


def edges(folder: Path, name: str, pairs: Iterable[tuple[object, object]], header: str = EDGES_HEADER) -> EdgeTable:
    path = folder / f"{name}.txt"
    path.write_text(header + "".join(f"{start}\t{end}\t1.0\n" for start, end in pairs))
    return EdgeTable(path=str(path))


def rows(own: Sequence[object], users: Sequence[object] | None = None) -> pa.RecordBatch:
    """One row about each of these items."""
    count = len(own)
    return pa.record_batch(
        {
            "user": list(users) if users is not None else list(range(count)),
            "item": list(own),
            "category": [f"own{number}" for number in range(count)],
            "price": np.zeros(count, np.float32),
            "click": np.ones(count, np.int64),
        }
    )


def random(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)

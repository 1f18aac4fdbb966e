"""How fast items are drawn for batches, and what the tables cost; prints one JSON line.

    python bench/samplers.py [--small] [--items N] [--edges N]

Items have ids, weights by Zipf's law and three attributes. Each figure is the mean over batches of 4,096 rows with
1,024 items for all of them, up to 10 hard ones for each, or the nodes of a tree: `draws_per_s` counts items that join
rows, `ms_per_batch` is all that a sampler does for a batch, attributes included. CPU time of one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from polyrec.data.samplers import TRAINING, Sampled, random_for
from polyrec.data.samplers._edges import EdgeTable
from polyrec.data.samplers._items import ItemTable, read_items
from polyrec.data.samplers.hard_negative import HardNegative
from polyrec.data.samplers.hard_negative_v2 import HardNegativeV2
from polyrec.data.samplers.negative import Negative
from polyrec.data.samplers.negative_v2 import NegativeV2
from polyrec.data.samplers.tdm import TDM
from polyrec.families import SamplerConfig

ROWS, DRAWN, HARD = 4096, 1024, 10
COLUMNS = ("category", "brand", "price")
EDGES_PER_USER = 20


def write_tables(folder: Path, items: int, edges: int) -> None:
    """A table of items, and edges of users."""
    random = np.random.default_rng(1)
    weights = 1 / np.arange(1, items + 1) ** 0.8
    attributes = zip(random.integers(0, 5000, (items, 2)).tolist(), random.random(items).tolist(), strict=True)
    lines = [
        f"{number}\t{weight:.6g}\t{category}:{brand}:{price:.4f}\n"
        for number, (weight, ((category, brand), price)) in enumerate(zip(weights.tolist(), attributes, strict=True))
    ]
    (folder / "items.txt").write_text("id:int64\tweight:float\tattrs:string\n" + "".join(lines))
    for name in ("chosen", "passed"):
        users = random.integers(0, max(1, edges // EDGES_PER_USER), edges).tolist()
        ends = random.integers(0, items, edges).tolist()
        text = "".join(f"{user}\t{item}\t1\n" for user, item in zip(users, ends, strict=True))
        (folder / f"{name}.txt").write_text("userid:int64\titemid:int64\tweight:float\n" + text)


def write_tree(folder: Path, items: int) -> int:
    """A tree of ten children a node, whose inner nodes have ids from `items` up; the number of its layers."""
    sizes = [items]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 10))
    firsts = np.concatenate(([0], np.cumsum(sizes)))
    last = len(sizes) - 1
    nodes = [
        f"{firsts[up] + n}\t1\t{last - up}:{n % 5000}:{n % 100}:0.5\n"
        for up in range(last + 1)
        for n in range(sizes[up])
    ]
    (folder / "nodes.txt").write_text("".join(nodes))
    with (folder / "above.txt").open("w") as file:
        for up in range(1, last):
            file.writelines(f"{leaf}\t{firsts[up] + leaf // 10**up}\t1\n" for leaf in range(items))
    return last + 1


def samplers(folder: Path, layers: int) -> dict[str, SamplerConfig]:
    chosen, passed = (EdgeTable(path=str(folder / f"{name}.txt")) for name in ("chosen", "passed"))
    options: dict[str, Any] = {
        "items": ItemTable(path=str(folder / "items.txt")),
        "item_column": "item",
        "attributes": COLUMNS,
        "count": DRAWN,
    }
    of_users: dict[str, Any] = {**options, "user_column": "user"}
    return {
        "negative": Negative(**options),
        "negative_distinct": Negative(**options, is_distinct=True),
        "negative_v2": NegativeV2(**of_users, positive_edges=chosen, kept_from="row"),
        "hard_negative": HardNegative(**of_users, hard_edges=passed, hard_count=HARD),
        "hard_negative_v2": HardNegativeV2(
            **of_users, positive_edges=chosen, hard_edges=passed, hard_count=HARD, kept_from="row"
        ),
        "tdm": TDM(
            items=ItemTable(path=str(folder / "nodes.txt")),
            edges=EdgeTable(path=str(folder / "above.txt")),
            item_column="item",
            attributes=("tree_level", *COLUMNS),
            label="click",
            layers=(0, *[min(4, 2 * layer) for layer in range(1, layers)]),
        ),
    }


def batch(items: int, users: int, number: int) -> pa.RecordBatch:
    random = np.random.default_rng(number)
    return pa.record_batch(
        {
            "user": random.integers(0, users, ROWS),
            "item": random.integers(0, items, ROWS),
            "category": pa.array(random.integers(0, 5000, ROWS)).cast(pa.string()),
            "brand": random.integers(0, 5000, ROWS),
            "price": random.random(ROWS).astype(np.float32),
            "click": np.ones(ROWS, np.int64),
        }
    )


def drawn(found: Sampled) -> int:
    return found.rows.num_rows - ROWS if found.items is None else found.items.num_rows


def measured(config: SamplerConfig, batches: list[pa.RecordBatch]) -> dict[str, Any]:
    began = time.process_time()
    sampler = config.open(is_training=True)
    opened = time.process_time() - began
    sampler(batches[0], random_for(0, TRAINING, 0, 0, 0))  # columns are converted once
    began = time.process_time()
    count = sum(drawn(sampler(rows, random_for(0, TRAINING, 0, 0, n))) for n, rows in enumerate(batches))
    seconds = time.process_time() - began
    return {
        "open_s": round(opened, 2),
        "ms_per_batch": round(1000 * seconds / len(batches), 2),
        "draws_per_s": round(count / seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of samplers")
    parser.add_argument("--small", action="store_true", help="few items; checks the script, not speed")
    parser.add_argument("--items", type=int, default=500_000)
    parser.add_argument("--edges", type=int, default=2_000_000)
    arguments = parser.parse_args()
    items, edges, count = (5_000, 20_000, 2) if arguments.small else (arguments.items, arguments.edges, 30)
    pa.set_cpu_count(1)
    results: dict[str, Any] = {"bench": "samplers", "items": items, "edges": edges, "rows": ROWS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, items, edges)
        layers = write_tree(folder, items)
        batches = [batch(items, max(1, edges // EDGES_PER_USER), number) for number in range(count)]
        for kind, config in samplers(folder, layers).items():
            results[kind] = measured(config, batches)
        table = read_items(ItemTable(path=str(folder / "items.txt")), "item", COLUMNS)
        results["bytes_per_item"] = round(table.nbytes / items)
    sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()

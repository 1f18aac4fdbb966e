"""How fast each reader is, beside plain pyarrow decoding of the same columns; prints one JSON line.

    python bench/reader.py [--small] [--rows N] [--threads N]

Each figure is the best of three passes over files that the operating system has in memory. `plain_rows_per_s` is
pyarrow's own whole-file reader (Parquet, CSV); slot text has no such reader, so there it is reading the bytes only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from polyrec.data.loader import RowLoader
from polyrec.data.readers.csv import Csv, CsvColumn
from polyrec.data.readers.parquet import Parquet
from polyrec.data.readers.slots import SlotColumn, Slots
from polyrec.demo import DemoData, make_data
from polyrec.families import ReaderConfig

BATCH_ROWS = 8192
PASSES = 3


def best(run: Callable[[], object]) -> float:
    """Seconds of the fastest pass."""
    times = []
    for _ in range(PASSES):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def measured(reader: ReaderConfig, data: DemoData, plain: Callable[[str], object]) -> dict[str, Any]:
    size = sum(Path(path).stat().st_size for path in data.train)
    columns = reader.arrow_schema(data.train[0]).names

    def ours(shuffle_rows: int = 0) -> None:
        loader = RowLoader(reader, data.train, columns, batch_size=BATCH_ROWS, shuffle_rows=shuffle_rows)
        assert sum(batch.num_rows for batch, _ in loader.batches(0)) == data.rows

    seconds = best(ours)
    return {
        "columns": len(columns),
        "rows_per_s": round(data.rows / seconds),
        "bytes_per_s": round(size / seconds),
        "shuffled_rows_per_s": round(data.rows / best(lambda: ours(100_000))),
        "plain_rows_per_s": round(data.rows / best(lambda: [plain(path) for path in data.train])),
    }


def csv_reader(data: DemoData) -> Csv:
    """A reader of the types that pyarrow sees in the first file."""
    options = pa_csv.ReadOptions(column_names=list(data.columns))
    found = pa_csv.read_csv(data.train[0], options).schema
    kinds: dict[Any, Literal["int", "float"]] = {pa.int64(): "int", pa.float64(): "float"}
    return Csv(
        columns=tuple(CsvColumn(name=field.name, type=kinds.get(field.type, "string")) for field in found),
        header=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the readers")
    parser.add_argument("--small", action="store_true", help="few rows; checks the script, not speed")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--threads", type=int, default=1, help="threads that Arrow decodes with")
    arguments = parser.parse_args()
    arguments.rows = 2_000 if arguments.small else arguments.rows
    pa.set_cpu_count(arguments.threads)
    names = tuple(str(number) for number in range(1, 27))
    slots = Slots(sparse=("click", *names), dense=(SlotColumn(name="dense_var", size=13),))
    results: dict[str, Any] = {"bench": "reader", "rows": arguments.rows, "threads": arguments.threads}
    with tempfile.TemporaryDirectory() as folder:
        for kind, form in (
            ("taobao", "parquet"),
            ("criteo", "parquet"),
            ("criteo", "csv"),
            ("avazu", "csv"),
            ("criteo", "slots"),
        ):
            data = make_data(kind, f"{folder}/{kind}-{form}", arguments.rows, form=form, eval_rows=10)
            if form == "parquet":
                results[f"{kind}_{form}"] = measured(Parquet(), data, pq.read_table)
            elif form == "csv":
                options = pa_csv.ReadOptions(column_names=list(data.columns))
                plain: Callable[[str], object] = lambda path, options=options: pa_csv.read_csv(path, options)  # noqa: E731
                results[f"{kind}_{form}"] = measured(csv_reader(data), data, plain)
            else:
                results[f"{kind}_{form}"] = measured(slots, data, lambda path: Path(path).read_bytes())
    sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()

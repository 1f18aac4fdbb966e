"""What reading costs, alone and with features into the tensors of batches, beside plain pyarrow decoding of the same
columns of the same files; prints one JSON line.

    OMP_NUM_THREADS=1 python bench/reader.py [--small] [--rows N] [--rounds N]

`plain` is pyarrow's own whole-file reader without threads (Parquet, CSV); slot text has no such reader, so there it is
reading the bytes only. `read` is polyrec's reader in batches, `shuffled` the same mixed in blocks of 100,000 rows,
`features` reading, transforming and collating into the batches that a training run takes, with the columns and features
of the example config. Every figure is the median over rounds, in which the kinds take turns, so that other load on the
machine meets all of them. `cpu` is CPU time of the whole process; the ratios are medians of the rounds' own ratios to
`plain`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from polyrec import dialects
from polyrec.config import RunConfig
from polyrec.data.batch import Collator
from polyrec.data.loader import RowLoader
from polyrec.data.readers.csv import Csv, CsvColumn
from polyrec.data.readers.parquet import Parquet
from polyrec.data.readers.slots import SlotColumn, Slots
from polyrec.demo import DemoData, make_data
from polyrec.families import ReaderConfig

EXAMPLES = Path(__file__).parents[1] / "examples" / "torcheasyrec"
CONFIGS = {"criteo": "deepfm_criteo.config", "taobao": "multi_tower_din_taobao.config"}
BATCH_ROWS = 8192
SHUFFLED_ROWS = 100_000


def measured(works: dict[str, Callable[[], object]], data: DemoData, rounds: int) -> dict[str, Any]:
    """Medians of each kind of work; the first round is not counted."""
    cpu: dict[str, list[float]] = {name: [] for name in works}
    wall: dict[str, list[float]] = {name: [] for name in works}
    for number in range(-1, rounds):
        for name, work in works.items():
            began, began_cpu = time.perf_counter(), time.process_time()
            work()
            if number >= 0:
                cpu[name].append(time.process_time() - began_cpu)
                wall[name].append(time.perf_counter() - began)
    size = sum(Path(path).stat().st_size for path in data.train)
    return {
        name: {
            "rows_per_s": round(data.rows / statistics.median(wall[name])),
            "bytes_per_s": round(size / statistics.median(wall[name])),
            "rows_per_cpu_s": round(data.rows / statistics.median(cpu[name])),
            "cpu_ratio": ratio(cpu[name], cpu["plain"]),
            "wall_ratio": ratio(wall[name], wall["plain"]),
        }
        for name in works
    }


def ratio(times: list[float], plain: list[float]) -> float:
    return round(statistics.median(own / other for own, other in zip(times, plain, strict=True)), 2)


def works(
    reader: ReaderConfig, data: DemoData, plain: Callable[[str, list[str]], object], run: RunConfig | None
) -> dict[str, Callable[[], object]]:
    columns = reader.arrow_schema(data.train[0]).names if run is None else list(run.columns)

    def loader(shuffle_rows: int = 0) -> RowLoader:
        return RowLoader(reader, data.train, columns, batch_size=BATCH_ROWS, shuffle_rows=shuffle_rows)

    def read(shuffle_rows: int = 0) -> None:
        assert sum(batch.num_rows for batch, _ in loader(shuffle_rows).batches(0)) == data.rows

    found: dict[str, Callable[[], object]] = {
        "plain": lambda: [plain(path, columns) and None for path in data.train],
        "read": read,
        "shuffled": lambda: read(SHUFFLED_ROWS),
    }
    if run is not None:
        collate = Collator(run, with_labels=True)

        def with_features() -> None:
            count = 0
            for batch, _ in loader().prepared(lambda rows, _: collate(rows), 0):
                count += batch.size
            assert count == data.rows

        found["features"] = with_features
    return found


def csv_reader(data: DemoData) -> Csv:
    """A reader of the types that pyarrow sees in the first file."""
    options = pa_csv.ReadOptions(column_names=list(data.columns))
    found = pa_csv.read_csv(data.train[0], options).schema
    kinds: dict[Any, Literal["int", "float"]] = {pa.int64(): "int", pa.float64(): "float"}
    return Csv(
        columns=tuple(CsvColumn(name=field.name, type=kinds.get(field.type, "string")) for field in found),
        header=False,
    )


def decoded(path: str, columns: list[str]) -> object:
    return pq.read_table(path, columns=columns, use_threads=False)


def example(kind: str) -> RunConfig:
    run = dialects.load(str(EXAMPLES / CONFIGS[kind])).config
    assert isinstance(run, RunConfig)
    return run


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the readers, alone and with features")
    parser.add_argument("--small", action="store_true", help="few rows; checks the script, not speed")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="+", help="forms to measure, such as criteo_parquet")
    arguments = parser.parse_args()
    if arguments.small:
        arguments.rows, arguments.rounds = 2_000, 1
    pa.set_cpu_count(1)
    names = tuple(str(number) for number in range(1, 27))
    slots = Slots(sparse=("click", *names), dense=(SlotColumn(name="dense_var", size=13),))
    results: dict[str, Any] = {"bench": "reader", "rows": arguments.rows, "rounds": arguments.rounds}
    with tempfile.TemporaryDirectory() as folder:
        for title in arguments.only or ("criteo_parquet", "taobao_parquet", "criteo_csv", "avazu_csv", "criteo_slots"):
            kind, _, form = title.partition("_")
            data = make_data(kind, f"{folder}/{title}", arguments.rows, form=form, eval_rows=10)
            if form == "parquet":
                found = works(Parquet(), data, decoded, example(kind))
            elif form == "csv":
                options = pa_csv.ReadOptions(column_names=list(data.columns), use_threads=False)
                plain: Callable[..., object] = lambda path, _, options=options: pa_csv.read_csv(path, options)  # noqa: E731
                found = works(csv_reader(data), data, plain, None)
            else:
                found = works(slots, data, lambda path, _: Path(path).read_bytes(), None)
            results[title] = measured(found, data, arguments.rounds)
    sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()

"""Peak memory of training on few rows and on ten times as many; prints one JSON line.

    python bench/memory.py [--small] [--rows 500000] [--times 10]

Each figure is the largest resident set of a process of its own that trains one epoch from narrow Parquet files, with
rows in file order and shuffled. `growth` is how much higher the peak is on the larger data, as a share of the smaller.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SHUFFLE_ROWS = 100_000
GROUP_ROWS = 50_000
FILES = 2


def write(folder: Path, rows: int) -> None:
    """Two ids and a label a row; blocks of rows repeat, so that large files are quick to write."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    size = min(GROUP_ROWS, rows // FILES)
    users = random.integers(0, 100_000, size)
    block = pa.record_batch(
        {"clicked": random.integers(0, 2, size), "user": users, "city": pa.array(users % 1000).cast(pa.string())}
    )
    for number in range(FILES):
        with pq.ParquetWriter(folder / f"part-{number}.parquet", block.schema) as writer:
            for _ in range(rows // FILES // size):
                writer.write_batch(block, row_group_size=size)


def settings(data: Path, model_dir: Path, shuffle_rows: int) -> dict[str, Any]:
    """The run, in polyrec's own form."""
    bucket = {"kind": "hash", "rows": 10_000, "function": "murmur64"}
    names = ("user", "city")
    learning = {"optimizer": {"kind": "sgd", "lr": 0.01}, "schedule": {"kind": "constant"}}
    return {
        "polyrec": 1,
        "model_dir": str(model_dir),
        "data": {
            "train": [f"{data}/*.parquet"],
            "reader": {"kind": "parquet"},
            "batch_size": 8192,
            "eval_batch_size": 8192,
            "shuffle_rows": shuffle_rows,
        },
        "features": [{"kind": "id", "name": name, "column": name, "bucket": bucket, "default": None} for name in names],
        "tables": [{"name": n, "rows": 10_000, "width": 4, "init": {"kind": "normal", "std": 0.01}} for n in names],
        "groups": [{"name": "deep", "kind": "flat", "inputs": [{"feature": name, "table": name} for name in names]}],
        "model": {
            "kind": "deepfm",
            "deep": "deep",
            "fm": "deep",
            "mlp": {"hidden": [8], "activation": "relu", "kernel": {"kind": "linear"}},
            "head": {"kernel": {"kind": "linear"}},
        },
        "tasks": [{"label": "clicked", "losses": [{"loss": {"kind": "binary_cross_entropy"}}]}],
        "optim": {"tables": learning, "dense": learning},
        "train": {"epochs": 1, "tensorboard": False},
    }


def train_here(folder: Path, rows: int, shuffle_rows: int) -> None:
    """What the measured process does; it prints its steps and its peak in bytes."""
    from polyrec import dialects
    from polyrec.config import RunConfig

    with tempfile.TemporaryDirectory() as model_dir:
        config = Path(model_dir, "run.json")
        config.write_text(json.dumps(settings(folder, Path(model_dir, "model"), shuffle_rows)))
        loaded = dialects.load(str(config)).config
        assert isinstance(loaded, RunConfig)
        from polyrec import api

        result = api.train(loaded)
    assert result["samples"] == rows, result
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stdout.write(json.dumps({"steps": result["steps"], "peak": peak}) + "\n")


def measured(folder: Path, rows: int, shuffle_rows: int) -> float:
    """Peak of a new process in MB."""
    words = [sys.executable, __file__, "--train", str(folder), "--rows", str(rows), "--shuffle", str(shuffle_rows)]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, check=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    return round(json.loads(done.stdout)["peak"] / 1e6, 1)


def compare(rows: int, times: int, repeats: int) -> dict[str, Any]:
    """The lowest peak of a few runs of each, since a busy machine only ever adds to it."""
    found: dict[str, Any] = {"bench": "memory", "rows": rows, "times": times, "repeats": repeats}
    with tempfile.TemporaryDirectory() as scratch:
        few, many = Path(scratch, "few"), Path(scratch, "many")
        write(few, rows)
        write(many, rows * times)
        for name, shuffle_rows in (("in_order", 0), ("shuffled", min(SHUFFLE_ROWS, rows // 2))):
            peaks: dict[int, list[float]] = {rows: [], rows * times: []}
            for _ in range(repeats):
                peaks[rows].append(measured(few, rows, shuffle_rows))
                peaks[rows * times].append(measured(many, rows * times, shuffle_rows))
            small, large = (min(values) for values in peaks.values())
            found[name] = {"few_mb": small, "many_mb": large, "growth": round(large / small - 1, 4)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Peak memory of training by rows of data")
    parser.add_argument("--small", action="store_true", help="a hundredth of the rows; checks the script, not memory")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--train", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--shuffle", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train_here(options.train, options.rows, options.shuffle)
        return
    found = compare(20_000, 2, 1) if options.small else compare(options.rows, options.times, options.repeats)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()

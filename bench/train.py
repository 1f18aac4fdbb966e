"""Speed of whole training runs beside a bare loop over ready tensors; prints one JSON line.

    python bench/train.py [--small] [--models deepfm din] [--threads 1 2]

`loop` is polyrec's own run from Parquet files: reader, features, collation, network, tables, updates. `bare` is the
least that the same model can cost: its network and its FBGEMM tables in a loop written by hand, over batches made
before the clock starts. `overhead` is the CPU time that a sample costs in the first over what it costs in the second.
`evaluate` and `predict` read the same files with the same weights.

Every figure comes from a process of its own and is the median over rounds; the kinds take turns within a round, so that
other load on the machine meets all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyrec.config import RunConfig

EXAMPLES = Path(__file__).parents[1] / "examples" / "torcheasyrec"
MODELS = {
    "deepfm": ("deepfm_criteo.config", "criteo", 8192),
    "din": ("multi_tower_din_taobao.config", "taobao", 4096),
}
"""Config, kind of data and batch size."""
KINDS = ("loop", "bare", "evaluate", "predict")
WARM_STEPS = 8
"""Steps before the clock starts: the first ones allocate."""
READY_BATCHES = 16


@dataclass(slots=True)
class Clock:
    """Wall and CPU time at the end of each step."""

    began: float = field(default_factory=time.perf_counter)
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def note(self) -> None:
        self.wall.append(time.perf_counter())
        self.cpu.append(time.process_time())

    def facts(self, batch_size: int, warm: int) -> dict[str, float]:
        samples = (len(self.wall) - 1 - warm) * batch_size
        return {
            "samples_per_s": samples / (self.wall[-1] - self.wall[warm]),
            "samples_per_cpu_s": samples / (self.cpu[-1] - self.cpu[warm]),
            "first_step_s": self.wall[0] - self.began,
        }


def configured(name: str, folder: Path, model_dir: str, steps: int, batch_size: int) -> RunConfig:
    """The example config on the data of `folder`, without saves, evaluations and TensorBoard."""
    from polyrec import dialects
    from polyrec.config import RunConfig

    run = dialects.load(str(EXAMPLES / MODELS[name][0])).config
    assert isinstance(run, RunConfig)
    data = {
        "train": (f"{folder}/train/*.parquet",),
        "evaluate": (f"{folder}/train/*.parquet",),
        "batch_size": batch_size,
        "eval_batch_size": batch_size,
        "drop_remainder": True,
    }
    saving = run.train.saving.model_copy(update={"every_steps": None, "every_epochs": None, "every_seconds": None})
    train = {"steps": steps, "epochs": None, "tensorboard": False, "evaluate_after_save": False, "saving": saving}
    return run.model_copy(
        update={
            "model_dir": model_dir,
            "data": run.data.model_copy(update=data),
            "train": run.train.model_copy(update=train),
        }
    )


def loop(run: RunConfig, warm: int) -> dict[str, float]:
    from polyrec import api

    clock = Clock()
    api.train(run, on_step=lambda *_: clock.note())
    return clock.facts(run.data.batch_size, warm)


def bare(run: RunConfig, warm: int) -> dict[str, float]:
    """No reader, no features, no log, no checkpoint: lookup, network, loss, backward, update."""
    from polyrec import api  # noqa: F401 - prepares the threads as a run does

    import torch  # isort: skip
    from torch.nn import functional

    from polyrec.data.batch import Collator
    from polyrec.data.files import expand
    from polyrec.data.loader import RowLoader
    from polyrec.embedding import Embedding
    from polyrec.recommender import Recommender

    reader, size = run.data.reader, run.data.batch_size
    loader = RowLoader(reader, expand(run.data.train, reader.suffixes()), run.columns, batch_size=size)
    collate = Collator(run, with_labels=True)
    batches = [collate(rows) for (rows, _), _ in zip(loader.batches(0), range(READY_BATCHES), strict=False)]
    batches = [batch for batch in batches if batch.size == size]
    clock = Clock()
    device = torch.device("cpu")
    recommender = Recommender(run, Embedding(run, device=device), device)
    optimizer = run.optim.dense.optimizer.dense(list(recommender.dense().values()))
    (task,) = run.tasks
    for number in range(run.train.steps or 0):
        batch = batches[number % len(batches)]
        logits, _ = recommender(batch)
        loss = functional.binary_cross_entropy_with_logits(logits[task.name][:, 0], batch.labels[task.label])
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        clock.note()
    return clock.facts(size, warm)


def trained(run: RunConfig) -> RunConfig:
    """One step, so that there is a checkpoint."""
    from polyrec import api

    api.train(run.model_copy(update={"train": run.train.model_copy(update={"steps": 1})}))
    return run


def timed(work: Callable[[], Any], rows: int) -> dict[str, float]:
    """Of the second call; the first one allocates."""
    work()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {
        "samples_per_s": rows / (time.perf_counter() - wall),
        "samples_per_cpu_s": rows / (time.process_time() - cpu),
    }


def evaluate(run: RunConfig, rows: int) -> dict[str, float]:
    from polyrec import api

    trained(run)
    return timed(lambda: api.evaluate(run), rows)


def predict(run: RunConfig, rows: int) -> dict[str, float]:
    from polyrec import api

    trained(run)
    output = str(Path(run.model_dir, "predictions"))
    return timed(lambda: api.predict_checkpoint(run, run.data.train, output, overwrite=True), rows)


def here(options: argparse.Namespace) -> None:
    """What a measured process does."""
    with tempfile.TemporaryDirectory() as model_dir:
        run = configured(options.model, options.data, model_dir, options.steps, options.batch)
        if options.kind in ("loop", "bare"):
            warm = min(WARM_STEPS, options.steps // 2)
            facts = {"loop": loop, "bare": bare}[options.kind](run, warm)
        else:
            facts = {"evaluate": evaluate, "predict": predict}[options.kind](run, options.rows)
    facts["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    sys.stdout.write(json.dumps(facts) + "\n")


def elsewhere(kind: str, name: str, threads: int, options: argparse.Namespace) -> dict[str, float]:
    """One measurement, in a new process."""
    words = [sys.executable, __file__, "--kind", kind, "--model", name, "--data", str(options.data / name)]
    words += [
        "--steps",
        str(options.steps),
        "--rows",
        str(options.rows),
        "--batch",
        str(options.batch or MODELS[name][2]),
    ]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, check=True, text=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)}
    )
    return json.loads(done.stdout)


def middle(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Medians, and how far apart the best and the worst round lie as a share of the median."""
    facts = {name: statistics.median(found[name] for found in rounds) for name in rounds[0]}
    speeds = [found["samples_per_cpu_s"] for found in rounds]
    facts["spread"] = (max(speeds) - min(speeds)) / facts["samples_per_cpu_s"]
    return {name: round(value, 3) if value < 100 else round(value) for name, value in facts.items()}


def compared(name: str, threads: int, options: argparse.Namespace) -> dict[str, Any]:
    rounds: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for _ in range(options.rounds):
        for kind, found in rounds.items():
            found.append(elsewhere(kind, name, threads, options))
    facts: dict[str, Any] = {kind: middle(found) for kind, found in rounds.items()}
    costs = [
        b["samples_per_cpu_s"] / a["samples_per_cpu_s"] for a, b in zip(rounds["loop"], rounds["bare"], strict=True)
    ]
    walls = [b["samples_per_s"] / a["samples_per_s"] for a, b in zip(rounds["loop"], rounds["bare"], strict=True)]
    return {
        **facts,
        "overhead": round(statistics.median(costs), 3),
        "overhead_wall": round(statistics.median(walls), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of training, evaluation and prediction")
    parser.add_argument("--small", action="store_true", help="a few steps on few rows; checks the script, not speed")
    parser.add_argument("--models", nargs="+", choices=tuple(MODELS), default=list(MODELS))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=0, help="another batch size than each model's own")
    for hidden in ("--kind", "--model"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help="folder to make the data in, or to find it in")
    options = parser.parse_args()
    if options.kind:
        here(options)
        return
    if options.small:
        options.rows, options.steps, options.rounds, options.threads, options.batch = 4_000, 6, 1, [1], 512
        options.models = options.models[:1]
    results: dict[str, Any] = {"bench": "train", "rows": options.rows, "steps": options.steps, "rounds": options.rounds}
    with tempfile.TemporaryDirectory() as scratch:
        options.data = options.data or Path(scratch)
        for name in options.models:
            prepare(name, options)
            for threads in options.threads:
                results[f"{name}_{threads}_threads"] = compared(name, threads, options)
    sys.stdout.write(json.dumps(results) + "\n")


def prepare(name: str, options: argparse.Namespace) -> None:
    from polyrec.demo import make_data

    folder = options.data / name
    if not (folder / "truth.json").exists():
        make_data(MODELS[name][1], str(folder), options.rows, seed=1, eval_rows=1000)


if __name__ == "__main__":
    main()

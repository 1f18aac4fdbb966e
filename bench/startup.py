"""From a command to its first training step, and how quickly the light commands answer; prints one JSON line.

    python bench/startup.py [--small] [--repeats 5]

The files of Python and of the libraries are in the operating system's memory after the first run, which is not
counted. `train` tells where the time to the end of the first step goes, in seconds from the start of the process.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CONFIG = Path(__file__).parents[1] / "examples" / "torcheasyrec" / "deepfm_criteo.config"
LIGHT = {"help": ["--help"], "check": ["check", str(CONFIG)]}
ROWS = 20_000


def train_here(folder: str, began: float) -> None:
    """The same steps as `polyrec train`, each with its time."""
    from polyrec.cli import train

    marks: dict[str, float] = {}

    def mark(name: str) -> None:
        marks.setdefault(name, round(time.time() - began, 3))

    with tempfile.TemporaryDirectory() as model_dir:
        words = [str(CONFIG), "--train", f"{folder}/train/*.parquet", "--evaluate", "--model-dir", model_dir]
        for setting in ("train.steps=2", "train.epochs=null"):
            words += ["--set", setting]
        config, _ = train.configured(train.flags().read(words))
        mark("config_read")
        from polyrec import api

        mark("libraries_loaded")
        api.train(config, on_step=lambda *_: mark("first_step"))
        mark("saved")
    used = resource.getrusage(resource.RUSAGE_SELF)
    sys.stdout.write(json.dumps({**marks, "cpu": round(used.ru_utime + used.ru_stime, 3)}) + "\n")


def command(words: list[str]) -> dict[str, float]:
    """Wall and CPU seconds of one polyrec command."""
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "polyrec", *words], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": time.perf_counter() - wall, "cpu": cpu}


def first_step(folder: str) -> dict[str, float]:
    words = [sys.executable, __file__, "--train", folder, "--began", str(time.time())]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout)


def middle(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Medians, and the best wall time beside them: other load can only add to that."""
    facts = {name: round(statistics.median(found[name] for found in rounds), 3) for name in rounds[0]}
    longest = "wall" if "wall" in rounds[0] else "first_step"
    return {**facts, f"best_{longest}": round(min(found[longest] for found in rounds), 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Seconds until a command answers or trains")
    parser.add_argument("--small", action="store_true", help="one run of each; checks the script, not speed")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--train", help=argparse.SUPPRESS)
    parser.add_argument("--began", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train_here(options.train, options.began)
        return
    from polyrec.demo import make_data

    repeats = 1 if options.small else options.repeats
    warm = 0 if options.small else 1
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in (*LIGHT, "train")}
    with tempfile.TemporaryDirectory() as folder:
        make_data("criteo", folder, ROWS, seed=1, eval_rows=10)
        for number in range(-warm, repeats):
            for name, rounds in found.items():
                facts = first_step(folder) if name == "train" else command(LIGHT[name])
                if number >= 0:
                    rounds.append(facts)
    results = {name: middle(rounds) for name, rounds in found.items()}
    sys.stdout.write(json.dumps({"bench": "startup", "repeats": repeats, **results}) + "\n")


if __name__ == "__main__":
    main()

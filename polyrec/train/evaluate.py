"""Metrics of a model on the evaluation data, during training or from a checkpoint."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from polyrec import checkpoint as checkpoints
from polyrec import runtime
from polyrec.config import RunConfig
from polyrec.data.faults import FaultCounts
from polyrec.distributed import Ranks, joined
from polyrec.embedding import Embedding
from polyrec.errors import ConfigError
from polyrec.recommender import Recommender
from polyrec.storage import mirror
from polyrec.storage.copies import shown as shown_path
from polyrec.tasks import Judge
from polyrec.train.board import Board
from polyrec.train.device import choose_device
from polyrec.train.progress import ProgressReport
from polyrec.train.source import Source
from polyrec.train.stop import StopRequest

log = logging.getLogger(__name__)


class Measured(NamedTuple):
    """What an evaluation finds, the same on every rank."""

    metrics: dict[str, float]
    """Every metric and loss."""
    faults: FaultCounts
    """What was wrong with the data."""


def measure(
    config: RunConfig, recommender: Recommender, ranks: Ranks, stop: StopRequest | None = None
) -> Measured | None:
    """Judge the model on the evaluation data; None when a signal has cut it short."""
    source = Source(config, config.data.evaluate, ranks, is_training=False)
    judge = Judge(config.tasks)
    meters = judge.meters()
    was_training = recommender.training
    recommender.eval()
    device = next(recommender.network.parameters()).device
    total = source.loader.about_rows() if config.evaluate.steps is None else None
    try:
        with torch.no_grad(), ProgressReport("evaluate", total=total, is_shown=ranks.is_first) as report:
            for number, turn in enumerate(source.turns(stop=stop), 1):
                if turn.is_last:
                    return None
                batch = turn.batch.to(device)
                logits, _ = recommender(batch)
                if batch.size:
                    meters.update(logits, batch)
                report.advance(turn.rows_everywhere)
                if number % config.evaluate.log_every == 0:
                    report.line({"batch": number})
                if config.evaluate.steps is not None and number >= config.evaluate.steps:
                    break
    finally:
        recommender.train(was_training)
        source.close()
    meters.merge(ranks.gather)
    return Measured(meters.compute(), source.faults())


def evaluate(config: RunConfig, *, checkpoint: str | None = None, result_file: str | None = None) -> dict[str, Any]:
    """Judge one checkpoint: the one named, the newest of the folder named, or the newest of the run."""
    return _evaluate(config, [checkpoints.locate(checkpoint or config.model_dir)], result_file)[0]


def evaluate_each(config: RunConfig, folder: str, result_file: str | None = None) -> list[dict[str, Any]]:
    """Judge every checkpoint of a folder, oldest first; a folder that is a checkpoint itself is judged alone."""
    place = checkpoints.place_of(folder)
    inner = checkpoints.found_in(place) or [place]
    return _evaluate(config, [checkpoints.locate(path) for path in inner], result_file)


def _evaluate(config: RunConfig, paths: list[Path], result_file: str | None) -> list[dict[str, Any]]:
    if not config.data.evaluate:
        raise ConfigError("data.evaluate: names no data to evaluate on; give --evaluate PATH or set it in the config")
    results: list[dict[str, Any]] = []
    with mirror.published(config.model_dir), joined(runtime.world(), choose_device().type) as ranks:
        for path in paths:
            result = _evaluate_one(config, path, ranks)
            if ranks.is_first:
                write_result(config, result["metrics"], result["step"], result_file)
            results.append({**result, "metrics": plain(result["metrics"])})
    return results


def _evaluate_one(config: RunConfig, path: Path, ranks: Ranks) -> dict[str, Any]:
    device = choose_device()
    embedding = Embedding(config, device=device, process_group=ranks.group)
    recommender = Recommender(config, embedding, device)
    checkpoints.load_weights(recommender.weights(), path)
    if config.optim.average is not None and config.evaluate.with_average:
        checkpoints.load_average(recommender.dense(), path, "evaluate.with_average")
    state = checkpoints.read_state(path) if (path / checkpoints.STATE).exists() else {"label": None}
    began = time.monotonic()
    measured = measure(config, recommender, ranks)
    assert measured is not None, "nothing asks it to stop"
    metrics = measured.metrics
    seconds = time.monotonic() - began
    if ranks.is_first:
        log.info("%s: %s", shown_path(path), shown(metrics))
        with Board(config, "eval") as board:
            board.metrics(metrics, state["label"] or 0)
    return {
        "checkpoint": shown_path(path),
        "step": state["label"],
        "metrics": metrics,
        "seconds": round(seconds, 3),
        "faults": measured.faults.facts(),
    }


def write_result(config: RunConfig, metrics: Mapping[str, float], step: int | None, name: str | None = None) -> Path:
    """Keep the result of an evaluation in the model folder, in the form that the config asks for."""
    path = _prepared(config, name or config.evaluate.result)
    if config.evaluate.result_form == "document":
        path.write_text(json.dumps(_facts(metrics, step), indent=2) + "\n", encoding="utf-8")
    else:
        _append(path, _facts(metrics, step))
    return path


def add_to_history(config: RunConfig, metrics: Mapping[str, float], step: int) -> None:
    """Add an evaluation during training to the run's history, one JSON line each."""
    _append(_prepared(config, config.evaluate.history), _facts(metrics, step))


def _prepared(config: RunConfig, name: str) -> Path:
    path = config.in_model_dir(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _append(path: Path, facts: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(facts) + "\n")


def _facts(metrics: Mapping[str, float], step: int | None) -> dict[str, Any]:
    return plain({"global_step": step, **dict(sorted(metrics.items()))})


def plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The same facts for JSON, which knows no NaN: a metric that is not defined on the data becomes null."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in facts.items()
    }


def shown(metrics: Mapping[str, float]) -> str:
    return " ".join(f"{name}: {value:.6f}" for name, value in sorted(metrics.items()))

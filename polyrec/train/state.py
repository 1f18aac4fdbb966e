"""Everything that a run must remember to go on exactly where it stopped, and its way into a checkpoint and back."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from polyrec import checkpoint
from polyrec.checkpoint import folder as whole
from polyrec.checkpoint import remote, tensors
from polyrec.config import RunConfig
from polyrec.distributed import Ranks
from polyrec.errors import CheckpointError
from polyrec.optim.average import WeightAverage
from polyrec.optim.build import DenseOptimizers
from polyrec.recommender import Recommender


@dataclass(slots=True)
class Progress:
    """How far the run is."""

    step: int = 0
    """Steps done."""
    epoch: int = 0
    """Passes over the data that are finished."""
    position: dict[str, Any] | None = None
    """Where this rank's next row of the current epoch is; None at the beginning of an epoch."""
    samples: int = field(default=0)
    """Rows trained on by all ranks."""


class TrainState:
    def __init__(self, config: RunConfig, recommender: Recommender, optimizers: DenseOptimizers, ranks: Ranks) -> None:
        self.config = config
        self.recommender = recommender
        self.optimizers = optimizers
        self.ranks = ranks
        self.progress = Progress()
        decay = config.optim.average
        self.average = WeightAverage(decay, recommender.dense()) if decay is not None else None

    # -- saving

    def save(self, path: checkpoint.Place, sample: bytes, label: int) -> None:
        """Write a checkpoint that appears under its name only when it is whole; call it on all ranks."""
        if isinstance(path, str):
            self._send(path, sample, label)
            return
        if self.ranks.is_first:
            whole.begin(path)
        self.ranks.wait()
        try:
            self._write(whole.unfinished(path), sample, label)
            if self.ranks.is_first:
                whole.finish(path, self._facts())
        except (CheckpointError, OSError) as error:
            # A disk that is full should not stay so.
            shutil.rmtree(whole.unfinished(path), ignore_errors=True)
            if isinstance(error, OSError):
                raise CheckpointError(f"{path}: cannot be written: {error.strerror or error}") from error
            raise
        self.ranks.wait()

    def _send(self, url: str, sample: bytes, label: int) -> None:
        """Each rank writes its part on its own machine and sends it; the first one sends the manifest after all."""
        upload = remote.Upload(url)
        try:
            if self.ranks.is_first:
                upload.begin()
            self.ranks.wait()
            self._write(upload.place, sample, label)
            entries = self.ranks.gather(upload.send())
            if self.ranks.is_first:
                upload.finish(self._facts(), {name: item for part in entries for name, item in part.items()})
        except OSError as error:
            raise CheckpointError(f"{url}: cannot be written: {error.strerror or error}") from error
        finally:
            upload.close()
        self.ranks.wait()

    def _facts(self) -> dict[str, object]:
        return {"polyrec_checkpoint": 1, "step": self.progress.step}

    def _write(self, place: Path, sample: bytes, label: int) -> None:
        tensors.save(self.recommender.weights(), place / checkpoint.MODEL)
        tensors.save(self._optimizer_tensors(), place / checkpoint.OPTIMIZER)
        if self.average is not None:
            tensors.save(self.average.held, place / checkpoint.AVERAGE)
        state = {"label": label, **self._run_state()}
        if self.ranks.is_first:
            (place / checkpoint.STATE).write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
            (place / checkpoint.SAMPLE).write_bytes(sample)
            text = self.config.model_dump_json(indent=1)
            (place / checkpoint.CONFIG).write_text(text + "\n", encoding="utf-8")

    def _run_state(self) -> dict[str, Any]:
        positions = self.ranks.gather(self.progress.position)
        random = self.ranks.gather(base64.b64encode(torch.get_rng_state().numpy().tobytes()).decode())
        return {
            "step": self.progress.step,
            "epoch": self.progress.epoch,
            "samples": self.progress.samples,
            "world": self.ranks.size,
            "positions": positions,
            "random": random,
        }

    def _optimizer_tensors(self) -> dict[str, Any]:
        tables = {f"tables.{name}": state for name, state in self.recommender.embedding.states().items()}
        return {**tables, **dense_states(self.recommender.dense(), self.optimizers)}

    # -- restoring

    def restore(self, path: Path, *, with_optimizer: bool = True) -> dict[str, Any]:
        """Take up the checkpoint; returns its run state, whose positions the data loader needs."""
        checkpoint.load_weights(self.recommender.weights(), path)
        if with_optimizer:
            differences = checkpoint.optimizer_differences(self.config, path)
            if differences:
                raise CheckpointError(
                    f"{path}: {'; '.join(differences)}; go on with the same optimizer, or take the weights alone with "
                    "--ignore-optimizer (--ignore_restore_optimizer)"
                )
            self.load_optimizer(path)
        state = checkpoint.read_state(path)
        if with_optimizer and self.average is not None and (path / checkpoint.AVERAGE).is_dir():
            tensors.load(self.average.held, path / checkpoint.AVERAGE)
            self.average.is_begun = state["step"] > 0
        self.progress.step = state["step"]
        self.progress.epoch = state["epoch"]
        self.progress.samples = state["samples"]
        self.recommender.embedding.step = state["step"]
        if state["world"] == self.ranks.size:
            raw = bytearray(base64.b64decode(state["random"][self.ranks.rank]))
            torch.set_rng_state(torch.frombuffer(raw, dtype=torch.uint8).clone())
        return state

    def load_optimizer(self, path: Path) -> None:
        """Fill what the optimizers remember of each weight that the checkpoint knows in the same shape."""
        saved = tensors.shapes(path / checkpoint.OPTIMIZER)
        tables = {f"tables.{name}": state for name, state in self.recommender.embedding.states().items()}
        tables = {name: state for name, state in tables.items() if name in saved and state.size() == saved[name][0]}
        named = self.recommender.dense()
        weights = tensors.shapes(path / checkpoint.MODEL)
        # What is remembered of a weight may have another shape than the weight, so the weights are compared.
        same = {name for name, weight in named.items() if weights.get(name, [None])[0] == weight.size()}
        dense: dict[str, Tensor] = {}
        for name, (size, dtype) in saved.items():
            owner, _, key = name.rpartition(".")
            if owner in same:
                device = named[owner].device if key != "step" else torch.device("cpu")
                dense[name] = torch.zeros(size, dtype=dtype, device=device)
        tensors.load({**tables, **dense}, path / checkpoint.OPTIMIZER)
        for name, tensor in dense.items():
            owner, _, key = name.rpartition(".")
            self.optimizers.state(owner)[key] = tensor


def dense_states(names: Iterable[str], optimizers: DenseOptimizers) -> dict[str, Tensor]:
    """What the optimizers remember of each weight, by the weight's name."""
    return {
        f"{name}.{key}": value
        for name in names
        for key, value in optimizers.state(name).items()
        if isinstance(value, Tensor)
    }

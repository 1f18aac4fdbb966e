"""When a checkpoint is due, what it is called, and which ones stay."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from polyrec import checkpoint
from polyrec.config import RunConfig
from polyrec.storage import last_name
from polyrec.train.state import TrainState

EFFECTIVE_CONFIG = "pipeline.config"


class Saver:
    def __init__(self, config: RunConfig, state: TrainState, sample: bytes) -> None:
        self.config = config
        self.saving = config.train.saving
        self.state = state
        self.sample = sample
        self.last_saved: int | None = None
        """Steps done at the last save."""
        self.last_path: checkpoint.Place | None = None
        self._last_time = time.monotonic()

    @property
    def label(self) -> int:
        """The current step as names and logs have it."""
        return max(0, self.state.progress.step - 1 + self.saving.first_step)

    def is_saved(self) -> bool:
        return self.last_saved == self.state.progress.step

    def is_due(self) -> bool:
        """Whether a checkpoint is due after the step that has just been done."""
        if self.saving.every_steps and self.label > 0 and self.label % self.saving.every_steps == 0:
            return True
        if not self.saving.every_seconds:
            return False
        # Clocks of ranks differ and all must come to the same answer, so the first rank's counts.
        is_time = self.state.ranks.is_first and time.monotonic() - self._last_time >= self.saving.every_seconds
        return self.state.ranks.sum([is_time])[0] > 0

    def is_due_after_epoch(self) -> bool:
        every = self.saving.every_epochs
        return bool(every) and self.state.progress.epoch % every == 0 and not self.is_saved()

    def save(self) -> checkpoint.Place:
        progress = self.state.progress
        # Folders are named by the epoch that the checkpoint belongs to, counted from 0.
        epoch = progress.epoch if progress.position is not None else max(0, progress.epoch - 1)
        name = self.saving.folder.format(step=self.label, epoch=epoch)
        path = checkpoint.place_of(self.config.model_dir, name)
        self.state.save(path, self.sample, self.label)
        self.last_saved, self.last_path = progress.step, path
        self._last_time = time.monotonic()
        return path

    def write_config(self) -> None:
        """The config in force, in the model folder, for later commands."""
        path = self.config.in_model_dir(EFFECTIVE_CONFIG)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.config.model_dump_json(indent=1) + "\n", encoding="utf-8")

    def note_metrics(self, path: checkpoint.Place, metrics: Mapping[str, float]) -> None:
        """Remember the best evaluation by the metric that exports go by."""
        name = self.config.export.metric
        value = metrics.get(name)
        if value is None or math.isnan(value):
            return
        best = checkpoint.read_best(self.config.model_dir)
        sign = 1 if self.config.export.larger_is_better else -1
        if best is None or best["metric"] != name or sign * value > sign * best["value"]:
            checkpoint.write_best(self.config.model_dir, last_name(path), name, value)

    def prune(self) -> None:
        if not self.state.ranks.is_first:
            return
        best = checkpoint.read_best(self.config.model_dir)
        parent = checkpoint.place_of(self.config.model_dir)
        checkpoint.prune(parent, self.saving.keep, [best["checkpoint"]] if best else [])

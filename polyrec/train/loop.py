"""Training, top to bottom: set up, step, log, save, evaluate, end."""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor

from polyrec import checkpoint, runtime
from polyrec.config import RunConfig
from polyrec.data.samples import sample_rows
from polyrec.distributed import Ranks, joined
from polyrec.embedding import Embedding
from polyrec.errors import CheckpointError, ConfigError, DataError
from polyrec.nn import share_statistics
from polyrec.optim.build import dense_optimizer, rate, set_rate
from polyrec.recommender import Recommender
from polyrec.storage import last_name, mirror
from polyrec.storage.copies import shown as shown_path
from polyrec.tasks import Judge
from polyrec.train.board import Board
from polyrec.train.device import choose_device
from polyrec.train.evaluate import add_to_history, measure, plain, shown
from polyrec.train.profile import profiling
from polyrec.train.progress import ProgressReport
from polyrec.train.recent import RecentMetrics
from polyrec.train.saver import Saver
from polyrec.train.source import Source, Turn
from polyrec.train.state import TrainState
from polyrec.train.stop import StopRequest, listening

log = logging.getLogger(__name__)

OnStep = Callable[[int, dict[str, float]], None]


def train(
    config: RunConfig, *, resume: bool = False, ignore_optimizer: bool = False, on_step: OnStep | None = None
) -> dict[str, Any]:
    """Train as the config says; `on_step` is called after every step with the losses over all ranks."""
    if not config.data.train:
        raise ConfigError("data.train: names no data to train on; give --train PATH or set it in the config")
    device = choose_device()
    with mirror.published(config.model_dir), joined(runtime.world(), device.type) as ranks, listening() as stop:
        run = TrainRun(config, ranks, stop, device, on_step)
        run.begin(resume=resume, ignore_optimizer=ignore_optimizer)
        run.go()
        return run.result()


class TrainRun:
    """One training run of one rank."""

    def __init__(
        self, config: RunConfig, ranks: Ranks, stop: StopRequest, device: torch.device, on_step: OnStep | None
    ) -> None:
        self.config = config
        self.ranks = ranks
        self.stop = stop
        self.device = device
        self.on_step = on_step
        self.source = Source(config, config.data.train, ranks, is_training=True)
        embedding = Embedding(config, device=device, process_group=ranks.group)
        self.recommender = Recommender(config, embedding, device)
        if ranks.size > 1:
            share_statistics(self.recommender, ranks.total)
        self.dense = list(self.recommender.dense().values())
        self.dense_optimizer = dense_optimizer(config.optim.dense, self.dense)
        self.judge = Judge(config.tasks)
        self.recent = RecentMetrics(config.tasks)
        self.state = TrainState(config, self.recommender, self.dense_optimizer, ranks)
        self.progress = self.state.progress
        self.saver = Saver(config, self.state, self._golden_rows())
        self.start = None
        self.named: dict[str, Tensor] = {}
        """This rank's share of the last step's losses."""
        self.losses: dict[str, float] = {}
        self.metrics: dict[str, float] = {}
        self.is_stopping = False

    def _golden_rows(self) -> bytes:
        """A few rows of the data, from which an export makes the examples that it is checked against."""
        loader = self.source.loader
        rows = sample_rows(self.config, loader.reader, loader.files, checkpoint.SAMPLE_ROWS)
        sink = io.BytesIO()
        with pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_batch(rows)
        return sink.getvalue()

    # -- beginning

    def begin(self, *, resume: bool, ignore_optimizer: bool) -> None:
        config, model_dir = self.config, checkpoint.place_of(self.config.model_dir)
        torch.manual_seed(config.train.seed + self.ranks.rank)
        newest = self.ranks.agree(self._newest(model_dir) if self.ranks.is_first else None)
        if newest is not None and not resume and config.train.saving.on_existing == "refuse":
            raise CheckpointError(
                f"{model_dir}: already holds {last_name(newest)}; go on from it with --resume (--continue_train), or "
                "choose another model_dir"
            )
        if self.ranks.is_first:
            checkpoint.tidy(model_dir)
        if newest is not None and resume:
            self._take_up(newest, with_optimizer=not ignore_optimizer)
        elif config.train.fine_tune_from is not None:
            self._fine_tune(config.train.fine_tune_from, with_optimizer=not ignore_optimizer)
        elif resume:
            log.info("%s holds no checkpoint yet; starting from the beginning", model_dir)
        if self.ranks.is_first:
            if self.saver.last_saved is None:
                checkpoint.forget_best(config.model_dir)
            self.saver.write_config()
            mirror.publish(config.model_dir)
        if config.train.saving.at_start and self.progress.step == 0:
            self.saver.save()

    def _newest(self, model_dir: checkpoint.Place) -> checkpoint.Place | None:
        checkpoint.put_back(model_dir)
        return checkpoint.newest(model_dir)

    def _take_up(self, path: checkpoint.Place, *, with_optimizer: bool) -> None:
        state = self.state.restore(checkpoint.here(path), with_optimizer=with_optimizer)
        self.saver.last_saved, self.saver.last_path = self.progress.step, path
        self.start = self.source.resume(state["positions"])
        if self.start is None and any(position is not None for position in state["positions"]):
            log.warning("the training data is not that of %s, so epoch %d starts over", path, self.progress.epoch)
        log.info("going on from %s: step %d, epoch %d", path, self.progress.step, self.progress.epoch)
        if self._is_over():
            log.info("nothing is left to do; ask for more with train.epochs or train.steps")

    def _fine_tune(self, path: str, *, with_optimizer: bool) -> None:
        source = checkpoint.locate(path, with_optimizer=with_optimizer)
        names = checkpoint.read_name_map(self.config.train.name_map)
        fresh = checkpoint.load_matching(self.recommender.weights(), source, names)
        log.info("weights start from %s", shown_path(source))
        if with_optimizer and not names and not checkpoint.optimizer_differences(self.config, source):
            self.state.load_optimizer(source)
            log.info("so does what the optimizers remember of them")
        if fresh:
            log.warning(
                "%s lacks %d weights, which start from their initial values: %s",
                shown_path(source),
                len(fresh),
                checkpoint.listed(fresh),
            )

    # -- the loop

    def go(self) -> None:
        began = time.monotonic()
        self.recommender.train()
        total, done = self._about_samples(), self.progress.samples
        report = ProgressReport("train", total=total, is_shown=self.ranks.is_first, done=done)
        with (
            report as self.report,
            Board(self.config, is_wanted=self.ranks.is_first) as self.board,
            Board(self.config, "eval_val", is_wanted=self.ranks.is_first) as self.eval_board,
            profiling(self.config, self.ranks) as self.tick,
        ):
            while not self._is_over():
                self._epoch_or_save()
            self.seconds, self.speed = time.monotonic() - began, report.samples_per_second
            if not self.saver.is_saved():
                self._save()
        self.losses = self._over_ranks(self.named) if self.named else {}
        self.faults = self.source.faults()
        # A signal may come after the last step and to some ranks only; what follows must be the same on all of them.
        self.is_stopping = self.is_stopping or self.ranks.sum([self.stop.is_made])[0] > 0

    def _about_samples(self) -> int | None:
        """Rows to train on in all, as far as that is known beforehand."""
        train, rows = self.config.train, self.source.loader.about_rows()
        found = [] if train.steps is None else [train.steps * self.config.data.batch_size * self.ranks.size]
        if train.epochs is not None and rows is not None:
            found.append(train.epochs * rows)
        return min(found, default=None)

    def _is_over(self) -> bool:
        train, progress = self.config.train, self.progress
        steps_done = train.steps is not None and progress.step >= train.steps
        epochs_done = train.epochs is not None and progress.epoch >= train.epochs
        return steps_done or epochs_done or self.is_stopping

    def _epoch_or_save(self) -> None:
        """An epoch; what was learned before a fault in the data is kept, where no other rank must take part in that."""
        try:
            self._epoch()
        except DataError:
            has_learned = self.progress.step > (self.saver.last_saved or 0)
            if self.ranks.size == 1 and has_learned:
                log.warning("saved %s before the fault in the data", self.saver.save())
            raise

    def _epoch(self) -> None:
        epoch, steps_before = self.progress.epoch, self.progress.step
        start, self.start = self.start, None
        for turn in self.source.turns(epoch, start, self.stop):
            self._step(turn)
            self.is_stopping = turn.is_last
            if self.saver.is_due():
                self._save()
            if self._is_over():
                return
        if self.progress.step == steps_before and start is None:
            if self.source.faults().left_out:
                raise DataError("data.train: no row of an epoch can be used, or too few for a batch")
            raise ConfigError("data.train: one epoch has no full batch; lower the batch size or keep the remainder")
        self.progress.epoch += 1
        self.progress.position = None
        if self.saver.is_due_after_epoch():
            self._save()

    def _step(self, turn: Turn) -> None:
        progress, learning = self.progress, self.config.optim
        counts = {"step": progress.step, "epoch": progress.epoch}
        tables, dense = learning.tables, learning.dense
        table_rate, dense_rate = rate(tables, **counts), rate(dense, **counts)
        self.recommender.embedding.set_rate(table_rate)
        set_rate(self.dense_optimizer, dense_rate)

        self.named = self._learn(turn)

        progress.step += 1
        self.recent.after(progress.step, self.ranks.gather)
        progress.samples += turn.rows_everywhere
        progress.position = turn.position.dump() if turn.position is not None else progress.position
        self.report.advance(turn.rows_everywhere)
        if self.on_step is not None or progress.step % self.config.train.log_every == 0:
            self._log({"lr/g0": table_rate, "lr/g1": dense_rate})
        self.tick()

    def _learn(self, turn: Turn) -> dict[str, Tensor]:
        """Forward, backward and the dense update; tables are updated inside backward."""
        batch = turn.batch.to(self.device)
        logits, vectors = self.recommender(batch)
        loss, named = self.judge.loss(logits, batch, turn.divisors)
        # The ranks' shares add up to the loss over all rows, and their gradients are averaged.
        objective = loss * self.ranks.size + self._penalty(vectors)
        self.dense_optimizer.zero_grad(set_to_none=False)
        objective.backward()
        self.ranks.average([weight.grad for weight in self.dense if weight.grad is not None])
        limit = self.config.optim.dense.clip_gradient
        if limit is not None:
            torch.nn.utils.clip_grad_norm_(self.dense, limit)
        self.dense_optimizer.step()
        self.recent.update(logits, batch)
        return {**named, "total": loss.detach()}

    def _penalty(self, vectors: list[Tensor]) -> Tensor | float:
        train = self.config.train
        penalty: Tensor | float = 0.0
        if train.output_penalty:
            # A sum over rows, so it must not shrink when gradients are averaged over ranks.
            penalty = penalty + 0.5 * train.output_penalty * self.ranks.size * _squares(vectors)
        if train.kernel_penalty:
            penalty = penalty + 0.5 * train.kernel_penalty * _squares(self.recommender.kernels())
        return penalty

    # -- telling

    def _over_ranks(self, named: dict[str, Tensor]) -> dict[str, float]:
        return dict(zip(named, self.ranks.sum([float(value) for value in named.values()]), strict=True))

    def _log(self, rates: dict[str, float]) -> None:
        self.losses = self._over_ranks(self.named)
        label = self.saver.label
        if self.on_step is not None:
            self.on_step(self.progress.step, self.losses)
        if self.progress.step % self.config.train.log_every or not self.report.is_due():
            return
        facts = {"step": label, "epoch": self.progress.epoch, "loss": self.losses["total"], "lr": rates["lr/g1"]}
        self.report.line({**facts, **self.recent.values})
        scalars = {f"loss/{name}": value for name, value in self.losses.items()}
        scalars |= {f"metric/{name}": value for name, value in self.recent.values.items()}
        self.board.scalars({**scalars, **rates}, label)

    def _save(self) -> None:
        path = self.saver.save()
        if self.config.train.evaluate_after_save and self.config.data.evaluate and not self.is_stopping:
            self._evaluate(path)
        self.saver.prune()
        self.board.flush()
        self.eval_board.flush()
        mirror.publish(self.config.model_dir)

    def _evaluate(self, path: checkpoint.Place) -> None:
        measured = measure(self.config, self.recommender, self.ranks, self.stop)
        if measured is None:
            self.is_stopping = True
            return
        self.metrics = measured.metrics
        if not self.ranks.is_first:
            return
        log.info("evaluation at step %d: %s", self.saver.label, shown(self.metrics))
        add_to_history(self.config, self.metrics, self.saver.label)
        self.saver.note_metrics(path, self.metrics)
        self.eval_board.metrics(self.metrics, self.saver.label)

    def result(self) -> dict[str, Any]:
        return {
            "model_dir": self.config.model_dir,
            "checkpoint": shown_path(self.saver.last_path) if self.saver.last_path else None,
            "step": self.saver.label,
            "steps": self.progress.step,
            "epochs": self.progress.epoch,
            "samples": self.progress.samples,
            "seconds": round(self.seconds, 3),
            "samples_per_second": round(self.speed, 1),
            "losses": plain(self.losses),
            "metrics": plain(self.metrics),
            "train_metrics": self.recent.values,
            "faults": self.faults.facts(),
            "stopped_by_signal": self.stop.number if self.is_stopping else None,
            "exit_code": self.stop.exit_code if self.is_stopping else 0,
        }


def _squares(tensors: list[Tensor]) -> Tensor | float:
    """Sum over all numbers; a model need not have any that a penalty counts."""
    return torch.stack([tensor.square().sum() for tensor in tensors]).sum() if tensors else 0.0

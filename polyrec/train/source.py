"""From paths to batches: one rank's share, prepared ahead in a thread and given out in step with the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from polyrec.config import RunConfig
from polyrec.data.batch import Batch, Collator, empty
from polyrec.data.columns import RowError
from polyrec.data.faults import FaultCounts, summed
from polyrec.data.files import agreed
from polyrec.data.loader import RowLoader
from polyrec.data.masking import generator, hide, hide_added
from polyrec.data.numbers import costs
from polyrec.data.position import Position
from polyrec.data.prefetch import Prefetch
from polyrec.data.samplers import EVALUATION, TRAINING, Sampled, random_for
from polyrec.data.sift import Sieve, Stage
from polyrec.distributed import Ranks
from polyrec.tasks import Judge
from polyrec.train.stop import StopRequest

log = logging.getLogger(__name__)

PREPARED_AHEAD = 2


@dataclass(frozen=True, slots=True)
class Turn:
    """What one rank does in one step."""

    batch: Batch
    rows_everywhere: int
    """Rows of all ranks in this step."""
    divisors: list[float]
    """For each task, what the sum of all ranks' row losses is divided by."""
    position: Position | None
    """Where this rank's next row is after it."""
    is_last: bool
    """Whether some rank has been asked to stop; all of them leave after the same step."""


class Source:
    """The batches of a data set that fall to this rank."""

    def __init__(self, config: RunConfig, paths: Sequence[str], ranks: Ranks, *, is_training: bool) -> None:
        data = config.data
        self._ranks = ranks
        self._config = config
        self._collate = Collator(config, with_labels=True)
        self._sampler = data.sampler.open(is_training=is_training) if data.sampler else None
        self._kind = TRAINING if is_training else EVALUATION
        self._judge = Judge(config.tasks)
        self._masking = data.masking if is_training else None
        self._cost = None
        if is_training and data.cost_column is not None and data.cost_limit is not None:
            self._cost = (data.cost_column, data.cost_limit)
        self._reader = data.reader
        self._is_training = is_training
        self._columns = config.columns if self._cost is None else tuple(dict.fromkeys((*config.columns, self._cost[0])))
        self.loader = self._loader(agreed(data.reader, paths, self._columns, ranks))

    def _loader(self, files: Sequence[str]) -> RowLoader:
        data, is_training = self._config.data, self._is_training
        return RowLoader(
            data.reader,
            files,
            self._columns,
            batch_size=data.batch_size if is_training else data.eval_batch_size,
            rank=self._ranks.rank,
            world=self._ranks.size,
            drop_remainder=is_training and data.drop_remainder,
            shuffle_rows=data.shuffle_rows if is_training else 0,
            shuffled_files=is_training and data.file_order == "shuffled",
            seed=self._config.train.seed,
            by_file=data.dealing == "each_file",
            sieve=self._sieve(),
            cost=self._cost,
            shuffle_bytes=data.memory // 2,
        )

    def _sieve(self) -> Sieve | None:
        faults = self._config.data.faults
        if faults.policy == "fail":
            return None
        stages, required = self._collate.stages(), list(self._collate.required)
        if self._sampler is not None:
            stages.insert(0, Stage(self._try_sampler))
        if self._cost is not None:
            stages.insert(0, Stage(partial(costs, name=self._cost[0])))
            required.append(self._cost[0])
        return Sieve(faults, stages, required)

    def close(self) -> None:
        """Nothing is read any more."""
        self._reader.release(self.loader.files)

    def resume(self, positions: Sequence[dict[str, Any] | None]) -> Position | None:
        """Where this rank goes on, from what all ranks of the earlier run noted; None is the beginning of an epoch."""
        if all(position is None for position in positions):
            return None
        found = [Position.load(position) for position in positions if position is not None]
        files = next((position.files for position in found if position.files), ())
        if files:
            # The order of the rows is known only by these names.
            if not self._ranks.agree(self._reader.is_there(files) if self._ranks.is_first else False):
                return None
            self.close()
            self.loader = self._loader(files)
        if not all(map(self.loader.fits, found)):
            return None
        # A rank whose share is empty has not moved; it stands at the beginning of the epoch that the others are in.
        begin = self.loader.begin(found[0].epoch)
        return self.loader.resume([begin if position is None else Position.load(position) for position in positions])

    def turns(self, epoch: int = 0, start: Position | None = None, stop: StopRequest | None = None) -> Iterator[Turn]:
        """Every batch of an epoch; a rank that has run out gets empty ones until the last rank has."""
        stop = stop or StopRequest()
        nothing = empty(self._config)
        batches = self.loader.prepared(self._prepare(epoch), epoch, start)
        memory = self._config.data.memory // 2
        with Prefetch(batches, PREPARED_AHEAD, lambda item: item[0].nbytes, memory) as prepared:
            while True:
                batch, position = next(prepared, (nothing, None))
                # One message tells every rank all that the step needs of the others.
                rows, stops, *divisors = self._ranks.sum([batch.size, stop.is_made, *self._judge.divisors(batch)])
                if not rows:
                    self._tell()
                    return
                yield Turn(batch, int(rows), divisors, position, stops > 0)

    def _prepare(self, epoch: int) -> Callable[[pa.RecordBatch, int], Batch]:
        """What makes a batch of rows, from them and their number in the epoch."""

        def prepare(rows: pa.RecordBatch, number: int) -> Batch:
            if self._cost is not None and self.loader.sieve is not None:
                # Where a cost that cannot be used is no error, batches are cut as if it were 0.
                costs(rows, self._cost[0])
            sampled = self._sampled(rows, epoch, number)
            try:
                return self._collate(sampled)
            except RowError as error:
                if error.row < rows.num_rows:
                    raise
                raise error.at(sampled.place(error.row - rows.num_rows)) from error

        return prepare

    def _sampled(self, rows: pa.RecordBatch, epoch: int, number: int) -> Sampled:
        """The rows, marked where features are hidden, and the items that join them, marked likewise."""
        seed, rank, masking = self._config.train.seed, self._ranks.rank, self._masking
        hiding = generator(seed, epoch, rank, number) if masking else None
        if masking and hiding:
            rows = hide(rows, masking.probability, hiding)
        if self._sampler is None:
            return Sampled(rows)
        found = self._sampler(rows, random_for(seed, self._kind, epoch, rank, number))
        if masking and hiding:
            probability = masking.negative_probability
            if found.items is not None:
                return replace(found, items=hide(found.items, probability, hiding))
            return replace(found, rows=hide_added(found.rows, rows.num_rows, probability, hiding))
        return found

    def _try_sampler(self, rows: pa.RecordBatch) -> None:
        """Fails for rows that the sampler cannot use."""
        assert self._sampler is not None
        self._sampler(rows, random_for(self._config.train.seed, self._kind, 0, self._ranks.rank, 0))

    def faults(self) -> FaultCounts:
        """Those of all ranks in all passes, on every rank."""
        return FaultCounts() if self.loader.faults is None else summed(self._ranks.gather(self.loader.faults.all))

    def _tell(self) -> None:
        """Sum up the faults of a pass that all ranks have come to the end of."""
        if self.loader.faults is None:
            return
        found = summed(self._ranks.gather(self.loader.faults.of_pass))
        if found.total and self._ranks.is_first:
            log.warning("faults in the data of this pass: %s", found.table())

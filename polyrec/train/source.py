"""From paths to batches: one rank's share, prepared ahead in a thread and given out in step with the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from polyrec.config import RunConfig
from polyrec.data.batch import Batch, Collator, empty
from polyrec.data.faults import FaultCounts, summed
from polyrec.data.files import expand
from polyrec.data.loader import RowLoader
from polyrec.data.masking import generator, hide
from polyrec.data.numbers import costs
from polyrec.data.position import Position
from polyrec.data.prefetch import Prefetch
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
        self._judge = Judge(config.tasks)
        masking = data.masking if is_training else None
        self._hidden_share = masking.probability if masking else 0.0
        cost = None
        if is_training and data.cost_column is not None and data.cost_limit is not None:
            cost = (data.cost_column, data.cost_limit)
        self.loader = RowLoader(
            data.reader,
            expand(paths, data.reader.suffixes()),
            config.columns if cost is None else tuple(dict.fromkeys((*config.columns, cost[0]))),
            batch_size=data.batch_size if is_training else data.eval_batch_size,
            rank=ranks.rank,
            world=ranks.size,
            drop_remainder=is_training and data.drop_remainder,
            shuffle_rows=data.shuffle_rows if is_training else 0,
            shuffled_files=is_training and data.file_order == "shuffled",
            seed=config.train.seed,
            sieve=self._sieve(cost),
            cost=cost,
            shuffle_bytes=data.memory // 2,
        )

    def _sieve(self, cost: tuple[str, float] | None) -> Sieve | None:
        faults = self._config.data.faults
        if faults.policy == "fail":
            return None
        stages, required = self._collate.stages(), list(self._collate.required)
        if cost is not None:
            stages.insert(0, Stage(partial(costs, name=cost[0])))
            required.append(cost[0])
        return Sieve(faults, stages, required)

    def resume(self, positions: Sequence[dict[str, Any] | None]) -> Position | None:
        """Where this rank goes on, from what all ranks of the earlier run noted; None is the beginning of an epoch."""
        if all(position is None for position in positions):
            return None
        found = [Position.load(position) for position in positions if position is not None]
        if not all(map(self.loader.fits, found)):
            return None
        # A rank whose share is empty has not moved; it stands at the beginning of the epoch that the others are in.
        begin = Position(epoch=found[0].epoch, data=self.loader.data)
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
        def prepare(rows: pa.RecordBatch, number: int) -> Batch:
            if self._hidden_share:
                random = generator(self._config.train.seed, epoch, self._ranks.rank, number)
                rows = hide(rows, self._hidden_share, random)
            return self._collate(rows)

        return prepare

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

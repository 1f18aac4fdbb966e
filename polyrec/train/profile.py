"""A trace of a few steps, when the config asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import profiler

from polyrec.config import RunConfig
from polyrec.distributed import Ranks

FOLDER = "train_eval_trace"
WAIT, WARM_UP, ACTIVE = 1, 1, 10


@contextmanager
def profiling(config: RunConfig, ranks: Ranks) -> Iterator[Callable[[], None]]:
    """Gives what must be called after each step; the trace lies in the model folder when the block ends."""
    if not config.train.profile:
        yield lambda: None
        return
    folder = config.in_model_dir(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)

    def write(trace: profiler.profile) -> None:
        trace.export_chrome_trace(str(folder / f"rank{ranks.rank}.json"))

    schedule = profiler.schedule(wait=WAIT, warmup=WARM_UP, active=ACTIVE, repeat=1)
    with profiler.profile(schedule=schedule, on_trace_ready=write, record_shapes=True, profile_memory=True) as trace:
        yield trace.step

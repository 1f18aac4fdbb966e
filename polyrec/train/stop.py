"""Being asked to stop: the step under way is finished, a checkpoint is saved, the exit code names the signal."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

log = logging.getLogger(__name__)


class StopRequest:
    """Which signal has asked this run to stop, if any."""

    def __init__(self) -> None:
        self.signal: int = 0

    @property
    def is_made(self) -> bool:
        return self.signal != 0

    @property
    def number(self) -> int:
        """What ends the run; a rank that stops because another was asked to ends as if by SIGTERM."""
        return int(self.signal or signal.SIGTERM)

    @property
    def exit_code(self) -> int:
        """As shells have it."""
        return 128 + self.number

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.is_made:
            raise KeyboardInterrupt
        self.signal = number
        log.warning("%s: saving a checkpoint, then stopping; once more stops at once", signal.Signals(number).name)


@contextmanager
def listening() -> Iterator[StopRequest]:
    """Note SIGTERM and Ctrl-C while the block runs; only a main thread can."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.signal(number, request._note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""What people see while a run goes on: a bar on a terminal, plain lines elsewhere, never more than one a second."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

log = logging.getLogger(__name__)


class ProgressReport(AbstractContextManager["ProgressReport"]):
    """Reports steps with speed and time left; `total` is in samples, None when the end is not known."""

    def __init__(self, title: str, *, total: int | None, is_shown: bool = True, done: int = 0) -> None:
        self.title = title
        self.total = total
        self.is_shown = is_shown
        self.started = self._last_line = time.monotonic()
        self._done_at_start = self._done = done
        self._bar: Bar | None = None
        self._bar_task: Any = None

    def __enter__(self) -> Self:
        if self.is_shown and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[text]}"),
                TimeRemainingColumn(),
            )
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar_task = self._bar.add_task(self.title, total=self.total, completed=self._done, text="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def samples_per_second(self) -> float:
        seconds = time.monotonic() - self.started
        return (self._done - self._done_at_start) / seconds if seconds > 0 else 0.0

    def is_due(self) -> bool:
        """Whether a second has passed since the last line."""
        return time.monotonic() - self._last_line >= 1.0

    def advance(self, samples: int) -> None:
        self._done += samples
        if self._bar is not None:
            self._bar.update(self._bar_task, completed=self._done)

    def line(self, values: Mapping[str, float | int | str]) -> None:
        """One line of facts; the caller decides how often, this keeps them a second apart."""
        if not self.is_shown or not self.is_due():
            return
        self._last_line = time.monotonic()
        shown = {**values, "samples/s": f"{self.samples_per_second:,.0f}", **self._time_left()}
        text = " ".join(f"{name} {_short(value)}" for name, value in shown.items())
        if self._bar is not None:
            self._bar.update(self._bar_task, text=text)
        else:
            log.info("%s: %s", self.title, text)

    def _time_left(self) -> dict[str, str]:
        speed = self.samples_per_second
        if self.total is None or self._bar is not None or speed <= 0:
            return {}
        seconds = int(max(0, self.total - self._done) / speed)
        return {"left": f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"}


def _short(value: float | int | str) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    return str(value)

"""TensorBoard events of a run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from polyrec.config import RunConfig

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


class Board(AbstractContextManager["Board"]):
    """Scalars for TensorBoard in the model folder, or nothing when the config wants none."""

    def __init__(self, config: RunConfig, folder: str = "", *, is_wanted: bool = True) -> None:
        self._path = str(config.in_model_dir(folder))
        self._is_wanted = is_wanted and config.train.tensorboard
        self._writer: SummaryWriter | None = None

    def _open(self) -> SummaryWriter | None:
        # The writer's package takes a second to load, so it is not loaded before the first value.
        if self._writer is None and self._is_wanted:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(self._path)
        return self._writer

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        writer = self._open()
        if writer is not None:
            for name, value in values.items():
                writer.add_scalar(name, value, step)

    def metrics(self, metrics: Mapping[str, float], step: int) -> None:
        self.scalars({f"metric/{name}": value for name, value in metrics.items()}, step)
        self.flush()  # evaluations are far apart, so each is shown at once

    def flush(self) -> None:
        if self._writer is not None:
            self._writer.flush()

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

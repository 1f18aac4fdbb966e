"""Runs one after another, as one config file may ask for them. Imports no torch."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from polyrec.catalog import Frozen
from polyrec.config import CONFIG_VERSION, RunConfig


class Step(Frozen):
    """One part of a workflow: a verb and the run it applies to."""

    verb: Literal["train", "evaluate"]
    run: RunConfig
    checkpoint: str | None = None
    """For `evaluate`: a checkpoint, or a folder of them, each evaluated in turn."""


class Workflow(Frozen):
    """Runs to be done one after another."""

    polyrec_workflow: Literal[1] = CONFIG_VERSION
    steps: tuple[Step, ...] = Field(min_length=1)

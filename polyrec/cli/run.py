"""polyrec run: do every step of a workflow in order; a plain config is trained."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from polyrec.cli import configs
from polyrec.cli.flags import Flags

if TYPE_CHECKING:
    from polyrec.workflow import Step


def flags() -> Flags:
    return configs.config_flags("polyrec run", __doc__ or "")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    loaded = configs.load(arguments)
    steps = configs.steps_of(loaded, "train")
    for step in steps:
        configs.check_data(step.run, step.verb, configs.origins_of(loaded, step.run))
    results: list[dict[str, Any]] = []
    for step in steps:
        with configs.placed(configs.origins_of(loaded, step.run)):
            result = _do(step)
        result.pop("exit_code", None)  # the command's own exit code speaks for all of its steps
        results.append({"verb": step.verb, "name": step.run.name, **result})
        if result.get("stopped_by_signal"):
            return {"steps": results, "stopped_by_signal": result["stopped_by_signal"]}
    return {"steps": results}


def _do(step: Step) -> dict[str, Any]:
    from polyrec import api

    if step.verb == "train":
        return api.train(step.run)
    if step.checkpoint is None:
        return api.evaluate(step.run)
    return {"checkpoints": api.evaluate_each(step.run, step.checkpoint)}

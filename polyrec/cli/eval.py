"""polyrec eval: evaluate a checkpoint, by default the newest."""

from __future__ import annotations

import argparse
from typing import Any

from polyrec.cli import configs
from polyrec.cli.flags import Flags
from polyrec.workflow import Workflow


def flags() -> Flags:
    found = configs.config_flags("polyrec eval", __doc__ or "")
    found.add_argument("--model-dir", metavar="DIR", help="folder of the checkpoints and of the result")
    found.add_argument("--checkpoint", metavar="PATH", help="checkpoint, or folder of them")
    configs.add_data_options(found, "evaluate")
    found.add_argument("--result-file", metavar="NAME", help="file in the model folder that the result goes to")
    configs.add_faults_option(found)
    configs.add_step_option(found)
    return found


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    loaded = configs.load(arguments)
    config, folder = loaded.config, None
    if isinstance(config, Workflow):
        step = configs.choose_step(loaded, "evaluate", arguments.step)
        config, folder = step.run, step.checkpoint
    origins = configs.origins_of(loaded, config)
    config = configs.with_paths(config, model_dir=arguments.model_dir, evaluate=arguments.evaluate)
    configs.check_data(config, "evaluate", origins)
    from polyrec import api

    if folder is not None and arguments.checkpoint is None:
        return {"checkpoints": api.evaluate_each(config, folder, arguments.result_file)}
    return api.evaluate(config, checkpoint=arguments.checkpoint, result_file=arguments.result_file)

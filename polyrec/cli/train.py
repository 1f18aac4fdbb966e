"""polyrec train: train a model, evaluating and saving as the config says."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from polyrec.cli import configs
from polyrec.cli.flags import Flags
from polyrec.errors import Origin

if TYPE_CHECKING:
    from polyrec.config import RunConfig


def flags() -> Flags:
    found = configs.config_flags("polyrec train", __doc__ or "")
    found.add_argument("--model-dir", metavar="DIR", help="folder for checkpoints, logs and results")
    configs.add_data_options(found, "train", "evaluate")
    found.add_argument(
        "--resume", action="store_true", help="go on from the newest whole checkpoint of the model folder"
    )
    found.add_argument("--fine-tune", metavar="PATH", help="checkpoint, or folder of them, that weights start from")
    found.add_argument("--ignore-optimizer", action="store_true", help="take weights only, not the optimizer's state")
    configs.add_faults_option(found)
    configs.add_step_option(found)
    return found


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    config, origins = configured(arguments)
    configs.check_data(config, "train", origins)
    from polyrec import api

    with configs.placed(origins):
        return api.train(config, resume=arguments.resume, ignore_optimizer=arguments.ignore_optimizer)


def configured(arguments: argparse.Namespace) -> tuple[RunConfig, Mapping[str, Origin]]:
    """The run that the flags ask for, and where the config's values were read."""
    loaded = configs.load(arguments)
    given = configs.choose_step(loaded, "train", arguments.step).run
    config = configs.with_paths(
        given, model_dir=arguments.model_dir, train=arguments.train, evaluate=arguments.evaluate
    )
    if arguments.fine_tune:
        config = config.model_copy(
            update={"train": config.train.model_copy(update={"fine_tune_from": arguments.fine_tune})}
        )
    return config, configs.origins_of(loaded, given)

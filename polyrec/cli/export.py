"""polyrec export: write a folder that predicts without the training code, config or data."""

from __future__ import annotations

import argparse
from typing import Any

from polyrec.cli import configs
from polyrec.cli.flags import Flags, names


def flags() -> Flags:
    found = configs.config_flags("polyrec export", __doc__ or "")
    found.add_argument("--to", required=True, metavar="DIR", help="folder to write")
    found.add_argument("--model-dir", metavar="DIR", help="folder of the checkpoints")
    found.add_argument("--checkpoint", metavar="PATH", help="checkpoint; the config chooses if left out")
    found.add_argument("--assets", metavar="a,b", help="files copied into the folder; new/name:file renames one")
    configs.add_step_option(found)
    return found


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    step = configs.choose_step(configs.load(arguments), "train", arguments.step)
    config = configs.with_paths(step.run, model_dir=arguments.model_dir)
    configs.check_place(arguments.to)
    from polyrec import api

    return api.export(config, arguments.to, checkpoint=arguments.checkpoint, assets=names(arguments.assets))

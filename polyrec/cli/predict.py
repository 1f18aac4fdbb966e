"""polyrec predict: score rows with an exported model folder, or with a checkpoint and its config."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from polyrec.cli import configs
from polyrec.cli.flags import Flags, above_zero, choice, names, paths
from polyrec.errors import ConfigError


def flags() -> Flags:
    found = Flags("polyrec predict", __doc__)
    found.add_argument("model", nargs="?", metavar="MODEL", help="folder that `polyrec export` wrote")
    found.add_argument("--config", metavar="CONFIG", help="predict with a checkpoint of this config instead")
    found.add_argument("--checkpoint", metavar="PATH", help="with --config: which checkpoint, the newest if left out")
    found.add_argument("--model-dir", metavar="DIR", help="with --config: folder of the checkpoints")
    found.add_argument("--input", nargs="+", required=True, metavar="PATH", help="files, folders or globs to score")
    found.add_argument("--output", required=True, metavar="DIR", help="folder for the scored rows")
    found.add_argument("--reserve", metavar="a,b", help="input columns to copy; ALL_COLUMNS takes every one")
    found.add_argument("--columns", metavar="a,b", help="predictions to write, all if left out")
    found.add_argument("--batch-size", type=above_zero, metavar="ROWS", help="rows scored together")
    found.add_argument("--format", type=choice("parquet", "csv"), metavar="parquet|csv", help="file format to write")
    found.add_argument("--steps", type=above_zero, metavar="N", help="batches to score, all if left out")
    found.add_argument("--overwrite", action="store_true", help="replace the parts that the output folder holds")
    configs.add_faults_option(found)
    configs.add_config_options(found)
    configs.add_step_option(found)
    return found


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    if (arguments.model is None) == (arguments.config is None):
        raise ConfigError("polyrec predict: needs either a MODEL folder or --config, not both")
    inputs, output = paths(arguments.input), arguments.output
    for path in (*inputs, output):
        configs.check_place(path)
    options: dict[str, Any] = {
        "reserve": names(arguments.reserve),
        "columns": names(arguments.columns),
        "batch_size": arguments.batch_size,
        "format": arguments.format,
        "steps": arguments.steps,
        "overwrite": arguments.overwrite,
        "faults": arguments.faults,
    }
    if arguments.model is not None:
        _only_with_config(arguments)
        if Path(arguments.model).is_file():
            hint = f"did you mean --config {arguments.model}?"
            raise ConfigError(f"polyrec predict: {arguments.model} is a file, and MODEL a folder; {hint}")
        configs.add_plugins(arguments)
        from polyrec import api

        return api.predict(arguments.model, inputs, output, **options)
    step = configs.choose_step(configs.load(arguments), "train", arguments.step)
    config = configs.with_paths(step.run, model_dir=arguments.model_dir)
    from polyrec import api

    return api.predict_checkpoint(config, inputs, output, checkpoint=arguments.checkpoint, **options)


def _only_with_config(arguments: argparse.Namespace) -> None:
    given = [name for name in ("checkpoint", "model_dir", "set", "edit", "dialect", "step") if getattr(arguments, name)]
    if given:
        raise ConfigError(f"polyrec predict: --{given[0].replace('_', '-')} needs --config; a MODEL folder is complete")

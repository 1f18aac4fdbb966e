"""tzrec.train_eval as `polyrec train`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polyrec.cli import upstream

PROG = "tzrec.train_eval"


def command(argv: Sequence[str]) -> list[str]:
    flags = upstream.UpstreamFlags(PROG, __doc__)
    flags.values("pipeline_config_path", "train_input_path", "eval_input_path", "model_dir")
    flags.values("fine_tune_checkpoint", "edit_config_json")
    flags.switches("continue_train", "ignore_restore_optimizer")
    found = flags.read(argv)
    upstream.required(found, PROG, ["pipeline_config_path"])
    words = ["train", found.pipeline_config_path]
    words += upstream.options(
        found, {"model_dir": "--model-dir", "fine_tune_checkpoint": "--fine-tune", "edit_config_json": "--edit"}
    )
    words += ["--resume"] if upstream.is_on(found.continue_train) else []
    words += ["--ignore-optimizer"] if upstream.is_on(found.ignore_restore_optimizer) else []
    return words + upstream.path_options(found, {"train_input_path": "--train", "eval_input_path": "--evaluate"})


if __name__ == "__main__":
    sys.exit(upstream.forward(command))

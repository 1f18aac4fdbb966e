"""easy_rec.python.eval as `polyrec eval`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polyrec.cli import upstream

from . import saved

PROG = "easy_rec.python.eval"

REFUSED = {
    "distribute_eval": "start it with torchrun for several processes; each reads its own part of the rows",
    "odps_config": "set the variable ODPS_CONFIG_FILE_PATH to this path instead",
    "is_on_ds": f"{upstream.NOT_YET}; use torchrun for several processes",
}


def command(argv: Sequence[str]) -> list[str]:
    flags = upstream.UpstreamFlags(PROG, __doc__)
    flags.values("pipeline_config_path", "checkpoint_path", "model_dir", "eval_result_path")
    flags.lists("eval_input_path")
    flags.refuse(REFUSED)
    flags.ignore({"nodistribute_eval": "it is the default"})
    found = flags.read(argv)
    words = ["eval", saved.config_path(found, PROG)]
    words += upstream.options(
        found, {"model_dir": "--model-dir", "checkpoint_path": "--checkpoint", "eval_result_path": "--result-file"}
    )
    return words + upstream.path_options(found, {"eval_input_path": "--evaluate"})


if __name__ == "__main__":
    sys.exit(upstream.forward(command))

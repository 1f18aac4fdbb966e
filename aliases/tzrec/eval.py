"""tzrec.eval as `polyrec eval`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polyrec.cli import upstream

PROG = "tzrec.eval"


def command(argv: Sequence[str]) -> list[str]:
    flags = upstream.UpstreamFlags(PROG, __doc__)
    flags.values("pipeline_config_path", "checkpoint_path", "eval_input_path", "eval_result_filename")
    found = flags.read(argv)
    upstream.required(found, PROG, ["pipeline_config_path"])
    words = ["eval", found.pipeline_config_path]
    words += upstream.options(found, {"checkpoint_path": "--checkpoint", "eval_result_filename": "--result-file"})
    return words + upstream.path_options(found, {"eval_input_path": "--evaluate"})


if __name__ == "__main__":
    sys.exit(upstream.forward(command))

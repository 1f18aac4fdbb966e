"""easy_rec.python.train_eval as `polyrec train`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from polyrec.cli import upstream

from . import extend

PROG = "easy_rec.python.train_eval"

REFUSED = {
    "hpo_param_path": f"{upstream.NOT_YET}; --edit_config_json takes the same paths",
    "hpo_metric_save_path": f"{upstream.NOT_YET}; the last line of output holds the metrics",
    "fit_on_eval": upstream.NOT_YET,
    "fit_on_eval_steps": upstream.NOT_YET,
    "ignore_finetune_ckpt_error": f"{upstream.NOT_YET}; leave out --fine_tune_checkpoint instead",
    "odps_config": "set the variable ODPS_CONFIG_FILE_PATH to this path instead",
    "is_on_ds": f"{upstream.NOT_YET}; use torchrun for several processes",
    "check_mode": "use `polyrec check CONFIG`, which reads the data too",
    "gpu": "set CUDA_VISIBLE_DEVICES instead",
}


def command(argv: Sequence[str]) -> list[str]:
    words, edits = extend.split(argv, PROG)
    flags = upstream.UpstreamFlags(PROG, __doc__)
    flags.values("pipeline_config_path", "model_dir", "fine_tune_checkpoint", "edit_config_json", "selected_cols")
    flags.lists("train_input_path", "eval_input_path")
    flags.switches("continue_train")
    flags.refuse(REFUSED)
    found = flags.read(words)
    upstream.required(found, PROG, ["pipeline_config_path"])
    result = ["train", found.pipeline_config_path]
    result += upstream.options(found, {"model_dir": "--model-dir", "fine_tune_checkpoint": "--fine-tune"})
    if found.selected_cols:
        result.append("--edit=" + json.dumps({"data_config.selected_cols": found.selected_cols}))
    result += upstream.options(found, {"edit_config_json": "--edit"})
    # With its dashes, so that an error names what was written.
    result += [f"--edit={flag}={value}" for flag, value in edits.items()]
    result += ["--resume"] if upstream.is_on(found.continue_train) else []
    return result + upstream.path_options(found, {"train_input_path": "--train", "eval_input_path": "--evaluate"})


if __name__ == "__main__":
    sys.exit(upstream.forward(command))

"""easy_rec.python.predict as `polyrec predict`, with an exported model or a checkpoint."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polyrec.cli import upstream
from polyrec.errors import ConfigError

from . import saved

PROG = "easy_rec.python.predict"
ALL = "ALL_COLUMNS"

REFUSED = {
    "with_header": "data_config.with_header of the model's config says whether a file has one",
    "output_sep": f"{upstream.NOT_YET}; columns are separated by commas",
    "selected_cols": upstream.NOT_YET,
    "fg_json_path": upstream.NOT_YET,
    "ds_vector_recall": upstream.NOT_YET,
    "input_type": f"{upstream.NOT_YET}; rows are read in the format of the config that the model was trained with",
}


def command(argv: Sequence[str]) -> list[str]:
    flags = upstream.UpstreamFlags(PROG, __doc__)
    flags.values("pipeline_config_path", "checkpoint_path", "model_dir", "saved_model_dir", "input_path", "output_path")
    flags.values("batch_size", "reserved_cols", "output_cols")
    flags.refuse(REFUSED)
    found = flags.read(argv)
    upstream.required(found, PROG, ["input_path", "output_path"])
    words = ["predict", *_model(found)]
    words.append(f"--output={found.output_path}")
    words.append(f"--reserve={found.reserved_cols or ALL}")
    if found.output_cols and found.output_cols != ALL:
        words.append(f"--columns={found.output_cols}")
    # Upstream writes over the parts of an earlier run.
    words += [f"--batch-size={found.batch_size or 1024}", "--format=csv", "--overwrite"]
    return words + upstream.path_options(found, {"input_path": "--input"})


def _model(found: upstream.Found) -> list[str]:
    if not found.saved_model_dir:
        words = [f"--config={saved.config_path(found, PROG)}"]
        return words + upstream.options(found, {"checkpoint_path": "--checkpoint", "model_dir": "--model-dir"})
    given = [name for name in ("pipeline_config_path", "checkpoint_path", "model_dir") if getattr(found, name)]
    if given:
        raise ConfigError(f"{PROG}: --{given[0]} does not go with --saved_model_dir, which is complete")
    return [found.saved_model_dir]


if __name__ == "__main__":
    sys.exit(upstream.forward(command))

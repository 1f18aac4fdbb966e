"""tzrec.predict as `polyrec predict`, with an exported model or a checkpoint."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polyrec.cli import upstream
from polyrec.errors import ConfigError, nearest

PROG = "tzrec.predict"
WRITERS = {"ParquetWriter": "parquet", "CsvWriter": "csv"}
TABLE_WRITER = "OdpsWriter"

REFUSED = {
    "is_profiling": upstream.NOT_YET,
    "debug_level": upstream.NOT_YET,
    "dataset_type": f"{upstream.NOT_YET}; rows are read in the format of the config that the model was trained with",
}


def command(argv: Sequence[str]) -> list[str]:
    flags = upstream.UpstreamFlags(PROG, __doc__)
    flags.values("scripted_model_path", "pipeline_config_path", "checkpoint_path", "edit_config_json")
    flags.values("predict_input_path", "predict_output_path", "reserved_columns", "output_columns")
    flags.values("batch_size", "predict_steps", "writer_type")
    flags.refuse(REFUSED)
    flags.ignore({"predict_threads": "rows are read beside the model by themselves, and keep their order"})
    found = flags.read(argv)
    upstream.required(found, PROG, ["predict_input_path", "predict_output_path"])
    if bool(found.scripted_model_path) == bool(found.pipeline_config_path):
        raise ConfigError(f"{PROG}: needs either --scripted_model_path or --pipeline_config_path")
    words = ["predict"] + ([found.scripted_model_path] if found.scripted_model_path else [])
    words += upstream.options(
        found,
        {
            "pipeline_config_path": "--config",
            "checkpoint_path": "--checkpoint",
            "edit_config_json": "--edit",
            "predict_output_path": "--output",
            "reserved_columns": "--reserve",
            "output_columns": "--columns",
            "batch_size": "--batch-size",
            "predict_steps": "--steps",
        },
    )
    if found.writer_type == TABLE_WRITER:
        if not found.predict_output_path.startswith("odps://"):
            raise ConfigError(f"{PROG}: --writer_type {TABLE_WRITER} needs a --predict_output_path odps://...")
    elif found.writer_type:
        words.append(f"--format={_format(found.writer_type)}")
    # Upstream writes over the parts of an earlier run.
    return [*words, "--overwrite", *upstream.path_options(found, {"predict_input_path": "--input"})]


def _format(writer: str) -> str:
    if writer not in WRITERS:
        known = f"{nearest(writer, WRITERS)}; known: {', '.join([*WRITERS, TABLE_WRITER])}"
        raise ConfigError(f"{PROG}: --writer_type {writer} is {upstream.NOT_YET}{known}")
    return WRITERS[writer]


if __name__ == "__main__":
    sys.exit(upstream.forward(command))

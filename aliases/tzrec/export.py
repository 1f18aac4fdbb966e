"""tzrec.export as `polyrec export`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polyrec.cli import upstream

PROG = "tzrec.export"

REFUSED = {
    "additional_export_config": upstream.NOT_YET,
    "item_input_path": f"{upstream.NOT_YET}; it is only for models with an item tower",
}


def command(argv: Sequence[str]) -> list[str]:
    flags = upstream.UpstreamFlags(PROG, __doc__)
    flags.values("pipeline_config_path", "checkpoint_path", "export_dir", "asset_files")
    flags.refuse(REFUSED)
    found = flags.read(argv)
    upstream.required(found, PROG, ["pipeline_config_path", "export_dir"])
    words = ["export", found.pipeline_config_path]
    return words + upstream.options(
        found, {"export_dir": "--to", "checkpoint_path": "--checkpoint", "asset_files": "--assets"}
    )


if __name__ == "__main__":
    sys.exit(upstream.forward(command))

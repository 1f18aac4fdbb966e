"""easy_rec.python.export as `polyrec export`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polyrec.cli import upstream

from . import saved

PROG = "easy_rec.python.export"

_REDIS = ("url", "passwd", "threads", "batch_size", "timeout", "expire", "embedding_version", "write_kv")
_OSS = ("path", "endpoint", "ak", "sk", "threads", "timeout", "expire", "write_kv", "embedding_version")

REFUSED = {
    "clear_export": f"{upstream.NOT_YET}; remove the folder first",
    "export_done_file": f"{upstream.NOT_YET}; the folder gets its name only when it is whole",
    **{f"redis_{name}": f"{upstream.NOT_YET}; tables are kept in the export" for name in _REDIS},
    **{f"oss_{name}": f"{upstream.NOT_YET}; tables are kept in the export" for name in _OSS},
}


def command(argv: Sequence[str]) -> list[str]:
    flags = upstream.UpstreamFlags(PROG, __doc__)
    flags.values("pipeline_config_path", "checkpoint_path", "model_dir", "export_dir", "asset_files")
    flags.refuse(REFUSED)
    flags.ignore({"verbose": "each tensor is listed by `polyrec checkpoint ls`"})
    found = flags.read(argv)
    upstream.required(found, PROG, ["export_dir"])
    words = ["export", saved.config_path(found, PROG)]
    return words + upstream.options(
        found,
        {
            "export_dir": "--to",
            "model_dir": "--model-dir",
            "checkpoint_path": "--checkpoint",
            "asset_files": "--assets",
        },
    )


if __name__ == "__main__":
    sys.exit(upstream.forward(command))

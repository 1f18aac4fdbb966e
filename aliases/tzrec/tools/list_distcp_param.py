"""tzrec.tools.list_distcp_param as `polyrec checkpoint ls`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polyrec.cli import upstream

PROG = "tzrec.tools.list_distcp_param"


def command(argv: Sequence[str]) -> list[str]:
    flags = upstream.UpstreamFlags(PROG, __doc__)
    flags.values("checkpoint_path")
    found = flags.read(argv)
    upstream.required(found, PROG, ["checkpoint_path"])
    return ["checkpoint", "ls", found.checkpoint_path]


if __name__ == "__main__":
    sys.exit(upstream.forward(command))

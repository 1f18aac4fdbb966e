"""paddlerec.run as `polyrec run`: every runner that `mode` names, in order."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polyrec.cli import upstream

PROG = "paddlerec.run"


def command(argv: Sequence[str]) -> list[str]:
    flags = upstream.UpstreamFlags(PROG, __doc__)
    flags.add_argument("-m", "--model", help="config file, or a built-in model such as paddlerec.models.rank.dnn")
    flags.refuse({"backend": f"clusters are {upstream.NOT_YET}; use torchrun for several processes"}, short="-b")
    found = flags.read(argv)
    upstream.required(found, PROG, ["model"])
    return ["run", found.model]


if __name__ == "__main__":
    sys.exit(upstream.forward(command))

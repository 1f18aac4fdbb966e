"""What people read on stderr: polyrec's own lines, and other libraries only from their warnings on."""

from __future__ import annotations

import logging
import sys
import warnings

from polyrec import runtime

# Known chatter: each names a library, and what it says is of no use to whoever runs a command.
QUIET_LOGGERS = ("torch.fx._symbolic_trace", "torch.distributed.checkpoint", "torch.distributed.run")
QUIET_WARNINGS = r"(torch|torchrec|fbgemm_gpu|tensordict|torchmetrics)(\.|$)"


# Raised from inside torch but told of the line that happened to touch a sharded tensor.
QUIET_MESSAGES = "Please use DTensor instead and we are deprecating ShardedTensor"


def show_logs() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", datefmt="%H:%M:%S"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    # All processes say the same; a warning may be of one alone.
    logging.getLogger("polyrec").setLevel(logging.INFO if runtime.world().is_first else logging.WARNING)
    for name in QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    for category in (UserWarning, FutureWarning, DeprecationWarning):
        warnings.filterwarnings("ignore", category=category, module=QUIET_WARNINGS)
    warnings.filterwarnings("ignore", message=QUIET_MESSAGES)

"""Several processes on one run."""

from polyrec.distributed.ranks import Ranks, joined

__all__ = ["Ranks", "joined"]

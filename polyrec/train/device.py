"""Where tensors live."""

from __future__ import annotations

import torch

from polyrec import runtime


def choose_device() -> torch.device:
    """This rank's GPU when there is one, else the CPU."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", runtime.world().local_rank)
    torch.cuda.set_device(device)
    return device

"""Commands that die without a word, and checkpoints compared bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import torch

from polyrec import checkpoint
from polyrec.checkpoint import tensors


def tree(root: int) -> list[int]:
    """The process and all its descendants. Workers of torchrun are in sessions of their own, so no group has them."""
    parents: dict[int, int] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                # The name of the command stands in brackets and may hold blanks; the parent is the second word after.
                stat = (place / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:  # it has ended meanwhile
                continue
            parents[int(place.name)] = int(stat.rpartition(")")[2].split()[1])
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def send(number: signal.Signals, processes: list[int]) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            continue


def kill(process: subprocess.Popen[bytes], is_time: Callable[[], bool], delay: float = 0.0) -> bool:
    """SIGKILL the command and its workers `delay` seconds after the moment has come; False when it ended before.

    They are stopped first, so that a moment without a delay is not over when they die.
    """
    while process.poll() is None:
        if is_time():
            time.sleep(delay)
            found = tree(process.pid)
            send(signal.SIGSTOP, found)
            if delay or is_time():
                send(signal.SIGKILL, found)
                process.wait()
                return process.returncode == -signal.SIGKILL
            send(signal.SIGCONT, found)
        time.sleep(0.001)
    return False


def contents(folder: Path) -> dict[str, torch.Tensor]:
    """Every tensor of a checkpoint: weights, and what the optimizers remember of them."""
    found: dict[str, torch.Tensor] = {}
    for part in (checkpoint.MODEL, checkpoint.OPTIMIZER):
        values = {name: torch.zeros(size, dtype=kind) for name, (size, kind) in tensors.shapes(folder / part).items()}
        tensors.load(values, folder / part)
        found |= {f"{part}/{name}": value for name, value in values.items()}
    return found


def differences(left: Path, right: Path) -> list[str]:
    """Names of what is not the same bit for bit in two checkpoints, their run states included."""
    one, other = contents(left), contents(right)
    assert one.keys() == other.keys()
    found = [name for name in one if not torch.equal(one[name], other[name])]
    states = checkpoint.read_state(left), checkpoint.read_state(right)
    return found + [name for name in states[0] if states[0][name] != states[1].get(name)]


def largest_difference(left: Path, right: Path) -> float:
    """Of any weight of two checkpoints."""
    one, other = contents(left), contents(right)
    assert one.keys() == other.keys()
    return max(float((one[name] - other[name]).abs().max()) for name in one if name.startswith(checkpoint.MODEL))

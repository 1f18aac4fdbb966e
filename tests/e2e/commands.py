"""polyrec as its users start it: real processes, one line of JSON, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LONGEST_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> dict[str, Any]:
        """The line of JSON that is all there is on stdout."""
        assert self.code == 0, f"exit code {self.code}\n{self.err[-4000:]}"
        [line] = self.out.splitlines()
        return json.loads(line)


def words_of(*words: str | Path, processes: int = 1) -> list[str]:
    """The whole command line, under torchrun when there are several processes."""
    start = [sys.executable, "-m"]
    if processes > 1:
        start += ["torch.distributed.run", "--standalone", "--nnodes=1", f"--nproc-per-node={processes}", "-m"]
    return [*start, "polyrec", *map(str, words)]


def environment(modules: Path | None = None) -> dict[str, str]:
    """That of every command: one thread each, and `modules` a folder that Python finds packages in."""
    paths = [str(path) for path in (ROOT, modules) if path is not None]
    extra = {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "PROCESS_GROUP_TIMEOUT_SECONDS": "120"}
    return {**os.environ, **extra}


def run(folder: Path, *words: str | Path, processes: int = 1, modules: Path | None = None) -> Done:
    """Start the command in `folder` and wait for its end."""
    done = subprocess.run(
        words_of(*words, processes=processes),
        cwd=folder,
        env=environment(modules),
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def start(folder: Path, *words: str | Path, processes: int = 1) -> subprocess.Popen[bytes]:
    """Start the command and return at once."""
    return subprocess.Popen(
        words_of(*words, processes=processes),
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def settings(values: Mapping[str, Any]) -> list[str]:
    """`--set` flags."""
    return [f"--set={path}={json.dumps(value)}" for path, value in values.items()]


def workplace(folder: Path) -> Path:
    """A folder in which the paths that examples name are right: examples beside data."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder

"""polyrec doctor: versions, cores, devices, optional parts, and whether the pinned set is intact."""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
from importlib import metadata
from typing import Any

from polyrec import runtime
from polyrec.cli.flags import Flags

PINNED = {"torch": "2.13.0", "torchrec": "1.8.0", "fbgemm-gpu": "1.8.0", "torchmetrics": "1.0.3"}
"""One set: FBGEMM's binaries fit one torch, and TorchRec one FBGEMM."""

REQUIRED = ("numpy", "pyarrow", "pydantic", "PyYAML", "rich", "safetensors", "tensorboard")
OF_USERS = ("tokenizers", "sentencepiece", "pyodps", "polyrec-aliases")
OF_DEVELOPERS = ("scikit-learn", "hypothesis", "pytest", "pytest-xdist", "moto", "ruff", "pyright")
OPTIONAL = (*OF_USERS, *OF_DEVELOPERS)


def flags() -> Flags:
    found = Flags("polyrec doctor", __doc__)
    found.add_argument("--json", action="store_true", help="only the line of JSON")
    found.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return found


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    versions = {name: version(name) for name in ("polyrec", *PINNED, *REQUIRED)}
    if version("fbgemm-gpu-cpu"):
        versions["fbgemm-gpu-cpu"] = version("fbgemm-gpu-cpu")
    broken = pinned_problems(versions) + [
        text for text in map(import_problem, ("torch", "fbgemm_gpu", "torchrec")) if text
    ]
    result: dict[str, Any] = {
        "ok": not broken,
        "problems": broken,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": versions,
        "optional": {name: version(name) for name in OPTIONAL},
        "cores": runtime.usable_cores(),
        **devices(),
    }
    if not arguments.json:
        sys.stderr.write(text_of(result))
    return result | {"exit_code": 4 if broken else 0}


def version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def pinned_problems(versions: dict[str, str | None]) -> list[str]:
    """Parts of the pinned set that are absent or of another version; a local part such as +cpu is left aside."""
    problems = []
    for name, needed in PINNED.items():
        found = versions.get(name)
        if name == "fbgemm-gpu" and found is None:
            found = versions.get("fbgemm-gpu-cpu")
        if found is None:
            problems.append(f"{name}: not installed, needs {needed}")
        elif found.partition("+")[0] != needed:
            problems.append(f"{name}: {found} is installed, needs {needed}")
    for name in REQUIRED:
        if versions.get(name) is None:
            problems.append(f"{name}: not installed")
    return problems


def import_problem(name: str) -> str | None:
    """Why a part does not load, which a version number cannot tell."""
    try:
        importlib.import_module(name)
    except (ImportError, OSError, AttributeError, RuntimeError) as error:
        return f"{name}: does not load: {error}"
    return None


def devices() -> dict[str, Any]:
    """What torch sees, if it loads at all."""
    if import_problem("torch"):
        return {"threads": None, "devices": []}
    import torch

    found = ["cpu"]
    found += [f"cuda:{index} {torch.cuda.get_device_name(index)}" for index in range(torch.cuda.device_count())]
    return {"threads": torch.get_num_threads(), "devices": found}


def text_of(result: dict[str, Any]) -> str:
    lines = [f"python {result['python']} on {result['platform']}"]
    lines.append(f"cores {result['cores']}, torch threads {result['threads']}, devices {', '.join(result['devices'])}")
    lines += [f"{name:<16} {found or 'absent'}" for name, found in result["versions"].items()]
    lines += [f"{name:<16} {found or 'absent'} (optional)" for name, found in result["optional"].items()]
    lines += [f"wrong: {text}" for text in result["problems"]]
    lines.append("the pinned set is intact" if result["ok"] else "the pinned set is NOT intact")
    return "\n".join(lines) + "\n"

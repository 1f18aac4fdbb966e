"""Chooses the build of FBGEMM: the CPU one through the local metadata shim, or the CUDA one (see docs/install.md)."""

import os
import pathlib
import shutil

from setuptools import setup

SHIM = pathlib.Path(__file__).resolve().parent / "packaging" / "fbgemm-gpu-cpu-shim"
device = os.environ.get("POLYREC_DEVICE") or ("cuda" if shutil.which("nvidia-smi") else "cpu")
if device not in ("cpu", "cuda"):
    raise SystemExit(f"POLYREC_DEVICE={device}: needs cpu or cuda")
fbgemm = f"fbgemm-gpu @ {SHIM.as_uri()}" if device == "cpu" and SHIM.is_dir() else "fbgemm-gpu==1.8.0"

setup(
    install_requires=[
        "torch==2.13.0",
        "torchrec==1.8.0",
        fbgemm,
        "torchmetrics==1.0.3",
        "numpy>=1.26",
        "pyarrow>=16",
        "pydantic>=2.9",
        "PyYAML>=6",
        "rich>=13",
        "safetensors>=0.4.3",
        "tensorboard>=2.16",
    ]
)

"""Which config a command of EasyRec means when it is given a model folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from polyrec.cli import upstream
from polyrec.storage import is_remote, joined, listing, plain

SAVED = "pipeline.config"


def config_path(found: argparse.Namespace, prog: str) -> str:
    """The config saved in `model_dir`, if there is one, wins over `pipeline_config_path`."""
    if found.model_dir and is_remote(found.model_dir):
        url = joined(found.model_dir, SAVED)
        if listing.kind_of(url) == "File":
            return url
    elif found.model_dir:
        saved = Path(plain(found.model_dir)) / SAVED
        if saved.is_file():
            return str(saved)
    upstream.required(found, prog, ["pipeline_config_path"])
    return found.pipeline_config_path

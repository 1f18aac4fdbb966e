"""polyrec show: the typed config that a config file stands for, as YAML; it is accepted wherever a config is."""

from __future__ import annotations

import argparse
import json
from typing import Any

from polyrec.cli import configs
from polyrec.cli.flags import Flags


def flags() -> Flags:
    found = configs.config_flags("polyrec show", __doc__ or "")
    found.add_argument("--origins", action="store_true", help="say where each value was read")
    found.add_argument("--json", action="store_true", help="one line of JSON")
    return found


def run(arguments: argparse.Namespace) -> str | dict[str, Any]:
    loaded = configs.load(arguments)
    from polyrec import dialects

    if arguments.json:
        values = loaded.config.model_dump(mode="json")
        if not arguments.origins:
            return json.dumps(values)
        return json.dumps({"config": values, "origins": {key: str(item) for key, item in loaded.origins.items()}})
    return dialects.show(loaded, origins=arguments.origins)

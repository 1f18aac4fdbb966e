"""polyrec schema: the JSON schema of the typed config, for editors."""

from __future__ import annotations

import argparse
import json

from polyrec.cli import configs
from polyrec.cli.flags import Flags


def flags() -> Flags:
    found = Flags("polyrec schema", __doc__)
    configs.add_common_options(found)
    return found


def run(arguments: argparse.Namespace) -> str:
    configs.add_plugins(arguments)
    from polyrec import dialects

    return json.dumps(dialects.schema())

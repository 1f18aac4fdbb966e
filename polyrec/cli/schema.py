"""polyrec schema: the JSON schema of the typed config, for editors, or its fields as Markdown, for people."""

from __future__ import annotations

import argparse
import json

from polyrec.cli import configs
from polyrec.cli.flags import Flags


def flags() -> Flags:
    found = Flags("polyrec schema", __doc__)
    found.add_argument("--markdown", action="store_true", help="tables of the fields instead, as in docs/fields.md")
    configs.add_common_options(found)
    return found


def run(arguments: argparse.Namespace) -> str:
    configs.add_plugins(arguments)
    if arguments.markdown:
        from polyrec.cli import reference
        from polyrec.config import RunConfig
        from polyrec.workflow import Workflow

        return reference.page((RunConfig, Workflow))
    from polyrec import dialects

    return json.dumps(dialects.schema())

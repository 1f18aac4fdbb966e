"""The typed config written down: YAML that reads back to the same config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from polyrec.config import RunConfig
from polyrec.dialects import structure
from polyrec.dialects.node import Report
from polyrec.dialects.yaml import Loader, parse
from polyrec.errors import Origin
from polyrec.workflow import Workflow


class _Dumper(yaml.SafeDumper):
    """Quotes each text that would be read as something else; writes short lists in one line and repeats nothing."""

    yaml_implicit_resolvers = Loader.yaml_implicit_resolvers

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _list(dumper: _Dumper, items: list[Any]) -> yaml.Node:
    is_flat = not any(isinstance(item, dict | list) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=is_flat)


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    # A text over several lines would leave no room for what stands behind a value.
    style = '"' if not text.isprintable() else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _number(dumper: _Dumper, value: float) -> yaml.Node:
    if value != value or value in (float("inf"), float("-inf")):
        return dumper.represent_float(value)
    return dumper.represent_scalar("tag:yaml.org,2002:float", repr(value))


_Dumper.add_representer(list, _list)
_Dumper.add_representer(str, _text)
_Dumper.add_representer(float, _number)


def dump(config: RunConfig | Workflow) -> str:
    """YAML of every field, defaults included."""
    return yaml.dump(
        config.model_dump(mode="json"),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=float("inf"),
        default_flow_style=False,
    )


def with_origins(text: str, origins: Mapping[str, Origin]) -> str:
    """The text of `dump` with a comment behind each line that holds a value read from a file or a flag."""
    root = parse(text, "", Report())
    _, places = structure.assemble(structure.plain(root), root.origin)
    lines = text.splitlines()
    containers = {path[: max(path.rfind("."), path.rfind("["), 0)] for path in places}
    for path, place in places.items():
        origin = None if path in containers else origins.get(path)
        line = lines[place.line - 1]
        if origin is not None and "  # " not in line and not line.endswith((":", "|", ">")):
            lines[place.line - 1] = f"{line}  # {origin}"
    return "\n".join(lines) + "\n"

"""The tables of docs/dialects/paddlerec.md, from the code that reads the fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polyrec.dialects import yaml
from polyrec.dialects.fields import plain_path
from polyrec.dialects.node import Node, Report
from polyrec.dialects.paddlerec import IGNORED, read, runners
from polyrec.dialects.paddlerec.models import rank_dnn
from polyrec.dialects.paddlerec.workspace import built_in

WITHOUT_EFFECT: dict[str, Mapping[str, str]] = {
    "": IGNORED,
    "runner": {**runners.IGNORED, **runners.DEVICE_IGNORED},
    "phase": runners.PHASE_IGNORED,
    "hyper_parameters": rank_dnn.IGNORED,
    "hyper_parameters.optimizer": rank_dnn.OPTIMIZER_IGNORED,
}
REFUSED: dict[str, Mapping[str, str]] = {"runner": runners.REFUSED}


def tables() -> str:
    """Fields that are read, those without effect and those refused, as Markdown."""
    text = (built_in("paddlerec.models.rank.dnn") / "config.yaml").read_text(encoding="utf-8")
    root = yaml.parse(text, "config.yaml", Report())
    read(root)
    found: dict[str, set[str]] = {}
    for node in _messages(root):
        found.setdefault(plain_path(node.path), set()).update(node.known)
    lines = ["| message | fields |", "|---|---|"]
    for path, names in sorted(found.items()):
        told = {*WITHOUT_EFFECT.get(path, ()), *REFUSED.get(path, ())}
        lines.append(f"| {path or '(top)'} | {', '.join(sorted(names - told))} |")
    for title, reasons in (("without effect", WITHOUT_EFFECT), ("refused", REFUSED)):
        lines += ["", f"| field {title} | reason |", "|---|---|"]
        for path, fields in reasons.items():
            lines += [f"| {path}{'.' if path else ''}{name} | {reason} |" for name, reason in fields.items()]
    return "\n".join(lines) + "\n"


def _messages(node: Node) -> Iterator[Node]:
    if node.fields is not None:
        yield node
        for nodes in node.fields.values():
            for child in nodes:
                yield from _messages(child)

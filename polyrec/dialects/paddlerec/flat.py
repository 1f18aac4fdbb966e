"""The whole config as paths and values, which is how PaddleRec's own reader classes ask for it."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.node import Node
from polyrec.dialects.paddlerec.workspace import Workspace

NAMED = ("dataset", "phase", "runner")
"""Lists whose items are known by their names instead of their places."""


def flat(node: Node, workspace: Workspace) -> dict[str, Any]:
    """`hyper_parameters.optimizer.class` and so on; `dataset.NAME.KEY` for items of lists that have names."""
    found: dict[str, Any] = {}
    for name, nodes in (node.fields or {}).items():
        if name in NAMED:
            for item in nodes:
                title = next((str(one.scalar) for one in item.peek("name")), "")
                _add(found, f"{name}.{title}", item, workspace)
        else:
            _field(found, name, nodes, name in node.lists, workspace)
    return found


def _add(found: dict[str, Any], path: str, node: Node, workspace: Workspace) -> None:
    for name, nodes in (node.fields or {}).items():
        _field(found, f"{path}.{name}", nodes, name in node.lists, workspace)


def _field(found: dict[str, Any], path: str, nodes: list[Node], is_list: bool, workspace: Workspace) -> None:
    if is_list:
        found[path] = [_scalar(one, workspace) for one in nodes if one.fields is None]
    elif nodes[-1].fields is not None:
        _add(found, path, nodes[-1], workspace)
    else:
        found[path] = _scalar(nodes[-1], workspace)


def _scalar(node: Node, workspace: Workspace) -> Any:
    if isinstance(node.scalar, str):
        return node.scalar.replace("{workspace}", workspace.folder)
    return node.scalar

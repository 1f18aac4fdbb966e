"""Where a PaddleRec config's files are: the `workspace`, built-in models, and the paths written with them."""

from __future__ import annotations

import pkgutil
import re
from dataclasses import dataclass
from pathlib import Path

from polyrec.dialects.node import Node, Value
from polyrec.errors import ConfigError, nearest

ZOO = Path(__file__).parent / "zoo"
PREFIX = "paddlerec.models."
MODEL_FILE = "model.py"


def known_models() -> list[str]:
    """Models that polyrec has, as `rank/dnn`: one file each in the folder `models`, named rank_dnn."""
    from polyrec.dialects.paddlerec import models

    return sorted(module.name.replace("_", "/", 1) for module in pkgutil.iter_modules(models.__path__))


def built_in(name: str) -> Path:
    """Folder of a built-in model such as paddlerec.models.rank.dnn."""
    model = name.removeprefix(PREFIX).replace(".", "/")
    if model not in known_models():
        raise ConfigError(f"{name}: {_unknown(model)}")
    return ZOO / model


def _unknown(model: str) -> str:
    names = [PREFIX + known.replace("/", ".") for known in known_models()]
    hint = nearest(PREFIX + model.replace("/", "."), names)
    return f"no model of this name is built in{hint}; available: {', '.join(names)}"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder that `{workspace}` stands for."""

    folder: str

    def fill(self, node: Node, name: str, default: str | None = None) -> Value[str]:
        """A path of the config, with `{workspace}` and `paddlerec::` written out."""
        value = node.text(name) if default is None else node.text(name, default)
        unknown = [word for word in re.findall(r"\{(\w*)\}", value.value) if word != "workspace"]
        for word in unknown:
            node.ask(name)[-1].wrong(f"{{{word}}} is not known; did you mean {{workspace}}?")
        text = value.value.replace("{workspace}", self.folder)
        if text.startswith("paddlerec::"):
            text = str(ZOO / text.removeprefix("paddlerec::").removeprefix("models/"))
        return Value(text, value.origin)


def read_workspace(node: Node) -> Workspace:
    value = node.text("workspace").value
    if not value.startswith("paddlerec."):
        return Workspace(value.rstrip("/") or ("/" if value else "."))
    model = value.removeprefix(PREFIX).replace(".", "/")
    if model not in known_models():
        node.ask("workspace")[-1].wrong(_unknown(model))
    return Workspace(str(ZOO / model))


def model_of(path: Value[str]) -> str | None:
    """The known model whose model.py this is, by the end of its path; None for one that is not known."""
    if path.value.startswith(PREFIX):
        model = path.value.removeprefix(PREFIX).replace(".", "/")
    else:
        model = "/".join(Path(path.value).absolute().parent.parts[-2:]) if path.value.endswith(f"/{MODEL_FILE}") else ""
    return model if model in known_models() else None

"""What reader scripts of PaddleRec import: a base class to inherit from, and the settings of their config."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Any

Samples = Callable[[], Iterator[list[tuple[str, list[Any]]]]]


class ReaderBase:
    """The base of reader classes; `init` is called once, `generate_sample` for each line."""

    def __init__(self, config: object = None) -> None:
        self.config = config

    def init(self) -> None:
        """Nothing to prepare, unless the reader says so."""

    def generate_sample(self, line: str) -> Samples:
        raise TypeError(f"{type(self).__name__} has no generate_sample")


class _Settings:
    """Values of the config being read, by their path such as `hyper_parameters.optimizer.class`."""

    values: Mapping[str, Any] = {}


def use(settings: Mapping[str, Any]) -> None:
    """Answer questions of scripts from these from now on."""
    _Settings.values = settings


def get_global_env(env_name: str, default_value: Any = None, namespace: str | None = None) -> Any:
    name = f"{namespace}.{env_name}" if namespace else env_name
    return _Settings.values.get(name, default_value)


def provide() -> None:
    """Let scripts import these under the names that they know, where the packages of those names are not there."""
    reader = {"ReaderBase": ReaderBase, "Reader": ReaderBase}
    generators = {"MultiSlotDataGenerator": ReaderBase, "MultiSlotStringDataGenerator": ReaderBase}
    _offer("paddlerec.core.reader", reader)
    _offer("paddlerec.core.utils.envs", {"get_global_env": get_global_env})
    _offer("paddle.fluid.incubate.data_generator", generators)


def _offer(name: str, contents: Mapping[str, Any]) -> None:
    """A module of this name, and all packages on the way to it; what can be imported already stays as it is."""
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        path = ".".join(parts[:depth])
        if path in sys.modules or _can_import(path):
            continue
        module = sys.modules[path] = ModuleType(path)
        module.__path__ = []
        if depth == len(parts):
            vars(module).update(contents)
        if depth > 1:
            setattr(importlib.import_module(".".join(parts[: depth - 1])), parts[depth - 1], module)


def _can_import(path: str) -> bool:
    try:
        return find_spec(path) is not None
    except (ModuleNotFoundError, ValueError):
        return False

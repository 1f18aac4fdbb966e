"""The folders are the registry: a component's name is the name of the file that holds it."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, SerializationInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from polyrec.docstrings import field_docs
from polyrec.errors import ConfigError, nearest

C = TypeVar("C", bound="Component")

_packages = ["polyrec"]


class Frozen(BaseModel):
    """A typed piece of configuration: immutable, and without fields it does not know."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        ser_json_inf_nan="constants",
        hide_input_in_errors=True,
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema with the texts of the fields."""
        found = handler(schema)
        _describe(cls, handler.resolve_ref_schema(found))
        return found


class Component(Frozen):
    """A piece of configuration chosen by name. The base of a family names the family's folder."""

    folder: ClassVar[str]

    @property
    def kind(self) -> str:
        return type(self).__module__.rpartition(".")[2]

    @classmethod
    def example(cls) -> Self:
        """A small valid instance, for the contract tests and the docs."""
        return cls()

    def dump(self) -> dict[str, Any]:
        """Plain values that `Frozen` fields of this family read back."""
        return {"kind": self.kind, **self.model_dump(mode="json")}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        if "folder" not in cls.__dict__:
            return handler(source)

        def write(component: Component, info: SerializationInfo) -> dict[str, Any]:
            return {"kind": component.kind, **component.model_dump(mode=info.mode)}

        return core_schema.no_info_plain_validator_function(
            lambda value: _pick(cls, value),
            serialization=core_schema.plain_serializer_function_ser_schema(write, info_arg=True),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        if "folder" not in cls.__dict__:
            return super().__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [_named_schema(cls, name, handler) for name in names(cls)]}


def _describe(cls: type[Frozen], schema: dict[str, Any]) -> None:
    for name, text in field_docs(cls).items():
        if name in schema.get("properties", {}):
            schema["properties"][name].setdefault("description", text)


def _named_schema(family: type[Component], name: str, handler: GetJsonSchemaHandler) -> dict[str, Any]:
    schema = dict(handler.resolve_ref_schema(handler(find(family, name).__pydantic_core_schema__)))
    _describe(find(family, name), schema)
    schema["properties"] = {"kind": {"const": name}, **schema.get("properties", {})}
    schema["required"] = ["kind", *schema.get("required", [])]
    return schema


def _pick(family: type[C], value: Any) -> C:
    if isinstance(value, family):
        return value
    if not isinstance(value, Mapping) or not isinstance(value.get("kind"), str):
        raise PydanticCustomError("kind_missing", "needs a `kind`: one of {known}", {"known": ", ".join(names(family))})
    kind = value["kind"]
    if kind not in names(family):
        text = f"{kind} is not known{nearest(kind, names(family))}; known: {', '.join(names(family))}"
        raise PydanticCustomError("kind_unknown", "{text}", {"text": text})
    return find(family, kind).model_validate({key: item for key, item in value.items() if key != "kind"})


def add_plugins(package: str) -> None:
    """Search `package` too: its `models`, `features` and so on, laid out as polyrec's own folders."""
    if importlib.util.find_spec(package) is None:
        raise ConfigError(f"--plugins {package}: no such package can be imported")
    if package not in _packages:
        _packages.append(package)
        names.cache_clear()


def plugins() -> tuple[str, ...]:
    return tuple(_packages[1:])


@cache
def names(family: type[Component]) -> tuple[str, ...]:
    """Every known name of a family, sorted."""
    found: set[str] = set()
    for package in _packages:
        folder = f"{package}.{family.folder}"
        if package != "polyrec" and not _exists(folder):
            continue
        path = importlib.import_module(folder).__path__
        files = (module.name for module in pkgutil.iter_modules(path) if not module.ispkg)
        found.update(name for name in files if not name.startswith("_"))
    return tuple(sorted(found))


@cache
def find(family: type[C], name: str) -> type[C]:
    """The class that the file `name` of the family's folder holds; a file that fails to import fails here."""
    for package in _packages:
        module_name = f"{package}.{family.folder}.{name}"
        if not _exists(module_name):
            continue
        module = importlib.import_module(module_name)
        for item in vars(module).values():
            if isinstance(item, type) and issubclass(item, family) and item.__module__ == module_name:
                return item
        raise ConfigError(f"{module_name} holds no {family.__name__}")
    raise ConfigError(f"{name} is not known{nearest(name, names(family))}; known: {', '.join(names(family))}")


def _exists(module: str) -> bool:
    """Whether a module can be imported; a plug-in's package need not have every folder on the way to it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError as error:
        if error.name is not None and module.startswith(f"{error.name}."):
            return False
        raise

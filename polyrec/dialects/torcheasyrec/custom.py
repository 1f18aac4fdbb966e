"""`custom_feature`: the operators that upstream ships as compiled libraries, and those of plug-in packages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from polyrec import catalog
from polyrec.dialects.fields import mapped
from polyrec.dialects.node import Node, Value
from polyrec.dialects.torcheasyrec.place import Input, Made, Place
from polyrec.errors import nearest
from polyrec.families import OperatorConfig

INPUTS = ("expression", "operator_name", "operator_lib_file", "operator_params")
UNITS = {"utf-8": "character", "utf8": "character", "latin": "byte", "latin-1": "byte"}
DISTANCE = "spherical_distance"
Params = dict[str, Value[Any]]


def make(place: Place) -> Made:
    node = place.node
    name, inputs = node.text("operator_name"), place.inputs("expression")
    node.text("operator_lib_file", "")
    params = _params(node)
    if not inputs or not name.value:
        # The problem is told already.
        return Made(place.name, is_made=True)
    if name.value in KNOWN:
        return KNOWN[name.value](place, inputs, params)
    return _plug_in(place, name, inputs, params)


def _params(node: Node) -> Params:
    """The fields of a `google.protobuf.Struct` by name."""
    params: Params = {}
    message = node.child("operator_params")
    for entry in message.children("fields") if message is not None else ():
        key, value = entry.text("key"), entry.child("value")
        if value is not None:
            params[key.value] = _value(value)
    return params


def _value(node: Node) -> Value[Any]:
    """A `google.protobuf.Value`."""
    readers: dict[str, Callable[[str], Value[Any]]] = {
        "string_value": node.text,
        "number_value": lambda name: mapped(
            node.number(name), lambda number: int(number) if number % 1 == 0 else number
        ),
        "bool_value": node.flag,
    }
    kind = node.one_of((*readers, "null_value", "list_value", "struct_value"))
    if kind in readers:
        return readers[kind](kind)
    if kind == "list_value":
        found = node.child(kind)
        return Value([_value(item) for item in found.children("values")] if found else [], node.origin)
    if kind == "struct_value":
        found = node.child(kind)
        fields = found.children("fields") if found else []
        pairs = [(entry.text("key").value, entry.child("value")) for entry in fields]
        return Value({key: _value(value) for key, value in pairs if value is not None}, node.origin)
    if kind is None:
        node.wrong(f"needs one of {', '.join(readers)}, null_value, list_value, struct_value")
    return Value(None, node.origin)


def _taken(place: Place, params: Params, *names: str) -> Value[Any] | None:
    """A parameter under any of its names."""
    found = [params.pop(name) for name in names if name in params]
    return found[-1] if found else None


def _no_more(place: Place, params: Params, known: tuple[str, ...]) -> None:
    for name, value in params.items():
        message = f"{name} is no parameter of it{nearest(name, known)}; known: {', '.join(known)}"
        place.node.report.problem(value.origin, place.node.at("operator_params"), message)


def _missing(place: Place, name: str) -> Value[Any]:
    place.node.report.problem(place.node.origin, place.node.at("operator_params"), f"needs {name}")
    return Value("", place.node.origin)


def _edit_distance(place: Place, inputs: list[Input], params: Params) -> Made:
    encoding = _taken(place, params, "encoding") or Value("latin", place.node.origin)
    _no_more(place, params, ("encoding",))
    if encoding.value not in UNITS:
        message = f"encoding {encoding.value} is not supported; known: {', '.join(UNITS)}"
        place.node.report.problem(encoding.origin, place.node.at("operator_params"), message)
    unit = mapped(encoding, lambda word: UNITS.get(word, "byte"))
    first, second = _two(place, inputs)
    operator = {"kind": "edit_distance", "first": first.column, "second": second.column, "unit": unit}
    return place.make(operator, [first, second])


def _two(place: Place, inputs: list[Input]) -> tuple[Input, Input]:
    if len(inputs) != 2:
        message = f"EditDistance compares two inputs, not {len(inputs)}"
        place.node.report.problem(inputs[-1].column.origin, place.node.at("expression"), message)
    return inputs[0], inputs[-1]


def _regex_replace(place: Place, inputs: list[Input], params: Params) -> Made:
    # The name is misspelt in upstream's documents.
    pattern = _taken(place, params, "regex_pattern", "regex_patten") or _missing(place, "regex_pattern")
    replacement = _taken(place, params, "replacement") or Value("", place.node.origin)
    _no_more(place, params, ("regex_pattern", "replacement"))
    if len(inputs) != 1:
        message = f"RegexReplace takes one input, not {len(inputs)}"
        place.node.report.problem(inputs[-1].column.origin, place.node.at("expression"), message)
    column = inputs[0].column
    operator = {"kind": "regex_replace", "column": column, "pattern": pattern, "replacement": replacement}
    only = Input(inputs[0].name, column, inputs[0].is_sequence or place.is_sequence)
    return Made(place.make(operator, [only]).column, place.node.text("separator", "\x1d"), is_made=True)


def _formula(place: Place, inputs: list[Input], params: Params) -> Made:
    """Numbers of whole sequences at once: one number beside them counts at each position, and one that is missing
    leaves the position to the default."""
    formula = _taken(place, params, "formula") or _missing(place, "formula")
    _no_more(place, params, ("formula",))
    if formula.value == DISTANCE:
        if len(inputs) != 4:
            message = f"{DISTANCE} takes longitude and latitude of two places, not {len(inputs)} inputs"
            place.node.report.problem(inputs[-1].column.origin, place.node.at("expression"), message)
        formula = mapped(formula, lambda _: f"sphere_dist({', '.join(item.name for item in inputs)})")
    between = place.positions.delimiter if place.positions else place.node.text("separator", "\x1d")
    place.check_sequence_fields(inputs)
    operator = {
        "kind": "expression",
        "variables": {item.name: item.column for item in inputs},
        "text": formula,
        "separator": between,
        "missing": "nan",
    }
    name = Value(f"made:{place.name.value}", place.name.origin)
    return Made(place.derived.add(name, operator), is_made=True)


def _plug_in(place: Place, name: Value[str], inputs: list[Input], params: Params) -> Made:
    """An operator of a package, by the name of its file; it reads `columns` and takes the parameters as fields."""
    kinds = catalog.names(OperatorConfig)
    file = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.value).lower()
    kind = next((word for word in (name.value, file) if word in kinds), None)
    if kind is None:
        library = place.node.text("operator_lib_file", "").value
        hint = nearest(name.value, KNOWN) or nearest(file, kinds) or ";"
        message = (
            f"no operator is called {name.value}{hint} "
            + (f"the compiled library {library} cannot be loaded; " if library else "")
            + f"write one as features/operators/{file}.py of a package, with a field `columns` for its inputs and one "
            "for each parameter, and name the package with --plugins"
        )
        place.node.report.problem(name.origin, place.node.at("operator_name"), message)
        return Made(place.name, is_made=True)
    columns = [item.column for item in inputs]
    return place.make({"kind": mapped(name, lambda _: kind), "columns": columns, **params}, inputs)


KNOWN: dict[str, Callable[[Place, list[Input], Params], Made]] = {
    "EditDistance": _edit_distance,
    "RegexReplace": _regex_replace,
    "SeqExpr": _formula,
}

"""Values of a feature that other features read as `feature:name`, and formulas of what is done to them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from polyrec.dialects.fields import is_known, mapped
from polyrec.dialects.node import Value
from polyrec.dialects.torcheasyrec.place import Derived, Made, Place


@dataclass(frozen=True)
class Output:
    """What a feature has for others: its values before they become ids, but the numbers of their ranges."""

    place: Place
    made: Made
    is_number: bool
    default: Value[str] | None
    most: Value[int | None] | None
    """Values that count, of those that are no numbers."""
    scale: dict[str, Any] | None = None
    boundaries: tuple[float, ...] = ()


def add_wanted(derived: Derived, outputs: dict[str, Output]) -> None:
    """The derived columns that are read as `feature:name`."""
    for column, (node, field, name, prefix) in derived.wanted.items():
        whole = mapped(name, lambda text, prefix=prefix: prefix + text)
        found = outputs.get(whole.value) or outputs.get(name.value)
        if found is None:
            is_known(node, field, name, outputs, "feature")
        else:
            _add(column, found)


def _add(column: str, output: Output) -> None:
    place, made = output.place, output.made
    if not output.is_number:
        operator = {"kind": "listed", "column": made.column, "default": output.default, "most": output.most}
        place.then(made, operator, column)
        return
    if output.scale is not None:
        made = normalized(place, made, output.scale)
    formula, default = "x", None if output.default is None else _number(output.default)
    if output.boundaries:
        formula = " + ".join(f"(x >= {boundary!r})" for boundary in output.boundaries)
        default = None if default is None else float(bisect_right(output.boundaries, default))
    place.then(made, {**_expression(made, formula), "default": default}, column)


def _number(text: Value[str]) -> float | None:
    try:
        return float(text.value)
    except ValueError:
        # The problem is told where the feature reads its default.
        return None


def normalized(place: Place, made: Made, scale: dict[str, Any]) -> Made:
    """The column of scaled numbers; a missing one stays missing, for defaults are never scaled."""
    return place.then(made, _expression(made, formula_of(scale)), f"made:{place.name.value}.normalized")


def _expression(made: Made, formula: str) -> dict[str, Any]:
    return {"kind": "expression", "variables": {"x": made.column}, "text": formula, "missing": "skip"}


def formula_of(scale: dict[str, Any]) -> str:
    """A normalizer as a formula of x."""
    plain = {key: item.value if isinstance(item, Value) else item for key, item in scale.items()}
    match plain["kind"]:
        case "log10":
            return f"x > ({plain['threshold']!r}) ? log10(x) : ({plain['default']!r})"
        case "zscore":
            return f"(x - ({plain['mean']!r})) / ({plain['std']!r})"
        case "minmax":
            return f"(x - ({plain['low']!r})) / ({plain['high']!r} - ({plain['low']!r}))"
        case _:
            return plain["text"]

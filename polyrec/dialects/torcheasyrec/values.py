"""Values that a TorchEasyRec config writes as text: initialisers, activations and normalisers, each a known name."""

from __future__ import annotations

import re
from typing import Any

from polyrec.dialects.fields import mapped
from polyrec.dialects.node import Node, Value
from polyrec.errors import nearest

INITS: dict[str, tuple[str, dict[str, tuple[str, float | None]]]] = {
    "uniform_": ("uniform", {"a": ("low", 0.0), "b": ("high", 1.0)}),
    "normal_": ("normal", {"mean": ("mean", 0.0), "std": ("std", 1.0)}),
    "constant_": ("constant", {"val": ("value", None)}),
}
"""Functions of torch.nn.init: our name of each, and its arguments with our names and torch's defaults."""

ACTIVATIONS = {
    "": "linear",
    "nn.Identity": "linear",
    "nn.ReLU": "relu",
    "nn.LeakyReLU": "leaky_relu",
    "nn.PReLU": "prelu",
    "nn.ELU": "elu",
    "nn.SELU": "selu",
    "nn.GELU": "gelu",
    "nn.SiLU": "silu",
    "nn.Tanh": "tanh",
    "nn.Sigmoid": "sigmoid",
    "Dice": "dice",
}
NORMALIZERS: dict[str, dict[str, tuple[str, float | None]]] = {
    "log10": {"threshold": ("threshold", 1e-10), "default": ("default", -10.0)},
    "zscore": {"mean": ("mean", None), "standard_deviation": ("std", None)},
    "minmax": {"min": ("low", None), "max": ("high", None)},
}
"""Methods of a normaliser: their arguments with our names and the defaults."""

TWO_STD = 1e-6
"""How far the bounds of a truncated normal may be from two standard deviations and still be taken for them."""


def init(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, **fields}


def default_init(rows: Value[int]) -> dict[str, Any]:
    """TorchRec's own: uniform in plus and minus 1 / sqrt(rows)."""
    bound = mapped(rows, lambda number: max(number, 1) ** -0.5)
    return init("uniform", low=mapped(bound, lambda high: -high), high=bound)


def weight_init(node: Node, name: str) -> dict[str, Any] | None:
    """An initialiser such as `nn.init.uniform_,a=-0.01,b=0.01`; it is matched against known names, never run."""
    if not node.has(name):
        return None
    text = node.text(name)
    if not text.value:
        return None
    found = re.fullmatch(r"(?:torch\.)?nn\.init\.(\w+)\s*(?:,(.*))?", text.value.strip())
    known = ", ".join(f"nn.init.{word}" for word in (*INITS, "zeros_", "ones_", "trunc_normal_"))
    word = found.group(1) if found else text.value
    if found is None or word not in (*INITS, "zeros_", "ones_", "trunc_normal_"):
        hint = nearest(word.rpartition(".")[2], (*INITS, "zeros_", "ones_", "trunc_normal_"))
        message = f"{text.value} is not an initialiser that is known{hint}; known: {known}"
        node.report.problem(text.origin, node.at(name), message)
        return None
    arguments = _arguments(node, name, text, found.group(2) or "")
    if arguments is None:
        return None
    if word in ("zeros_", "ones_"):
        return init("constant", value=mapped(text, lambda _: float(word == "ones_")))
    if word == "trunc_normal_":
        return _truncated(node, name, text, arguments)
    kind, known_arguments = INITS[word]
    fields = _fields(node, name, text, arguments, known_arguments)
    return fields and init(kind, **fields)


def _truncated(node: Node, name: str, text: Value[str], arguments: dict[str, float]) -> dict[str, Any] | None:
    mean, std = arguments.pop("mean", 0.0), arguments.pop("std", 1.0)
    low, high = arguments.pop("a", -2.0), arguments.pop("b", 2.0)
    is_two_std = abs(low - (mean - 2 * std)) <= TWO_STD and abs(high - (mean + 2 * std)) <= TWO_STD
    if arguments or not is_two_std:
        message = "trunc_normal_ is cut at two standard deviations: write a=mean-2*std and b=mean+2*std as numbers"
        node.report.problem(text.origin, node.at(name), message)
        return None
    return init("truncated_normal", mean=Value(mean, text.origin), std=Value(std, text.origin))


def _arguments(node: Node, name: str, text: Value[str], listed: str) -> dict[str, float] | None:
    """`a=1, b=2` as numbers."""
    arguments = {}
    for part in filter(None, (part.strip() for part in listed.split(","))):
        word, _, number = part.partition("=")
        try:
            arguments[word.strip()] = float(number)
        except ValueError:
            node.report.problem(text.origin, node.at(name), f"{part} is not of the form name=number")
            return None
    return arguments


def _fields(
    node: Node,
    name: str,
    text: Value[str],
    arguments: dict[str, float],
    known: dict[str, tuple[str, float | None]],
) -> dict[str, Any] | None:
    """Arguments under our names, with defaults for those left out."""
    for word in arguments:
        if word not in known:
            message = f"{word} is no argument of it{nearest(word, known)}; known: {', '.join(known)}"
            node.report.problem(text.origin, node.at(name), message)
            return None
    missing = [word for word, (_, default) in known.items() if default is None and word not in arguments]
    if missing:
        node.report.problem(text.origin, node.at(name), f"needs {', '.join(missing)}")
        return None
    return {ours: Value(arguments.get(word, default), text.origin) for word, (ours, default) in known.items()}


def normalizer(node: Node) -> dict[str, Any] | None:
    """A normaliser such as `method=zscore,mean=1,standard_deviation=2`."""
    if not node.has("normalizer"):
        return None
    text = node.text("normalizer")
    parts = [part.strip() for part in text.value.split(",")]
    method = next((part.partition("=")[2].strip() for part in parts if part.startswith("method=")), "")
    if method == "expression":
        return _formula(node, text)
    if method not in NORMALIZERS:
        known = (*NORMALIZERS, "expression")
        message = (
            f"{method} is not supported{nearest(method, known)}; write method=NAME,... with one of {', '.join(known)}"
        )
        node.report.problem(text.origin, node.at("normalizer"), message)
        return None
    listed = ",".join(part for part in parts if not part.startswith("method="))
    arguments = _arguments(node, "normalizer", text, listed)
    if arguments is None:
        return None
    fields = _fields(node, "normalizer", text, arguments, NORMALIZERS[method])
    return fields and {"kind": method, **fields}


def _formula(node: Node, text: Value[str]) -> dict[str, Any] | None:
    """The formula of x that follows `expr=`, commas and all."""
    found = re.search(r"(?:^|,)\s*expr\s*=(.*?)(?:,\s*method\s*=\s*expression\s*)?$", text.value, re.DOTALL)
    if found is None or not found.group(1).strip():
        message = "needs a formula of x: method=expression,expr=..."
        node.report.problem(text.origin, node.at("normalizer"), message)
        return None
    return {"kind": "expression", "text": Value(found.group(1).strip(), text.origin)}


def activation(node: Node) -> Value[str]:
    """The activation of an MLP, written as PyTorch's class."""
    text = node.text("activation", "nn.ReLU")
    written = re.sub(r"\s|\(\)$", "", text.value).replace('"', "'").removeprefix("torch.")
    if written == "nn.GELU(approximate='tanh')":
        return Value("gelu_tanh", text.origin)
    if written not in ACTIVATIONS:
        hint = nearest(written, filter(None, ACTIVATIONS))
        message = (
            f"{text.value} is not an activation that is known{hint}; known: {', '.join(filter(None, ACTIVATIONS))}"
        )
        node.report.problem(text.origin, node.at("activation"), message)
        return Value("relu", text.origin)
    return Value(ACTIVATIONS[written], text.origin)


def number_text(node: Node, name: str, text: Value[str]) -> Value[float] | None:
    """A number written in quotes; None for an empty text."""
    if not text.value:
        return None
    try:
        return Value(float(text.value), text.origin)
    except ValueError:
        node.report.problem(text.origin, node.at(name), f'needs a number in quotes, not "{text.value}"')
        return None

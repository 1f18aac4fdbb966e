"""Formulas that a config writes in Python and TensorFlow, as formulas of ours: known functions only, never run."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping

from polyrec.errors import nearest

LONGEST = 10_000
"""Characters of a formula."""
MODULES = ("tf", "tf.math", "tf.nn", "tf.compat.v1", "tf.compat.v1.math", "np", "numpy", "math")
CONSTANTS = {"pi": "_pi", "e": "_e"}
SAME = (
    "log",
    "log2",
    "log10",
    "exp",
    "sqrt",
    "abs",
    "sign",
    "sigmoid",
    "sin",
    "cos",
    "tan",
    "tanh",
    "floor",
    "ceil",
    "rint",
)
"""Functions of one number whose names are ours too."""
TEMPLATES = {
    **{name: f"{name}({{0}})" for name in SAME},
    "round": "rint({0})",
    "log1p": "log(1 + {0})",
    "expm1": "(exp({0}) - 1)",
    "square": "({0} ^ 2)",
    "rsqrt": "(1 / sqrt({0}))",
    "reciprocal": "(1 / {0})",
    "negative": "(-{0})",
    "relu": "max({0}, 0)",
    "identity": "{0}",
    "to_float": "{0}",
    "to_double": "{0}",
    "float": "{0}",
    "float32": "{0}",
    "is_nan": "isnan({0})",
    "isnan": "isnan({0})",
    "logical_not": "(!{0})",
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / {1})",
    "truediv": "({0} / {1})",
    "div": "({0} / {1})",
    "div_no_nan": "({1} == 0 ? 0 : {0} / {1})",
    "pow": "({0} ^ {1})",
    "power": "({0} ^ {1})",
    "max": "max({0}, {1})",
    "min": "min({0}, {1})",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
    "greater": "({0} > {1})",
    "greater_equal": "({0} >= {1})",
    "less": "({0} < {1})",
    "less_equal": "({0} <= {1})",
    "equal": "({0} == {1})",
    "not_equal": "({0} != {1})",
    "logical_and": "({0} && {1})",
    "logical_or": "({0} || {1})",
    "where": "({0} ? {1} : {2})",
    "clip_by_value": "min(max({0}, {1}), {2})",
    "clip": "min(max({0}, {1}), {2})",
}
BUILTINS = ("abs", "float", "max", "min", "pow", "round")
"""Functions that Python has without a module."""
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "({0} + {1})",
    ast.Sub: "({0} - {1})",
    ast.Mult: "({0} * {1})",
    ast.Div: "({0} / {1})",
    ast.FloorDiv: "floor({0} / {1})",
    ast.Pow: "({0} ^ {1})",
    # What is joined here are comparisons, of which TensorFlow makes truths.
    ast.BitAnd: "({0} && {1})",
    ast.BitOr: "({0} || {1})",
    ast.USub: "(-{0})",
    ast.UAdd: "{0}",
    ast.Not: "(!{0})",
    ast.Invert: "(!{0})",
    ast.Lt: "({0} < {1})",
    ast.LtE: "({0} <= {1})",
    ast.Gt: "({0} > {1})",
    ast.GtE: "({0} >= {1})",
    ast.Eq: "({0} == {1})",
    ast.NotEq: "({0} != {1})",
}


def is_python(text: str) -> bool:
    """Whether a formula has what only Python writes: functions of a module, or powers by `**`."""
    return "**" in text or re.search(r"\b(tf|np|numpy|math)\s*\.", text) is not None


def of_function(text: str, argument: str) -> str:
    """A function of one number, a known name such as `tf.math.log1p` or a lambda, as the formula of `argument`."""
    if re.fullmatch(r"[\w.]+", text.strip()):
        return translated(f"{text.strip()}(x)", {"x": argument})
    body = _parsed(text)
    if not isinstance(body, ast.Lambda):
        raise ValueError("is no function of one number: write a known name, or a formula as `lambda x: ...`")
    given = body.args
    if len(given.args) != 1 or given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
        raise ValueError("needs a lambda of one argument")
    return _translated(body.body, {given.args[0].arg: argument})


def translated(text: str, names: Mapping[str, str]) -> str:
    """A Python expression over these names as a formula of what they stand for; ValueError for any other code."""
    return _translated(_parsed(text), names)


def _translated(tree: ast.expr, names: Mapping[str, str]) -> str:
    try:
        return _Translation(names).of(tree)
    except RecursionError:
        raise ValueError("nests too deeply") from None


def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ValueError(f"is longer than {LONGEST} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("cannot be read as a formula") from None


class _Translation:
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def of(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=bool() | int() | float() as number) if math.isfinite(number):
                return repr(number * 1)
            case ast.Name(id=name):
                if name in self.names:
                    return self.names[name]
                raise ValueError(f"{name} is no input{nearest(name, self.names)}")
            case ast.Attribute(attr=name) if name in CONSTANTS and _dotted(node).rpartition(".")[0] in MODULES:
                return CONSTANTS[name]
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
                return OPERATORS[type(operator)].format(self.of(left), self.of(right))
            case ast.UnaryOp(op=operator, operand=operand) if type(operator) in OPERATORS:
                return OPERATORS[type(operator)].format(self.of(operand))
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in OPERATORS:
                return OPERATORS[type(operator)].format(self.of(left), self.of(right))
            case ast.Compare(ops=[_, _, *_]):
                raise ValueError("comparisons are not chained; join them by & and put each in parentheses")
            case ast.BoolOp(op=operator, values=values):
                return f"({(' && ' if isinstance(operator, ast.And) else ' || ').join(map(self.of, values))})"
            case ast.IfExp(test=test, body=body, orelse=other):
                return f"({self.of(test)} ? {self.of(body)} : {self.of(other)})"
            case ast.Call():
                return self._call(node)
            case _:
                raise ValueError(f"{ast.unparse(node)[:60]} is not available in formulas")

    def _call(self, node: ast.Call) -> str:
        name = _dotted(node.func)
        module, _, function = name.rpartition(".")
        if node.keywords:
            raise ValueError(f"{name}: arguments by name are not available")
        if module in MODULES and function == "cast" and len(node.args) == 2:
            return self._cast(node.args[0], _dotted(node.args[1]))
        is_known = function in TEMPLATES and (module in MODULES if module else function in BUILTINS)
        if not is_known:
            hint = nearest(function, TEMPLATES)
            raise ValueError(f"{name or ast.unparse(node.func)[:60]} is not a function that is known{hint}")
        template = TEMPLATES[function]
        needed = len(set(re.findall(r"\{\d\}", template)))
        if len(node.args) != needed:
            raise ValueError(f"{name} has {len(node.args)} arguments, and needs {needed}")
        return template.format(*map(self.of, node.args))

    def _cast(self, value: ast.expr, kind: str) -> str:
        word = kind.rpartition(".")[2]
        if word in ("float16", "float32", "float64", "double"):
            return self.of(value)
        if word in ("int8", "int16", "int32", "int64"):
            return f"trunc({self.of(value)})"
        if word == "bool":
            return f"({self.of(value)} != 0)"
        raise ValueError(f"cast to {kind or 'this'} is not available")


def _dotted(node: ast.expr) -> str:
    """`tf.math.log`, or an empty text for what is no such name."""
    if isinstance(node, ast.Name):
        return node.id
    inner = _dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{inner}.{node.attr}" if inner and isinstance(node, ast.Attribute) else ""

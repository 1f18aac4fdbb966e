"""Every function, against numbers worked out by Python's own mathematics or by hand."""

from __future__ import annotations

import math
import re
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from polyrec.features._expression.functions import FUNCTIONS, REFUSED
from polyrec.features.operators.expression import Expression

NAN = math.nan


def results(text: str, missing: str = "nan", **columns: list[Any]) -> list[Any]:
    rows = pa.record_batch({name: pa.array(values) for name, values in columns.items()})
    return (
        Expression.model_validate({"variables": {name: name for name in columns}, "text": text, "missing": missing})
        .apply(rows)
        .to_pylist()
    )


def close(expected: list[float | None]) -> Any:
    """Equal but for the last places; None is NaN here, which `near` makes of it."""
    return pytest.approx([NAN if x is None else x for x in expected], rel=1e-13, abs=1e-15, nan_ok=True)


def near(text: str, **columns: list[Any]) -> list[float]:
    return [NAN if x is None else x for x in results(text, **columns)]


X = [-2.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.5, 1e6]
EACH = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "log": math.log,
    "ln": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "rint": round,  # Python's round takes halves to the even number.
    "sign": lambda x: (x > 0) - (x < 0),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}


def by_python(function: Any, x: float) -> float | None:
    try:
        return float(function(x))
    except OverflowError:
        return math.inf
    except ValueError:
        # Outside the domain, but for the ends where the limit is infinite.
        return {("log", 0.0): -math.inf, ("atanh", 1.0): math.inf, ("atanh", -1.0): -math.inf}.get(
            (function.__name__.rstrip("210"), x)
        )


@pytest.mark.parametrize("name", EACH)
def test_functions_of_one_number(name: str) -> None:
    assert near(f"{name}(x)", x=X) == close([by_python(EACH[name], x) for x in X])


def test_logarithms_of_round_numbers_are_round() -> None:
    assert results("log10(x) + log2(y) + ln(_e)", x=[1000.0], y=[8.0]) == [7.0]


def test_rounding() -> None:
    x = [0.5, 1.5, 2.5, -0.5, -2.5, 0.49999999999999994, 2.4, -2.6, 4503599627370497.0]
    assert results("round(x)", x=x) == [1, 2, 3, -1, -3, 0, 2, -3, 4503599627370497]
    assert results("rint(x)", x=x) == [0, 2, 2, 0, -2, 0, 2, -3, 4503599627370497]
    assert results("roundp(x, 2)", x=[3.14159, 2.675, -1.005, 1234.5678]) == pytest.approx([3.14, 2.68, -1.0, 1234.57])
    assert results("roundp(x, y)", x=[1250.0, 1.25], y=[-2, 1]) == pytest.approx([1300, 1.3])


def test_remainders_have_the_sign_of_the_number() -> None:
    assert results("mod(x, y)", x=[7, -7, 7, 5.5, 1], y=[3, 3, -3, 2, 0]) == [1, -1, 1, 1.5, None]


def test_several_arguments() -> None:
    columns = {"x": [1.0, 5.0], "y": [4.0, -2.0]}
    assert results("min(x, y, 3)", **columns) == [1, -2]
    assert results("max(x, y, 3)", **columns) == [4, 5]
    assert results("sum(x, y, 3)", **columns) == [8, 6]
    assert results("avg(x, y, 3)", **columns) == pytest.approx([8 / 3, 2])
    assert results("min(x) + max(x) + sum(x) + avg(x)", **columns) == [4, 20]


def test_distances_on_the_earth() -> None:
    """A quarter and a half of a great circle, one degree along it, and a few metres."""
    circle = 2 * math.pi * 6371.0088
    columns = {
        "a": [0.0, 0, 10, 0, 116.4],
        "b": [0.0, -90, 0, 0, 39.9],
        "c": [90.0, 0, 11, 180, 116.4],
        "d": [0.0, 90, 0, 0, 39.90001],
    }
    expected = [circle / 4, circle / 2, circle / 360, circle / 2, circle * 1e-5 / 360]
    for name in ("sphere_dist", "haversine"):
        assert results(f"{name}(a, b, c, d)", **columns) == pytest.approx(expected, rel=1e-9)
    # From Beijing to Shanghai, as the crow flies.
    assert results("sphere_dist(116.4074, 39.9042, 121.4737, 31.2304)", a=[0]) == pytest.approx([1067], abs=1)


LISTS = [[1.0, 2.0, 4.0, 8.0], [3.0], [-1.0, 1.0]]
OTHERS = [[2.0, 1.0, 0.0, 1.0], [5.0], [0.5, 0.25]]
EVERY = {
    "len(x)": [len(x) for x in LISTS],
    "l2_norm(x)": [math.hypot(*x) for x in LISTS],
    "squared_norm(x)": [85.0, 9.0, 2.0],
    "dot(x, y)": [12.0, 15.0, -0.25],
    "euclid_dist(x, y)": [math.dist(x, y) for x, y in zip(LISTS, OTHERS, strict=True)],
    "corr(x, y)": [statistics.correlation(LISTS[0], OTHERS[0]), None, -1.0],
    "std_dev(x)": [statistics.pstdev(x) for x in LISTS],
    "pop_std_dev(x)": [statistics.stdev(LISTS[0]), None, statistics.stdev(LISTS[2])],
    "variance(x)": [statistics.pvariance(x) for x in LISTS],
    "pop_variance(x)": [statistics.variance(LISTS[0]), None, statistics.variance(LISTS[2])],
    "reduce_min(x)": [1.0, 3.0, -1.0],
    "reduce_max(x)": [8.0, 3.0, 1.0],
    "reduce_sum(x)": [15.0, 3.0, 0.0],
    "reduce_mean(x)": [3.75, 3.0, 0.0],
    "reduce_prod(x)": [64.0, 3.0, -1.0],
}


@pytest.mark.parametrize("text", EVERY)
def test_functions_of_lists(text: str) -> None:
    """Divisors: std_dev and variance have n, the ones with pop have n - 1, as the names are documented."""
    assert near(text, x=LISTS, y=OTHERS) == close(EVERY[text])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("len(x)", 1),
        ("l2_norm(x)", 3),
        ("dot(x, 2)", -6),
        ("dot(2, 3)", 6),
        ("reduce_prod(x)", -3),
        ("variance(x)", 0),
        ("len(4)", 1),
    ],
)
def test_a_number_is_a_list_of_one(text: str, expected: float) -> None:
    assert results(text, x=[-3.0, -3.0]) == [expected, expected]


def test_what_is_no_number() -> None:
    columns = {"x": [1.0, None, 3.0], "y": [None, None, 0.0]}
    assert results("isnan(x) + 2 * isnan(y)", **columns) == [2, 3, 0]
    assert results("isnan(x) ? -1 : x", **columns) == [1, -1, 3]
    assert results("x + y", **columns) == [None, None, 3]
    assert results("max(x, y)", **columns) == [None, None, 3]
    assert results("y ? 1 : 2", **columns) == [None, None, 2]
    # What the other side decides alone is known.
    assert results("x || y", **columns) == [1, None, 1]
    assert results("y && x", **columns) == [None, None, 0]
    assert results("x && 0", **columns) == [0, 0, 0]
    assert results("!y", **columns) == [None, None, 1]
    assert results("x | y", **columns) == [None, None, 3]
    assert results("1e30 & x", **columns) == [None, None, None]
    # As in C: NaN is equal to nothing, and neither more nor less.
    assert results("(y < 1) + (y >= 1) + (y == y)", **columns) == [0, 0, 2]
    assert results("y != y", **columns) == [1, 1, 0]


def test_sigmoid_does_not_overflow() -> None:
    assert results("sigmoid(x)", x=[-1e4, 1e4, 0.0]) == [0, 1, 0.5]
    with np.errstate(all="raise"):
        assert results("log(x) + 1 / x", x=[0.0, 1.0]) == [None, 1]


def test_every_function_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs/expressions.md").read_text(encoding="utf-8")
    written = {found for line in page.splitlines() if line.startswith("| `") for found in re.findall(r"`(\w+)\(", line)}
    assert written == {name for name in FUNCTIONS if name.isidentifier()}
    for name in REFUSED:
        assert f"`{name}` is refused: {REFUSED[name]}" in page


def test_every_function_is_tried_here() -> None:
    tried = {*EACH, *(text.partition("(")[0] for text in EVERY)}
    tried |= {"round", "roundp", "mod", "min", "max", "sum", "avg", "sphere_dist", "haversine", "isnan", "str_len"}
    assert {name for name in FUNCTIONS if name.isidentifier()} == tried

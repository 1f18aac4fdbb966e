"""What a formula may call. Numbers are float64; what has no value is NaN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import numpy as np

EARTH_KILOMETRES = 6371.0088
"""Mean radius of the earth."""


@dataclass(frozen=True, slots=True)
class Function:
    least: int
    most: int | None
    """Arguments; None for any number."""
    over: Literal["each", "list", "text"]
    """each: of numbers, one result for each. list: of the lists of rows, one result for each row. text: of the texts
    of a variable."""
    apply: Callable[..., np.ndarray]
    """Of arrays of one shape; for lists, of the arrays and then the place where each row begins."""


def _truth(found: np.ndarray) -> np.ndarray:
    return found.astype(np.float64)


def _both(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """0 when either is 0, else NaN when either is NaN."""
    unknown = (np.isnan(a) | np.isnan(b)) & (a != 0) & (b != 0)
    return np.where(unknown, np.nan, (a != 0) & (b != 0))


def _either(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """1 when either is a number other than 0, else NaN when either is NaN."""
    a_gap, b_gap = np.isnan(a), np.isnan(b)
    found = ((a != 0) & ~a_gap) | ((b != 0) & ~b_gap)
    return np.where(~found & (a_gap | b_gap), np.nan, found)


def _not(a: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a), np.nan, a == 0)


def _choose(asked: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(asked), np.nan, np.where(asked != 0, a, b))


def _bits(join: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Of the whole parts as 64-bit numbers; NaN for what does not fit."""

    def joined(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        fits = (np.abs(a) < 2**63) & (np.abs(b) < 2**63)
        whole = [np.where(fits, part, 0).astype(np.int64) for part in (a, b)]
        return np.where(fits, join(*whole).astype(np.float64), np.nan)

    return joined


def _round(x: np.ndarray) -> np.ndarray:
    """Halves away from zero; x + 0.5 would carry 0.49999999999999994 up."""
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0.0)


def _round_places(x: np.ndarray, places: np.ndarray) -> np.ndarray:
    scale = np.power(10.0, np.trunc(places))
    return _round(x * scale) / scale


def _sigmoid(x: np.ndarray) -> np.ndarray:
    """By way of exp(-|x|), which never overflows."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def _great_circle(lng1: np.ndarray, lat1: np.ndarray, lng2: np.ndarray, lat2: np.ndarray) -> np.ndarray:
    """Haversine formula, which loses nothing where points are near."""
    lng1, lat1, lng2, lat2 = (np.radians(part) for part in (lng1, lat1, lng2, lat2))
    half = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lng2 - lng1) / 2) ** 2
    return 2 * EARTH_KILOMETRES * np.arcsin(np.sqrt(np.clip(half, 0, 1)))


def _sum_of(*parts: np.ndarray) -> np.ndarray:
    return reduce(np.add, parts)


# -- over the lists of rows, none of which is empty


def _lengths(x: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return np.diff(starts, append=len(x)).astype(np.float64)


def _sums(x: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return np.add.reduceat(x, starts)


def _means(x: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return _sums(x, starts) / _lengths(x, starts)


def _spread(x: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """How far each number is from the mean of its row."""
    return x - np.repeat(_means(x, starts), np.diff(starts, append=len(x)))


def _variance(less: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def variance(x: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return _sums(_spread(x, starts) ** 2, starts) / (_lengths(x, starts) - less)

    return variance


def _deviation(less: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return lambda x, starts: np.sqrt(_variance(less)(x, starts))


def _dot(x: np.ndarray, y: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return _sums(x * y, starts)


def _correlation(x: np.ndarray, y: np.ndarray, starts: np.ndarray) -> np.ndarray:
    x, y = _spread(x, starts), _spread(y, starts)
    found = _dot(x, y, starts) / np.sqrt(_dot(x, x, starts) * _dot(y, y, starts))
    return np.clip(found, -1, 1)


def _each(count: int, apply: Callable[..., np.ndarray], most: int | None = -1) -> Function:
    return Function(count, count if most == -1 else most, "each", apply)


def _list(count: int, apply: Callable[..., np.ndarray]) -> Function:
    return Function(count, count, "list", apply)


FUNCTIONS: dict[str, Function] = {
    "||": _each(2, _either),
    "&&": _each(2, _both),
    "|": _each(2, _bits(np.bitwise_or)),
    "&": _each(2, _bits(np.bitwise_and)),
    "<": _each(2, lambda a, b: _truth(a < b)),
    "<=": _each(2, lambda a, b: _truth(a <= b)),
    ">": _each(2, lambda a, b: _truth(a > b)),
    ">=": _each(2, lambda a, b: _truth(a >= b)),
    "==": _each(2, lambda a, b: _truth(a == b)),
    "!=": _each(2, lambda a, b: _truth(a != b)),
    "+": _each(2, np.add),
    "-": _each(2, np.subtract),
    "*": _each(2, np.multiply),
    "/": _each(2, np.divide),
    "^": _each(2, np.power),
    "!x": _each(1, _not),
    "-x": _each(1, np.negative),
    "+x": _each(1, np.positive),
    "?:": _each(3, _choose),
    "isnan": _each(1, lambda x: _truth(np.isnan(x))),
    "sin": _each(1, np.sin),
    "cos": _each(1, np.cos),
    "tan": _each(1, np.tan),
    "asin": _each(1, np.arcsin),
    "acos": _each(1, np.arccos),
    "atan": _each(1, np.arctan),
    "sinh": _each(1, np.sinh),
    "cosh": _each(1, np.cosh),
    "tanh": _each(1, np.tanh),
    "asinh": _each(1, np.arcsinh),
    "acosh": _each(1, np.arccosh),
    "atanh": _each(1, np.arctanh),
    "log": _each(1, np.log),
    "ln": _each(1, np.log),
    "log2": _each(1, np.log2),
    "log10": _each(1, np.log10),
    "exp": _each(1, np.exp),
    "sqrt": _each(1, np.sqrt),
    "sign": _each(1, np.sign),
    "abs": _each(1, np.abs),
    "rint": _each(1, np.rint),
    "floor": _each(1, np.floor),
    "ceil": _each(1, np.ceil),
    "trunc": _each(1, np.trunc),
    "round": _each(1, _round),
    "roundp": _each(2, _round_places),
    "mod": _each(2, np.fmod),
    "sigmoid": _each(1, _sigmoid),
    "sphere_dist": _each(4, _great_circle),
    "haversine": _each(4, _great_circle),
    "min": _each(1, lambda *parts: reduce(np.minimum, parts), most=None),
    "max": _each(1, lambda *parts: reduce(np.maximum, parts), most=None),
    "sum": _each(1, _sum_of, most=None),
    "avg": _each(1, lambda *parts: _sum_of(*parts) / len(parts), most=None),
    "len": _list(1, _lengths),
    "l2_norm": _list(1, lambda x, starts: np.sqrt(_dot(x, x, starts))),
    "squared_norm": _list(1, lambda x, starts: _dot(x, x, starts)),
    "dot": _list(2, _dot),
    "euclid_dist": _list(2, lambda x, y, starts: np.sqrt(_dot(x - y, x - y, starts))),
    "corr": _list(2, _correlation),
    "std_dev": _list(1, _deviation(0)),
    "pop_std_dev": _list(1, _deviation(1)),
    "variance": _list(1, _variance(0)),
    "pop_variance": _list(1, _variance(1)),
    "reduce_min": _list(1, np.minimum.reduceat),
    "reduce_max": _list(1, np.maximum.reduceat),
    "reduce_sum": _list(1, _sums),
    "reduce_mean": _list(1, _means),
    "reduce_prod": _list(1, np.multiply.reduceat),
    "str_len": Function(1, 1, "text", np.asarray),
}
"""Operators too, under names that no formula can write as a call."""

HANDING_ON: dict[str, Function] = {
    name: replace(
        function, apply=_sum_of if function.over == "each" else lambda *parts: _sums(_sum_of(*parts[:-1]), parts[-1])
    )
    for name, function in FUNCTIONS.items()
}
"""The same with NaN of whatever meets NaN, also where the function itself knows better."""

REFUSED = {"rnd": "a row must become the same numbers in training, prediction and each time it is read"}

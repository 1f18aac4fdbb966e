"""How formulas are read, and what is said of those that cannot be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from polyrec.features._expression.evaluate import Numbers
from polyrec.features._expression.formula import Formula, check_names
from polyrec.features._expression.tokens import ExpressionError


def value(text: str, **variables: float) -> float:
    """Of one row, by way of the first variable or none."""
    formula = Formula(text, variables)
    found = formula({name: Numbers(np.array([x], np.float64)) for name, x in variables.items()}, {}.__getitem__)
    return float(np.ravel(found.values)[0])


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("8 - 3 - 2", 3),
        ("16 / 4 / 2", 2),
        ("2 ^ 3 ^ 2", 512),
        ("-2 ^ 2", -4),
        ("(-2) ^ 2", 4),
        ("2 ^ -1", 0.5),
        ("2 ^ -2 ^ 2", 1 / 16),
        ("2 * -3", -6),
        ("1 - -1", 2),
        ("--1", 1),
        ("+3", 3),
        ("!0", 1),
        ("!2", 0),
        ("!0 + 1", 2),
        ("!(1 > 2)", 1),
        ("1 + 1 < 3", 1),
        ("1 < 2 && 2 < 1", 0),
        ("1 < 2 || 2 < 1", 1),
        ("1 || 0 && 0", 1),
        ("4 | 2 & 2", 6),
        ("1 < 2 & 4 < 5", 1),
        ("6 & 3", 2),
        ("6 | 3", 7),
        ("6.9 & 3.9", 2),
        ("-1 & 255", 255),
        ("2 && 0.5", 1),
        ("1 ? 2 : 3", 2),
        ("0 ? 2 : 3", 3),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("1 ? 0 ? 4 : 5 : 6", 5),
        ("1 > 2 ? 3 : 4 + 1", 5),
        ("(1 < 2) == (2 < 3)", 1),
        ("1 != 2", 1),
        ("1e3", 1000),
        ("1.5E-1", 0.15),
        (".5", 0.5),
        ("2.", 2),
        ("_pi", math.pi),
        ("_e", math.e),
        ("\n 1\t+ 1 ", 2),
        ("7/2", 3.5),
        ("1 / 0", math.inf),
        ("max(1, min(5, 3), 2)", 3),
    ],
)
def test_precedence(text: str, result: float) -> None:
    assert value(text) == pytest.approx(result, rel=1e-15)


def test_names_are_variables_before_a_bracket_functions() -> None:
    assert value("len + max(len, 2)", len=7) == 14
    assert value("größe * 2", größe=4) == 8
    assert value("_x1 - x_1", _x1=3, x_1=1) == 2


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("", 1, "is empty"),
        ("a +", 4, "the formula ends; a number, a name or ( is needed"),
        ("a + * b", 5, "* is not expected here; a number, a name or ( is needed"),
        ("a b", 3, "b is not expected here"),
        ("(a + b", 7, "the formula ends, where ) is needed for the ( in column 1"),
        ("(a + b]", 7, "] is not known"),
        ("a + b)", 6, ") is not expected here; no ( stands open"),
        ("a ? b", 6, "the formula ends, where : is needed for the ? in column 3"),
        ("max(a b)", 7, "b, where ) is needed for the ( in column 4"),
        ("max(a, )", 8, ") is not expected here; a number, a name or ( is needed; no ( stands open"),
        ("a + prise", 5, "prise is no variable; did you mean price?"),
        ("a + zz", 5, "zz is no variable; variables: a, b, price"),
        ("a + lgo10(b)", 5, "lgo10 is no function; did you mean log10?"),
        ("a + log", 5, "log is a function; write log(...)"),
        ("2 * a(b)", 5, "a is a variable, no function; did you mean a * (...)?"),
        ("a + log(a, b)", 5, "log has 2 arguments, and needs 1"),
        ("a + dot(a)", 5, "dot has 1 argument, and needs 2"),
        ("min()", 1, "min has 0 arguments, and needs at least 1"),
        ("a = b", 3, "= is not known; did you mean ==?"),
        ("a ** b", 3, "** is not known; did you mean ^?"),
        ("a + 'x'", 5, "' is not known"),
        ("1.2.3", 1, "1.2. is no number, and no name"),
        ("30d", 1, "30d is no number, and no name"),
        ("a < b < 3", 7, "< would compare the 0 or 1 of < in column 3; join comparisons by &&, or use parentheses"),
        (
            "rnd()",
            1,
            "rnd is refused: a row must become the same numbers in training, prediction and each time it is read",
        ),
        (
            "a + rnd",
            5,
            "rnd is refused: a row must become the same numbers in training, prediction and each time it is read",
        ),
        ("str_len(a + b)", 11, "str_len needs a variable, whose texts it counts"),
        ("(" * 200, 101, "more than 100 levels deep; make parts of it columns"),
        ("-" * 200 + "a", 100, "more than 100 levels deep; make parts of it columns"),
        ("a^" * 200 + "a", 201, "more than 100 levels deep; make parts of it columns"),
    ],
)
def test_faults_are_told_with_their_column(text: str, column: int, what: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        Formula(text, ("a", "b", "price"))
    assert (caught.value.column, caught.value.what) == (column, what)
    assert str(caught.value) == f"column {column} of the formula: {what}"


def test_a_sum_of_thousands_is_no_matter() -> None:
    assert value(" + ".join(["a"] * 5000), a=2) == 10000


def test_names_that_no_formula_can_write() -> None:
    check_names(["a", "_b", "größe", "len"])
    for name in ("a-b", "3d", "a b", "", "_pi"):
        with pytest.raises(ValueError, match=r"cannot stand in a formula|is a constant"):
            check_names([name])


def test_what_a_formula_needs() -> None:
    formula = Formula("a + str_len(b) * c + str_len(a)", ("a", "b", "c", "d"))
    assert (formula.numbers, formula.texts) == (("a", "c"), ("b", "a"))

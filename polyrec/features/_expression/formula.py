"""Formulas as configs hold them: read once, and computed batch after batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from polyrec.features._expression.evaluate import Numbers, evaluate
from polyrec.features._expression.functions import FUNCTIONS, HANDING_ON
from polyrec.features._expression.parser import CONSTANTS, parse
from polyrec.features._expression.tokens import ExpressionError
from polyrec.features._expression.tree import Call, Variable, steps


class Formula:
    """A formula that is known to be right."""

    def __init__(self, text: str, variables: Collection[str]) -> None:
        self.tree = parse(text, variables)
        counted = {id(call.arguments[0]) for call in self._calls("text")}
        used = [node for node in steps(self.tree) if isinstance(node, Variable)]
        self.numbers = tuple(dict.fromkeys(node.name for node in used if id(node) not in counted))
        """Variables whose numbers it needs."""
        self.texts = tuple(dict.fromkeys(node.name for node in used if id(node) in counted))
        """Variables whose texts it counts."""

    def __call__(self, variables: Mapping[str, Numbers], text_lengths: Callable[[str], Numbers]) -> Numbers:
        # What is no number is a result like any other here, and needs no warning.
        with np.errstate(all="ignore"):
            return evaluate(self.tree, variables, text_lengths)

    def gaps(self, variables: Mapping[str, Numbers], text_lengths: Callable[[str], Numbers]) -> np.ndarray:
        """Which results come of anything that is NaN, bool; of the shape of the results."""
        marks = {name: _marks(numbers) for name, numbers in variables.items()}
        found = evaluate(self.tree, marks, lambda name: _marks(text_lengths(name)), HANDING_ON)
        return np.isnan(found.values)

    def of_one(self, name: str, values: np.ndarray) -> np.ndarray:
        """The result for each value of its only variable; the formula must take no lists."""
        found = self({name: Numbers(values.astype(np.float64).ravel())}, _no_texts).values
        return np.broadcast_to(found, values.size).reshape(values.shape)

    def refuse_lists(self) -> None:
        """For formulas of single numbers."""
        for call in (*self._calls("list"), *self._calls("text")):
            raise ExpressionError(call.column, f"{call.function} is of lists or texts; here are single numbers")

    def _calls(self, over: str) -> list[Call]:
        calls = [node for node in steps(self.tree) if isinstance(node, Call)]
        return [call for call in calls if FUNCTIONS[call.function].over == over]


def check_names(variables: Collection[str]) -> None:
    """ValueError for names that no formula can write."""
    for name in variables:
        if not name.isidentifier():
            raise ValueError(f"{name!r} cannot stand in a formula; a name is letters, digits and _, no digit first")
        if name in CONSTANTS:
            raise ValueError(f"{name} is a constant of formulas; call the variable something else")


def _marks(numbers: Numbers) -> Numbers:
    """NaN where they are, else 0."""
    return Numbers(np.where(np.isnan(numbers.values), np.nan, 0.0), numbers.lengths)


def _no_texts(name: str) -> Numbers:
    raise AssertionError(f"{name} has no texts")

"""A tree computed over whole columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polyrec.features._expression.functions import FUNCTIONS, Function
from polyrec.features._expression.tree import Constant, Node, Variable, steps


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of rows, one after another."""

    values: np.ndarray
    """float64 [V]; of no dimension when it is the same in all rows."""
    lengths: np.ndarray | None = None
    """int64 [B], at least 1 each; None when each row has one number that is no list."""
    given: np.ndarray | None = None
    """bool [B], whether the row of a variable had any numbers, for one that stands in for none; None for all."""


class LengthsError(ValueError):
    """Lists of one row that do not go together."""

    def __init__(self, row: int, what: str) -> None:
        self.row = row
        self.what = what
        super().__init__(what)


def evaluate(
    tree: Node,
    variables: Mapping[str, Numbers],
    text_lengths: Callable[[str], Numbers],
    functions: Mapping[str, Function] = FUNCTIONS,
) -> Numbers:
    """The result of each row."""
    stack: list[Numbers] = []
    for node in steps(tree):
        if isinstance(node, Constant):
            stack.append(Numbers(np.array(node.value)))
        elif isinstance(node, Variable):
            stack.append(variables.get(node.name, _UNREAD))
        else:
            count = len(node.arguments)
            arguments = stack[len(stack) - count :]
            del stack[len(stack) - count :]
            if functions[node.function].over == "text":
                first = node.arguments[0]
                assert isinstance(first, Variable)
                stack.append(text_lengths(first.name))
            else:
                stack.append(_call(node.function, functions[node.function], arguments))
    return stack[0]


_UNREAD = Numbers(np.array(np.nan))
"""A variable whose texts alone are wanted."""


def _call(name: str, function: Function, arguments: Sequence[Numbers]) -> Numbers:
    if function.over == "each":
        arrays, lengths = aligned(name, arguments)
        return Numbers(function.apply(*arrays), lengths)
    if name == "len" and (given := arguments[0].given) is not None and (counts := arguments[0].lengths) is not None:
        return Numbers(np.where(given, counts, 0).astype(np.float64))
    arrays, lengths = aligned(name, arguments)
    if lengths is None:
        return _of_single(function, arrays)
    starts = np.cumsum(lengths) - lengths
    return Numbers(function.apply(*(np.broadcast_to(array, int(lengths.sum())) for array in arrays), starts))


def _of_single(function: Function, arrays: Sequence[np.ndarray]) -> Numbers:
    """A number is a list of one."""
    wide = np.broadcast_arrays(*arrays)
    flat = [np.atleast_1d(array) for array in wide]
    found = function.apply(*flat, np.arange(len(flat[0])))
    return Numbers(found.reshape(wide[0].shape))


def aligned(name: str, arguments: Sequence[Numbers]) -> tuple[list[np.ndarray], np.ndarray | None]:
    """Arrays of one shape: what is one number in a row counts for all numbers of its other lists."""
    lists = [argument.lengths for argument in arguments if argument.lengths is not None]
    if not lists:
        return [argument.values for argument in arguments], None
    target = lists[0]
    if not all(lengths is target or np.array_equal(lengths, target) for lengths in lists):
        target = np.maximum.reduce(lists)
    return [_stretched(name, argument, target) for argument in arguments], target


def _stretched(name: str, argument: Numbers, target: np.ndarray) -> np.ndarray:
    values, lengths = argument.values, argument.lengths
    if values.ndim == 0 or lengths is target:
        return values
    if lengths is None:
        return np.repeat(values, target)
    same = lengths == target
    if same.all():
        return values
    wrong = ~same & (lengths != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        what = f"{name} meets lists of {target[row]} and {lengths[row]} numbers"
        raise LengthsError(row, f"{what}; they need to be equally long, or one number")
    return np.repeat(values, np.repeat(np.where(same, 1, target), lengths))

"""Random formulas over random columns, against an evaluation of one row after another that shares nothing with ours.

Numbers are small halves, divisors are powers of two: everything is exact, so results must be the very same.
"""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyrec.features.operators.expression import Expression

NAN = math.nan
Tree = tuple[Any, ...]
Row = dict[str, Any]

HOLDS = {"?:": 0, "||": 1, "&&": 2, "|": 3, "&": 4, "<": 5, "<=": 5, ">": 5, ">=": 5, "==": 5, "!=": 5, "+": 6, "-": 6}
HOLDS |= {"*": 7, "/": 7, "negative": 8, "not": 8}
COMPARING = ("<", "<=", ">", ">=", "==", "!=")


def of_two(sign: str, a: float, b: float) -> float:
    if sign in COMPARING:
        return float({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[sign])
    if sign == "&&":
        return 0.0 if 0 in (a, b) else NAN if math.isnan(a) or math.isnan(b) else 1.0
    if sign == "||":
        known = [x for x in (a, b) if not math.isnan(x)]
        return 1.0 if any(known) else 0.0 if len(known) == 2 else NAN
    if sign in "&|":
        if not (abs(a) < 2**63 and abs(b) < 2**63):
            return NAN
        return float(int(a) & int(b) if sign == "&" else int(a) | int(b))
    if sign == "/":
        if b == 0:
            return NAN if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
        return a / b
    return {"+": a + b, "-": a - b, "*": a * b}[sign]


def of_one(name: str, a: float) -> float:
    if name == "negative":
        return -a
    if name == "not":
        return NAN if math.isnan(a) else float(a == 0)
    if name == "isnan":
        return float(math.isnan(a))
    if name == "abs":
        return abs(a)
    if not math.isfinite(a):
        return a
    return float({"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc}[name](a))


def of_many(name: str, numbers: list[float]) -> float:
    if name == "sum":
        total = numbers[0]
        for x in numbers[1:]:
            total += x
        return total
    if any(math.isnan(x) for x in numbers):
        return NAN
    return min(numbers) if name == "min" else max(numbers)


def in_row(tree: Tree, row: Row) -> float | list[float]:
    """A number, or a list of them."""
    kind, *parts = tree
    if kind == "number":
        return parts[0]
    if kind == "variable":
        return row[parts[0]]
    found = [in_row(part, row) for part in parts]
    if kind.startswith("reduce_") or kind in ("len", "dot"):
        return over_lists(kind, found)
    longest = max((len(x) for x in found if isinstance(x, list)), default=None)
    if longest is None:
        return of_numbers(kind, found)
    wide = [x * (longest if len(x) == 1 else 1) if isinstance(x, list) else [x] * longest for x in found]
    return [of_numbers(kind, list(numbers)) for numbers in zip(*wide, strict=True)]


def over_lists(kind: str, found: list[Any]) -> float:
    lists = [x if isinstance(x, list) else [x] for x in found]
    if kind == "len":
        return float(len(lists[0]))
    if kind == "dot":
        a, b = lists
        longest = max(len(a), len(b))
        a, b = (x * longest if len(x) == 1 else x for x in (a, b))
        return of_many("sum", [x * y for x, y in zip(a, b, strict=True)])
    return of_many({"reduce_sum": "sum", "reduce_min": "min", "reduce_max": "max"}[kind], lists[0])


def of_numbers(kind: str, numbers: list[float]) -> float:
    if kind == "?:":
        asked, a, b = numbers
        return NAN if math.isnan(asked) else a if asked else b
    if kind in ("min", "max", "sum"):
        return of_many(kind, numbers)
    return of_one(kind, *numbers) if len(numbers) == 1 else of_two(kind, *numbers)


def written(tree: Tree, sparing: bool) -> str:
    """The formula, with all parentheses or only those that precedence asks for."""
    kind, *parts = tree
    if kind == "number":
        return repr(parts[0]).removesuffix(".0")
    if kind == "variable":
        return parts[0]
    if kind not in HOLDS:
        return f"{kind}({', '.join(written(part, sparing) for part in parts)})"

    def part(place: int) -> str:
        inner, text = parts[place], written(parts[place], sparing)
        if inner[0] not in HOLDS:
            return text
        own, other = HOLDS[kind], HOLDS[inner[0]]
        if kind == "?:":
            bare = place > 0 or other > own
        elif kind in COMPARING:
            bare = other > own
        elif len(parts) == 1:
            bare = other >= own
        else:
            bare = other > own or (other == own and place == 0)
        return text if bare and sparing else f"({text})"

    if kind == "?:":
        return f"{part(0)} ? {part(1)} : {part(2)}"
    if len(parts) == 1:
        return {"negative": "-", "not": "!"}[kind] + part(0)
    return f"{part(0)} {kind} {part(1)}"


NUMBER = st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0])
LEAF = st.one_of(
    NUMBER.map(lambda x: ("number", x)), st.sampled_from(["a", "b", "c", "d"]).map(lambda x: ("variable", x))
)


def larger(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    divisor = st.sampled_from([0.0, 0.5, 2.0, 4.0]).map(lambda x: ("number", x))
    return st.one_of(
        st.tuples(st.sampled_from(["||", "&&", "|", "&", *COMPARING, "+", "-", "*"]), inner, inner),
        st.tuples(st.just("/"), inner, divisor),
        st.tuples(st.sampled_from(["negative", "not", "isnan", "abs", "floor", "ceil", "trunc"]), inner),
        st.tuples(st.just("?:"), inner, inner, inner),
        st.tuples(st.sampled_from(["min", "max", "sum"]), inner, inner, inner),
        st.tuples(st.sampled_from(["reduce_sum", "reduce_min", "reduce_max", "len"]), inner),
        st.tuples(st.just("dot"), inner, inner),
    )


TREE = st.recursive(LEAF, larger, max_leaves=12)
VALUE = st.one_of(st.just(NAN), st.integers(-9, 9).map(lambda x: x / 2))


@st.composite
def row(draw: st.DrawFn) -> Row:
    """Two numbers, and two lists that are equally long or one long."""
    length = draw(st.integers(1, 5))
    lengths = [draw(st.sampled_from([1, length])) for _ in "cd"]
    lists = [draw(st.lists(VALUE, min_size=size, max_size=size)) for size in lengths]
    return {"a": draw(VALUE), "b": draw(VALUE), "c": lists[0], "d": lists[1]}


def has_list(tree: Tree) -> bool:
    """Whether a result is a list, whatever the row."""
    kind, *parts = tree
    if kind == "variable":
        return parts[0] in "cd"
    if kind == "number" or kind.startswith("reduce_") or kind in ("len", "dot"):
        return False
    return any(has_list(part) for part in parts)


def expected(tree: Tree, row: Row) -> Any:
    """None for NaN, and what is one number in a list of one where lists are the form of the result."""
    found = in_row(tree, row)
    if isinstance(found, list):
        return [None if math.isnan(x) else x for x in found]
    return None if math.isnan(found) else found


def batch(rows: list[Row]) -> pa.RecordBatch:
    number, several = pa.float64(), pa.list_(pa.float64())
    return pa.record_batch(
        {name: pa.array([row[name] for row in rows], several if name in "cd" else number) for name in "abcd"}
    )


def operator(text: str, missing: str = "nan") -> Expression:
    return Expression.model_validate({"variables": {name: name for name in "abcd"}, "text": text, "missing": missing})


@settings(max_examples=400, deadline=None)
@given(tree=TREE, rows=st.lists(row(), min_size=1, max_size=6), sparing=st.booleans())
def test_whole_columns_agree_with_row_after_row(tree: Tree, rows: list[Row], sparing: bool) -> None:
    out = operator(written(tree, sparing)).apply(batch(rows))
    assert pa.types.is_list(out.type) == has_list(tree)
    assert out.to_pylist() == [expected(tree, row) for row in rows]


@settings(max_examples=150, deadline=None)
@given(data=st.data(), tree=TREE, rows=st.lists(row(), max_size=8), missing=st.sampled_from(["nan", "skip"]))
def test_a_row_depends_on_nothing_but_itself(data: st.DataObject, tree: Tree, rows: list[Row], missing: str) -> None:
    made, whole = operator(written(tree, True), missing), batch(rows)
    found = made.apply(whole).to_pylist()
    start = data.draw(st.integers(0, len(rows)))
    assert made.apply(whole.slice(start)).to_pylist() == found[start:]
    assert made.apply(whole.slice(0, start)).to_pylist() == found[:start]
    order = data.draw(st.permutations(range(len(rows))))
    shuffled = batch([rows[place] for place in order])
    assert made.apply(shuffled).to_pylist() == [found[place] for place in order]
    assert made.apply(batch(rows + rows)).to_pylist() == found + found


@pytest.mark.parametrize(
    "name", ["sin", "cos", "tan", "exp", "log", "log2", "log10", "tanh", "sigmoid", "asinh", "cosh"]
)
def test_functions_give_the_same_bits_wherever_a_number_stands(name: str) -> None:
    """Processors take several numbers at once, and the last few of an array another way."""
    values = [0.1 + 0.37 * place for place in range(67)]
    made = Expression(variables={"x": "x"}, text=f"{name}(x) ^ 1.7")
    whole = made.apply(pa.record_batch({"x": values})).to_pylist()
    for start in range(67):
        assert made.apply(pa.record_batch({"x": values}).slice(start)).to_pylist() == whole[start:]
    assert [made.apply(pa.record_batch({"x": [x]})).to_pylist()[0] for x in values] == whole

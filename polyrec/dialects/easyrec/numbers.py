"""Features whose columns hold numbers: `RawFeature` and `ExprFeature`."""

from __future__ import annotations

from typing import Any

from polyrec.dialects.easyrec.feature import Feature, Source, embedding
from polyrec.dialects.easyrec.formulas import is_python, of_function, translated
from polyrec.dialects.fields import mapped
from polyrec.dialects.node import Node, Value

COMBINERS = {"sum": "sum", "mean": "mean", "min": "min", "max": "max"}
NO_TABLE = "a table is for ids, and for numbers with an embedding_dim"


def read_raw(source: Source) -> Feature:
    node = source.node
    (column,) = source.columns_of(1, 1, "one column")[:1]
    size, separator = node.integer("raw_input_dim", 1), node.text("separator", "|")
    several = mapped(separator, lambda text: text if size.value > 1 else None)
    column, derived = _pooled(source, column, size, separator)
    low, high = read_range(node)
    is_scaled, is_pooled = high.value > low.value, bool(derived)
    function = _normalizer(node, (low.value, high.value) if is_scaled else None)
    # Boundaries are of scaled numbers upstream; scaling them back spares the numbers, where nothing else changes them.
    limits = (low.value, high.value) if is_scaled and function is None else (0.0, 1.0)
    boundaries = read_boundaries(node, is_scaled, limits)
    if boundaries:
        if function is not None:
            name = mapped(function, lambda _: source.derived_name("normalized"))
            operator = {"kind": "expression", "variables": {"x": column}, "text": function, "separator": several}
            derived = [*derived, {"name": name, "operator": operator}]
            column = name
        rows = Value((len(boundaries) + 1) * size.value, boundaries[0].origin)
        draft = {"kind": "bucketized", "name": source.name, "column": column, "boundaries": boundaries, "default": 0.0}
        if size.value > 1:
            draft.update(size=size, separator=separator)
        return Feature(source.name, draft, 0, rows, derived=tuple(derived), **embedding(node, pools=not is_pooled))
    normalizer = {"kind": "minmax", "low": low, "high": high} if is_scaled else None
    draft = {
        "kind": "raw",
        "name": source.name,
        "column": column,
        "size": size,
        "separator": several,
        "default": 0.0,
        "normalizer": normalizer if function is None else {"kind": "expression", "text": function},
    }
    vectors = vectors_of_numbers(node, pools=not is_pooled)
    return Feature(source.name, draft, size.value, derived=tuple(derived), **vectors)


def read_expression(source: Source) -> Feature:
    """Truths count as 1 and 0; a row where the formula makes no number has 0."""
    node = source.node
    columns = source.columns_of(1, None, "one column or several")
    text = node.text("expression")
    variables = {column.value: column for column in columns}
    formula = text
    if node.has("expression") and is_python(text.value):
        try:
            formula = mapped(text, lambda words: translated(words, {name: name for name in variables}))
        except ValueError as error:
            node.report.problem(text.origin, node.at("expression"), str(error))
            formula = Value("0", text.origin)
    name = source.derived_name("expression")
    operator = {"kind": "expression", "variables": variables, "text": formula}
    draft = {"kind": "raw", "name": source.name, "column": name, "default": 0.0}
    return Feature(source.name, draft, 1, derived=({"name": name, "operator": operator},))


def read_range(node: Node) -> tuple[Value[float], Value[float]]:
    low, high = node.number("min_val", 0.0), node.number("max_val", 0.0)
    if high.value < low.value:
        node.report.problem(high.origin, node.at("max_val"), f"is less than min_val, {low.value:g}")
    return low, high


def read_boundaries(node: Node, is_scaled: bool, limits: tuple[float, float]) -> list[Value[float]]:
    """Those that are given, in rising order, or those of equal buckets; 0 and 1 of them lie at the limits."""
    boundaries = sorted(node.numbers("boundaries"), key=lambda value: value.value)
    buckets = node.integer("num_buckets", 0)
    if boundaries:
        node.ignore({"num_buckets": "boundaries are given as well and win"})
    elif buckets.value > 1 and is_scaled:
        boundaries = [Value(number / buckets.value, buckets.origin) for number in range(buckets.value)]
    elif buckets.value > 1:
        message = "equal buckets lie between min_val and max_val; give both, or write boundaries"
        node.report.problem(buckets.origin, node.at("num_buckets"), message)
    low, high = limits
    return [mapped(value, lambda place: place * (high - low) + low) for value in boundaries]


def vectors_of_numbers(node: Node, pools: bool) -> dict[str, Any]:
    """How numbers are embedded, or nothing."""
    found = embedding(node, pools)
    if not found["embedding_dim"].value:
        node.ignore({name: NO_TABLE for name in ("embedding_name", "initializer", *(["combiner"] if pools else []))})
        return {}
    if found["pooling"].value != "sum":
        message = "numbers that are embedded are added up; leave combiner out"
        node.report.problem(found["pooling"].origin, node.at("combiner"), message)
    return found


def _pooled(
    source: Source, column: Value[str], size: Value[int], separator: Value[str]
) -> tuple[Value[str], list[dict[str, Any]]]:
    """Several vectors of a row made one, where a text holds several."""
    node = source.node
    between = node.text("seq_multi_sep", "")
    if not between.value:
        return column, []
    if not node.has("combiner") or source.data.fields.get(column.value, "string") != "string":
        node.ignore({"seq_multi_sep": "only texts have several values, which a combiner makes one"})
        return column, []
    combiner = node.choice("combiner", COMBINERS)
    operator = {"kind": "combine", "column": column, "combiner": combiner, "separator": between}
    if size.value > 1:
        operator.update(size=size, value_separator=separator)
    name = mapped(column, lambda _: source.derived_name("combined"))
    return name, [{"name": name, "operator": operator}]


def _normalizer(node: Node, limits: tuple[float, float] | None) -> Value[str] | None:
    """`normalizer_fn` as a formula of x; numbers between limits are scaled before."""
    text = node.text("normalizer_fn", "")
    if not text.value:
        return None
    argument = "x" if limits is None else f"((x - ({limits[0]!r})) / {limits[1] - limits[0]!r})"
    try:
        return mapped(text, lambda words: of_function(words, argument))
    except ValueError as error:
        message = f"{error}; functions are not run, known ones are read: tf.math.log1p, lambda x: tf.sqrt(x) / 10"
        node.report.problem(text.origin, node.at("normalizer_fn"), message)
        return None

"""What holds of every operator, whatever its kind, and of every kind under many settings."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from polyrec import catalog
from polyrec.assets import assets
from polyrec.config import Derived, EachPosition
from polyrec.families import OperatorConfig
from polyrec.features._program import make
from polyrec.features.operators.bool_mask import BoolMask
from polyrec.features.operators.combine import Combine
from polyrec.features.operators.combo import Combo
from polyrec.features.operators.constant import Constant
from polyrec.features.operators.cross import Cross
from polyrec.features.operators.edit_distance import EditDistance
from polyrec.features.operators.expression import Expression
from polyrec.features.operators.fixed_point import FixedPoint
from polyrec.features.operators.kv_dot_product import KvDotProduct
from polyrec.features.operators.listed import Listed
from polyrec.features.operators.lookup import Lookup
from polyrec.features.operators.match import Match
from polyrec.features.operators.overlap import Overlap
from polyrec.features.operators.regex_replace import RegexReplace
from polyrec.features.operators.text_normalize import TextNormalize

# Few words, so that rows often share some.
WORD = st.sampled_from(["a", "b", "c", "22", "é"])
NUMBER = st.sampled_from(["0", "1", "-2.5", "0.1", "7e3"])
TRUTH = st.sampled_from(["true", "False", "1", "0", ""])
TEXT = pa.string()
Rows = list[tuple[str | None, ...]]


def joined(part: st.SearchStrategy[str], separator: str = ";", most: int = 5) -> st.SearchStrategy[str | None]:
    return st.one_of(st.none(), st.lists(part, max_size=most).map(separator.join))


def pair(joint: str, value: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.tuples(WORD, value).map(joint.join), WORD)


def texts(*columns: st.SearchStrategy[str | None]) -> st.SearchStrategy[tuple[str | None, ...]]:
    return st.tuples(*columns)


MASKED = st.lists(st.tuples(WORD, TRUTH), max_size=4).map(
    lambda pairs: (";".join(pair[0] for pair in pairs), ";".join(pair[1] for pair in pairs))
)
NO_OR_NUMBER = st.one_of(st.none(), st.just(""), NUMBER)
ONE_WORD = st.one_of(st.none(), st.just(""), WORD)
MAP, NUMBERS = joined(pair(":", WORD)), joined(pair(":", NUMBER))
NESTED = joined(st.tuples(WORD, joined(pair(":", NUMBER), ",", 3).map(lambda text: text or "")).map("^".join), "|")
SEPARATED = (";", ";")

OPERATORS: dict[str, tuple[OperatorConfig, st.SearchStrategy[tuple[str | None, ...]]]] = {
    "constant": (Constant(value="x"), texts(WORD)),
    "listed": (Listed(column="0", separator=";", default="z", most=2), texts(joined(WORD))),
    "listed without default": (Listed(column="0", separator=";"), texts(joined(ONE_WORD.map(lambda text: text or "")))),
    "combo": (Combo(columns=("0", "1"), separators=(";", None), joint="-"), texts(joined(WORD), ONE_WORD)),
    "combo filled": (
        Combo(columns=("0", "1", "2"), separators=(";", None, None), missing="value"),
        texts(joined(WORD), ONE_WORD, ONE_WORD),
    ),
    "cross": (Cross(columns=("0", "1"), separators=SEPARATED, rows=1000), texts(joined(WORD), joined(WORD))),
    "cross filled": (Cross(columns=("0", "1"), rows=2**62, missing="value"), texts(ONE_WORD, ONE_WORD)),
    "lookup one key": (
        Lookup(map="0", keys="1", separator=";", values="text", repeats="all", key_joint="_", most=2),
        texts(MAP, ONE_WORD),
    ),
    "lookup keys": (
        Lookup(map="0", keys="1", separator=";", key_separator=";", values="text", repeats="last"),
        texts(MAP, joined(WORD)),
    ),
    "lookup mean": (
        Lookup(map="0", keys="1", separator=";", key_separator=";", values="number", repeats="first", combiner="mean"),
        texts(NUMBERS, joined(WORD)),
    ),
    "match": (Match(map="0", outer_key="1", inner_key="2", values="number"), texts(NESTED, ONE_WORD, ONE_WORD)),
    "match shown": (
        Match(map="0", outer_key=None, inner_key="1", values="text", prefix="f", show_outer=True, show_inner=True),
        texts(NESTED, ONE_WORD),
    ),
    "match all": (Match(map="0", outer_key="1", inner_key=None, values="text"), texts(NESTED, ONE_WORD)),
    "kv_dot_product": (KvDotProduct(query="0", document="1", separator=";"), texts(NUMBERS, NUMBERS)),
    "bool_mask": (BoolMask(values="0", mask="1", separator=";"), MASKED),
    "combine": (Combine(column="0", combiner="sum", separator=";"), texts(joined(NUMBER))),
    "combine gaps": (Combine(column="0", combiner="gap_max", separator=";"), texts(joined(NUMBER))),
    "combine mapped": (
        Combine(column="0", combiner="mean", separator=";", value_map={"a": 0.1, "22": 0.7}),
        texts(joined(WORD)),
    ),
    "fixed_point": (FixedPoint(column="0", places=1), texts(NO_OR_NUMBER)),
    "edit_distance": (EditDistance(first="0", second="1"), texts(joined(WORD, ""), joined(WORD, ""))),
    "expression": (
        Expression(variables={"a": "0", "b": "1"}, text="a < b ? a : log(b)"),
        texts(NO_OR_NUMBER, NO_OR_NUMBER),
    ),
    "expression lists": (
        Expression(variables={"a": "0", "b": "1", "t": "0"}, text="a * b + str_len(t)", separator=";", default=-1),
        texts(joined(NUMBER), NO_OR_NUMBER),
    ),
    "regex_replace": (RegexReplace(column="0", pattern="[ab]+", replacement="_"), texts(joined(WORD))),
    "text_normalize": (TextNormalize(column="0", steps=("upper", "filter")), texts(joined(WORD))),
    **{
        f"overlap {method}": (
            Overlap(query="0", title="1", method=method, separator=";"),
            texts(joined(WORD), joined(WORD, most=8)),
        )
        for method in Overlap.model_fields["method"].annotation.__args__
    },
}


def batch(rows: Rows, kind: pa.DataType = TEXT) -> pa.RecordBatch:
    columns: list[Sequence[str | None]] = list(zip(*rows, strict=True)) if rows else [()] * 3
    return pa.record_batch({str(at): pa.array(values, pa.string()).cast(kind) for at, values in enumerate(columns)})


@pytest.mark.parametrize("name", OPERATORS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_row_depends_on_nothing_but_itself(name: str, data: st.DataObject) -> None:
    operator, rows_of = OPERATORS[name]
    rows = data.draw(st.lists(rows_of, max_size=10))
    whole = operator.apply(batch(rows)).to_pylist()
    assert len(whole) == len(rows)
    start = data.draw(st.integers(0, len(rows)))
    assert operator.apply(batch(rows).slice(start)).to_pylist() == whole[start:]
    assert operator.apply(batch(rows).slice(0, start)).to_pylist() == whole[:start]
    order = data.draw(st.permutations(range(len(rows))))
    assert operator.apply(batch([rows[at] for at in order])).to_pylist() == [whole[at] for at in order]
    assert operator.apply(batch(rows + rows)).to_pylist() == whole + whole


@pytest.mark.parametrize("name", OPERATORS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_form_of_text_agrees(name: str, data: st.DataObject) -> None:
    operator, rows_of = OPERATORS[name]
    rows = data.draw(st.lists(rows_of, max_size=8))
    plain = batch(rows)
    whole = operator.apply(plain).to_pylist()
    for kind in (pa.large_string(), pa.string_view(), pa.binary()):
        assert operator.apply(batch(rows, kind)).to_pylist() == whole
    encoded = pa.record_batch({column: plain[column].dictionary_encode() for column in plain.schema.names})
    assert operator.apply(encoded).to_pylist() == whole
    start = data.draw(st.integers(0, len(rows)))
    assert operator.apply(encoded.slice(start)).to_pylist() == whole[start:]


SPLIT = {name: operator for name, (operator, _) in OPERATORS.items() if ";" in operator.dump().values()} | {
    name: OPERATORS[name][0] for name in ("combo", "combo filled", "cross")
}
IS_ONE_WORD = {"combo": "1", "combo filled": "12", "lookup one key": "1"}


@pytest.mark.parametrize("name", SPLIT)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_lists_agree_with_texts_between_separators(name: str, data: st.DataObject) -> None:
    operator, rows_of = OPERATORS[name]
    rows = data.draw(st.lists(rows_of, max_size=8))
    plain = batch(rows)
    whole = operator.apply(plain).to_pylist()
    start = data.draw(st.integers(0, len(rows)))
    for kind in (pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.dictionary(pa.int8(), "string"))):
        lists = pa.record_batch(
            {
                column: plain[column]
                if column in IS_ONE_WORD.get(name, "")
                else pa.array([text and text.split(";") for text in plain[column].to_pylist()], pa.list_(pa.string()))
                for column in plain.schema.names
            }
        )
        cast = [found.cast(kind) if pa.types.is_list(found.type) else found for found in lists.columns]
        found = pa.record_batch(cast, lists.schema.names)
        assert operator.apply(found).to_pylist() == whole
        assert operator.apply(found.slice(start)).to_pylist() == whole[start:]


@pytest.mark.parametrize("name", OPERATORS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_position_is_made_like_a_row(name: str, data: st.DataObject) -> None:
    operator, rows_of = OPERATORS[name]
    if not operator.inputs:
        return
    rows = data.draw(st.lists(rows_of, min_size=1, max_size=6))
    last = operator.inputs[-1]
    plain = batch(rows)
    # Each row three times over as positions of one sequence beside values of the row, and all rows as one sequence.
    wanted = operator.apply(plain).to_pylist()
    sequences = pa.array([[text] * 3 for text in plain[last].to_pylist()], pa.list_(pa.string()))
    beside = pa.record_batch({**{column: plain[column] for column in plain.schema.names}, last: sequences})
    made = make(Derived(name="d", operator=operator, each_position=EachPosition(columns=(last,))), beside)
    assert made.to_pylist() == [[value] * 3 for value in wanted]
    nested = pa.record_batch({column: pa.array([plain[column].to_pylist()]) for column in plain.schema.names})
    made = make(Derived(name="d", operator=operator, each_position=EachPosition(columns=operator.inputs)), nested)
    assert made.to_pylist() == [wanted]


WHOLE = [1, None, 22, 3, 1]
TYPED = {
    "int8": pa.array(WHOLE, pa.int8()),
    "uint64": pa.array(WHOLE, pa.uint64()),
    "float16": pa.array([None if value is None else np.float16(value) for value in WHOLE], pa.float16()),
    "float64": pa.array(WHOLE, pa.float64()),
    "dictionary of whole numbers": pa.array(WHOLE).dictionary_encode(),
    "decimal": pa.array([None if value is None else Decimal(value) for value in WHOLE], pa.decimal128(5, 0)),
    "timestamp": pa.array(WHOLE, pa.timestamp("us")),
    "date": pa.array(WHOLE, pa.date32()),
    "binary": pa.array([None if value is None else str(value).encode() for value in WHOLE], pa.binary()),
    "list": pa.array([value if value is None else [value, None] for value in WHOLE], pa.list_(pa.int16())),
    "large_list": pa.array([value if value is None else [value] for value in WHOLE], pa.large_list(pa.float32())),
    "fixed_size_list": pa.array([value if value is None else [value] for value in WHOLE], pa.list_(pa.int64(), 1)),
    "list_view": pa.array([value if value is None else [value] for value in WHOLE], pa.list_view(pa.int64())),
    "map": pa.array([value if value is None else [(value, 0.5)] for value in WHOLE], pa.map_(pa.int32(), pa.float32())),
    "list of dictionary": pa.array([value if value is None else [str(value)] for value in WHOLE]).cast(
        pa.list_(pa.dictionary(pa.int8(), pa.string()))
    ),
}
TAKERS: dict[str, tuple[OperatorConfig, pa.Array]] = {
    "combo": (Combo(columns=("0", "1")), pa.array(["a", "b", "c", None, "d"])),
    "cross": (Cross(columns=("0", "1"), rows=10**9, integers="text"), pa.array(["a", "b", "c", None, "d"])),
    "lookup": (
        Lookup(map="1", keys="0", separator=";", values="text", repeats="all"),
        pa.array(["1:a", "1:b", "1:c;22:d", None, "2:e"]),
    ),
    "match": (
        Match(map="1", outer_key="0", inner_key=None, values="text", show_inner=True),
        pa.array(["1^x:a", "", "1^x:c|22^y:d,z:e", None, "2^x:e"]),
    ),
    "overlap": (
        Overlap(query="0", title="1", method="index_of", separator=";"),
        pa.array([["1"], ["1"], ["1", "22"], None, ["2"]]),
    ),
    "kv_dot_product": (KvDotProduct(query="1", document="0", separator=";"), pa.array(["1:2", "", "22:3", "4", "1;1"])),
}


@pytest.mark.parametrize("kind", TYPED)
@pytest.mark.parametrize("name", TAKERS)
def test_every_type_of_values_is_taken_as_its_text(name: str, kind: str) -> None:
    operator, beside = TAKERS[name]
    typed, plain = TYPED[kind], pa.array([None if value is None else str(value) for value in WHOLE])
    wanted = operator.apply(pa.record_batch({"0": plain, "1": beside})).to_pylist()
    if (name, kind) == ("kv_dot_product", "map"):
        wanted = [value and value / 2 for value in wanted]
    rows = pa.record_batch({"0": typed, "1": beside})
    assert operator.apply(rows).to_pylist() == wanted
    assert operator.apply(rows.slice(2)).to_pylist() == wanted[2:]
    each = Derived(name="d", operator=operator, each_position=EachPosition(columns=("0",)))
    if typed.type != plain.type and not pa.types.is_nested(typed.type):
        sequence = pa.ListArray.from_arrays(pa.array([0, 2, 5], pa.int32()), typed)
        made = make(each, pa.record_batch({"0": sequence, "1": beside.take(pa.array([0, 2]))}))
        spread = pa.record_batch({"0": plain, "1": beside.take(pa.array([0, 0, 2, 2, 2]))})
        found = operator.apply(spread).to_pylist()
        assert made.to_pylist() == [found[:2], found[2:]]


def example(name: str) -> OperatorConfig:
    return catalog.find(OperatorConfig, name).example()


WITHOUT_FILES = [name for name in catalog.names(OperatorConfig) if not list(assets(example(name)))]


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_every_operator_takes_texts_of_numbers_nulls_and_no_rows(name: str) -> None:
    operator = example(name)
    texts = pa.array(["3", "12", None, "7", ""])
    rows = pa.record_batch({"other": texts, **dict.fromkeys(operator.inputs, texts)})
    assert len(operator.apply(rows)) == 5
    none = operator.apply(rows.slice(5))
    assert len(none) == 0
    assert none.type == operator.apply(rows).type


@pytest.mark.parametrize("name", catalog.names(OperatorConfig))
def test_every_operator_is_read_back_from_its_text(name: str) -> None:
    operator = example(name)
    adapter: Any = TypeAdapter(OperatorConfig)
    assert adapter.validate_python(operator.dump()) == operator
    assert adapter.validate_json(adapter.dump_json(operator)) == operator

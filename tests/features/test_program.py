"""Columns made of others, alone, in chains and for each position of sequences."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute
import pytest
import yaml
from own_form import RUN

from polyrec.config import Derived, EachPosition, RunConfig
from polyrec.data.columns import RowError
from polyrec.families import OperatorConfig
from polyrec.features._program import Program, in_order, make
from polyrec.features._values import column
from polyrec.features.operators.combo import Combo
from polyrec.features.operators.kv_dot_product import KvDotProduct
from polyrec.features.operators.lookup import Lookup

compute: Any = pyarrow.compute


class Joined(OperatorConfig):
    """Texts with a dash between them; refuses an x."""

    of: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.of

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        texts = [column(rows, name).cast(pa.string()) for name in self.of]
        for name, found in zip(self.of, texts, strict=True):
            if "x" in found.to_pylist():
                raise RowError(f"column {name}", found.to_pylist().index("x"), "is an x")
        return compute.binary_join_element_wise(*texts, "-")


def derived(name: str, *of: str, each: EachPosition | None = None) -> Derived:
    return Derived(name=name, operator=Joined(of=of), each_position=each)


def test_each_comes_after_all_that_it_reads() -> None:
    a, b, c, unused = derived("a", "b", "c"), derived("b", "c", "x"), derived("c", "y"), derived("d", "a")
    assert [item.name for item in in_order((a, b, c, unused), ["a"])] == ["c", "b", "a"]
    assert [item.name for item in in_order((a, b, c, unused), ["d", "b"])] == ["c", "b", "a", "d"]
    assert in_order((a, b, c), ["y"]) == []


def test_rows_as_they_are() -> None:
    rows = pa.record_batch({"a": ["1", None, "2"], "b": [3, 4, 5]})
    assert make(derived("c", "a", "b"), rows).to_pylist() == ["1-3", None, "2-5"]


def test_each_position_of_texts_and_lists_beside_a_value_of_the_row() -> None:
    rows = pa.record_batch({"a": ["p;q;r", "", None, "s"], "b": [[1, 2, 3], [], None, [4]], "c": ["u", "v", "w", "z"]})
    each = EachPosition(columns=("a", "b"), separator=";")
    found = make(derived("d", "a", "b", "c", each=each), rows)
    assert found.to_pylist() == [["p-1-u", "q-2-u", "r-3-u"], [], [], ["s-4-z"]]
    cut = EachPosition(columns=("a", "b"), separator=";", max_length=2)
    assert make(derived("d", "a", "b", each=cut), rows).to_pylist() == [["p-1", "q-2"], [], [], ["s-4"]]
    assert make(derived("d", "a", each=each), rows.slice(3)).to_pylist() == [["s"]]


def test_sequences_that_are_read_together_must_be_equally_long() -> None:
    rows = pa.record_batch({"a": ["p", "q;r"], "b": [[1], [2]]})
    with pytest.raises(RowError, match="column b: row 1: 1 positions but 2 in a; d reads both position by position"):
        make(derived("d", "a", "b", each=EachPosition(columns=("a", "b"), separator=";")), rows)


def test_a_fault_in_a_position_names_its_row() -> None:
    rows = pa.record_batch({"a": ["p;q", "", "r;x"]})
    with pytest.raises(RowError, match=r"^column a: row 2: is an x$"):
        make(derived("d", "a", each=EachPosition(columns=("a",), separator=";")), rows)


MAPS = {
    "text": pa.array(["a:1|b:2", "", None, "a:9"]),
    "list": pa.array([["a:1", "b:2"], [], None, ["a:9"]]),
    "map": pa.array([[("a", 1), ("b", 2)], [], None, [("a", 9)]], pa.map_(pa.string(), pa.int64())),
}


@pytest.mark.parametrize("form", MAPS)
def test_the_map_of_a_row_beside_its_sequence_of_keys(form: str) -> None:
    rows = pa.record_batch({"m": MAPS[form], "k": ["a;b;z;b,a", "a;a", "a", "a;a"]})
    fields = {"map": "m", "keys": "k", "separator": "|", "key_separator": ",", "values": "number", "repeats": "first"}
    item = Derived(
        name="d",
        operator=Lookup(**fields, combiner="sum"),
        each_position=EachPosition(columns=("k",), separator=";"),
    )
    wanted = [[1, 2, None, 3], [None, None], [None], [9, 9]]
    assert make(item, rows).to_pylist() == wanted
    assert make(item, rows.slice(1)).to_pylist() == wanted[1:]
    item = Derived(
        name="d",
        operator=Lookup(**fields),
        each_position=EachPosition(columns=("k",), separator=";"),
    )
    assert make(item, rows).to_pylist()[0] == [[1], [2], [], [2, 1]]


def test_a_fault_in_the_map_of_a_row_names_that_row() -> None:
    rows = pa.record_batch({"m": ["a:1", "a:1", "a:x"], "k": ["a;a", "a", "b;a;a"]})
    item = Derived(
        name="d",
        operator=KvDotProduct(query="m", document="k", separator="|"),
        each_position=EachPosition(columns=("k",), separator=";"),
    )
    with pytest.raises(RowError, match="column m: row 2: cannot read 'x' as a number"):
        make(item, rows)
    assert make(item, rows.slice(0, 2)).to_pylist() == [[1, 1], [1]]


def test_positions_that_hold_several_values() -> None:
    rows = pa.record_batch({"u": ["x", "y"], "s": pa.array([[["p", "q"], [], None, ["r"]], None])})
    item = Derived(name="d", operator=Combo(columns=("u", "s")), each_position=EachPosition(columns=("s",)))
    assert make(item, rows).to_pylist() == [[["x_p", "x_q"], [], [], ["x_r"]], []]


def test_a_map_is_not_copied_to_each_position() -> None:
    long = "|".join(f"{number}:1" for number in range(100_000))
    rows = pa.record_batch({"m": [long], "k": [[5] * 2000]})
    item = Derived(
        name="d",
        operator=Lookup(map="m", keys="k", separator="|", values="number", repeats="first", combiner="sum"),
        each_position=EachPosition(columns=("k",)),
    )
    before = pa.total_allocated_bytes()
    pool = pa.default_memory_pool()
    assert make(item, rows).to_pylist() == [[1.0] * 2000]
    assert (pool.max_memory() or 0) - before < 500_000_000


def test_a_column_that_many_read_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = yaml.safe_load(RUN)
    raw["derived"] = [
        {"name": "pair", "operator": {"kind": "combo", "columns": ["u", "i"]}},
        {"name": "trio", "operator": {"kind": "combo", "columns": ["pair", "c"], "joint": "-"}},
        {"name": "unused", "operator": {"kind": "constant", "value": "1"}},
    ]
    bucket = {"kind": "vocabulary", "rows": 3, "words": ["a_b", "a_b-c", "d_e"], "unknown": None}
    names = {"one": "pair", "two": "pair", "three": "trio"}
    raw["features"] = [
        {"kind": "id", "name": name, "column": column, "bucket": bucket, "default": None}
        for name, column in names.items()
    ]
    raw["groups"] = [{"name": "g", "kind": "flat", "inputs": [{"feature": name, "table": "user"} for name in names]}]
    made: list[tuple[str, ...]] = []
    whole = Combo.apply

    def apply(self: Combo, rows: pa.RecordBatch) -> pa.Array:
        made.append(self.columns)
        return whole(self, rows)

    monkeypatch.setattr(Combo, "apply", apply)
    program = Program(RunConfig.model_validate(raw))
    out = program(pa.record_batch({"u": ["a", "d"], "i": ["b", "e"], "c": ["c", None]}))
    assert {name: found.values.tolist() for name, found in out.items()} == {"one": [0, 2], "two": [0, 2], "three": [1]}
    assert made == [("u", "i"), ("pair", "c")]

"""Custom operators, those of packages, and tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyrec import catalog

CUSTOM = 'custom_feature {{ feature_name: "f" expression: ["user:a", "user:b"] operator_name: "{}" {} }}'


def test_a_compiled_operator_cannot_be_loaded(door: Any) -> None:
    found = door().problems(CUSTOM.format("TextEnds", 'operator_lib_file: "lib/ends.so"'))
    assert "the compiled library lib/ends.so cannot be loaded; write one as features/operators/text_ends.py" in found
    assert "--plugins" in found
    assert "did you mean RegexReplace?" in door().problems(CUSTOM.format("RegexReplac", ""))


@pytest.mark.parametrize(
    ("name", "params", "words"),
    [
        ("EditDistance", 'key: "encoding" value { string_value: "gbk" }', "encoding gbk is not supported"),
        ("EditDistance", 'key: "encodin" value { string_value: "latin" }', "did you mean encoding?"),
        ("RegexReplace", 'key: "replacement" value { string_value: "x" }', "needs regex_pattern"),
        (
            "SeqExpr",
            'key: "formula" value { string_value: "spherical_distance" }',
            "longitude and latitude of two places",
        ),
        ("SeqExpr", 'key: "formula" value { string_value: "a - c" }', "c is no variable"),
        ("SeqExpr", 'key: "formula" value {}', "needs one of string_value"),
    ],
)
def test_wrong_parameters(door: Any, name: str, params: str, words: str) -> None:
    text = CUSTOM.format(name, f"operator_params {{ fields {{ {params} }} }}")
    assert words in door().problems(text)


PLUG_IN = """
from __future__ import annotations

import pyarrow as pa

from polyrec.families import OperatorConfig


class ScaledSum(OperatorConfig):
    columns: tuple[str, ...]
    by: int
    labels: tuple[str, ...] = ()
    options: dict[str, bool] = {}

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.columns

    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        found = rows.column(self.columns[0]).to_numpy() + rows.column(self.columns[1]).to_numpy()
        return pa.array(found * self.by)
"""


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Packages that are added are gone afterwards."""
    monkeypatch.setattr(catalog, "_packages", ["polyrec"])
    yield
    catalog.names.cache_clear()
    catalog.find.cache_clear()


@pytest.mark.usefixtures("packages")
def test_an_operator_of_a_package(door: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tzshop" / "features" / "operators"
    folder.mkdir(parents=True)
    (folder / "scaled_sum.py").write_text(PLUG_IN)
    monkeypatch.syspath_prepend(tmp_path)
    catalog.add_plugins("tzshop")
    params = (
        'operator_params { fields { key: "by" value { number_value: 10 } } fields { key: "labels" value { list_value { '
        'values { string_value: "x" } } } } fields { key: "options" value { struct_value { fields { key: "a" value { '
        "bool_value: true } } } } } }"
    )
    config = door().config(CUSTOM.format("ScaledSum", params))
    made = door().program(config, {"a": [1, 2], "b": [3, 4]})["f"]
    assert made.values.ravel().tolist() == [40.0, 60.0]
    operator = config.derived[0].operator.dump()
    assert (operator["labels"], operator["options"]) == (["x"], {"a": True})
    assert "by" in door().problems(CUSTOM.format("ScaledSum", ""))


# -- tokens


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """Three words with the ids 0 to 2, and one for all others."""
    words = {"HELLO": 0, "WORLD": 1, "A": 2, "?": 3}
    model = {"type": "WordLevel", "vocab": words, "unk_token": "?"}
    parts = {"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "model": model}
    (tmp_path / "tokenizer.json").write_text(json.dumps(parts))
    return str(tmp_path / "tokenizer.json")


def test_tokens(door: Any, tokenizer: str) -> None:
    feature = f'tokenize_feature {{ feature_name: "f" expression: "user:c" vocab_file: "{tokenizer}" embedding_dim: 4 '
    texts = ["HELLO A", "hello", "", None]
    assert door().config(feature + "}").table_names["f_emb"].rows == 4
    assert door().rows(feature + "}", c=texts) == [[0, 2], [3], [], []]
    assert door().rows(feature + "text_normalizer {} }", c=texts) == [[0, 2], [0], [], []]
    lower = feature + "text_normalizer { norm_options: [TEXT_REMOVE_SPACE, TEXT_LOWER2UPPER] max_length: 7 } }"
    assert door().rows(lower, c=["hel lo world"]) == [[0]]
    assert door().positions(feature + "tokens_as_sequence: true sequence_length: 2 }", c=["A A HELLO", None]) == [
        [2, 2], [0],
    ]  # fmt: skip
    several = f"sequence_{feature} text_normalizer {{}} sequence_length: 2 }}"
    assert door().positions(several, c=["a hello;world;a", None]) == [[[2, 0], [1]], [[0]]]
    assert "did you mean TEXT_FILTER?" in door().problems(feature + "text_normalizer { norm_options: TEXT_FILTERS } }")
    assert "no such file of a tokenizer" in door().problems((feature + "}").replace("tokenizer.json", "none.json"))


def test_stop_characters(door: Any, tokenizer: str, tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text("x\n")
    feature = (
        f'tokenize_feature {{ feature_name: "f" expression: "user:c" vocab_file: "{tokenizer}" embedding_dim: 4 '
        f'text_normalizer {{ stop_char_file: "{tmp_path}/stop.txt" norm_options: TEXT_FILTER }} }}'
    )
    assert door().rows(feature, c=["xAx"]) == [[2]]

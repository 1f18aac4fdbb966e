"""Samplers of TorchEasyRec and EasyRec configs, as the typed config has them."""

from __future__ import annotations

from typing import Any

import pytest

from polyrec.data.samplers.tdm import TDM
from polyrec.dialects import load_text
from polyrec.errors import ConfigError
from polyrec.losses.binary_cross_entropy import BinaryCrossEntropy
from polyrec.models.multi_tower import MultiTowerConfig

TORCHEASYREC = """
train_input_path: "a.parquet"
model_dir: "out"
train_config {{
  sparse_optimizer {{ adagrad_optimizer {{}} constant_learning_rate {{}} }}
  dense_optimizer {{ adam_optimizer {{}} constant_learning_rate {{}} }}
  num_steps: 10
}}
data_config {{ dataset_type: ParquetDataset fg_mode: {mode} label_fields: "clk" {sampler} }}
feature_configs {{ id_feature {{ feature_name: "item" expression: "item:item" num_buckets: 9 embedding_dim: 4 }} }}
model_config {{
  feature_groups {{ group_name: "deep" feature_names: "item" group_type: DEEP }}
  multi_tower {{ towers {{ input: "deep" mlp {{ hidden_units: 8 }} }} }}
  losses {{ binary_cross_entropy {{}} }}
}}
"""
EASYREC = """
train_input_path: "a.csv"
model_dir: "out"
train_config {{
  optimizer_config {{ adam_optimizer {{ learning_rate {{ constant_learning_rate {{}} }} }} }}
  num_steps: 10
}}
data_config {{
  input_type: CSVInput
  label_fields: "clk"
  input_fields {{ input_name: "clk" input_type: INT32 }}
  input_fields {{ input_name: "item" input_type: STRING }}
  {sampler}
}}
feature_config {{ features {{ input_names: "item" hash_bucket_size: 9 embedding_dim: 4 }} }}
model_config {{
  model_class: "MultiTower"
  feature_groups {{ group_name: "deep" feature_names: "item" }}
  multi_tower {{ towers {{ input: "deep" dnn {{ hidden_units: 8 }} }} final_dnn {{ hidden_units: 8 }} }}
}}
"""
FIELDS = 'attr_fields: ["item", "cate"] item_id_field: "item" num_sample: 5'
EDGES = 'pos_edge_input_path: "c.txt"'
HARD = 'hard_neg_edge_input_path: "h.txt" num_hard_sample: 3'
USER = 'user_input_path: "u.txt" user_id_field: "user"'


@pytest.fixture(autouse=True)
def takes_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if MultiTower took sampled items, so that the config around a sampler can be small."""
    monkeypatch.setattr(MultiTowerConfig, "takes_sampled_items", True)
    monkeypatch.setattr(BinaryCrossEntropy, "of_sampled_items", True)


def sampler(dialect: str, text: str, mode: str = "FG_DAG") -> dict[str, Any]:
    around = TORCHEASYREC if dialect == "torcheasyrec" else EASYREC
    loaded = load_text(around.format(sampler=text, mode=mode), "c.config", dialect)
    assert not [problem for problem in loaded.report.ignored if "user_input_path" not in problem.path
                and "sampler" in problem.path]  # fmt: skip
    return loaded.config.data.sampler.dump()  # type: ignore[union-attr]


BOTH = ("torcheasyrec", "easyrec")
ITEMS = {"path": "i.txt", "separator": "\t", "attribute_separator": ":", "value_separator": None}
DRAWN = {
    "item_column": "item",
    "attributes": ["item", "cate"],
    "count": 5,
    "eval_count": None,
    "is_distinct": False,
    "id_separator": None,
}
WEIGHED = {"draw_by": "weight", "kept_from": "batch"}
EVENLY = {"draw_by": "evenly", "kept_from": "row"}
CHOSEN = {"path": "c.txt", "separator": "\t"}
PASSED = {"path": "h.txt", "separator": "\t"}


@pytest.mark.parametrize("dialect", BOTH)
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("negative_sampler", f'input_path: "i.txt" {FIELDS}', {**WEIGHED, "kind": "negative"}),
        (
            "negative_sampler_v2",
            f'item_input_path: "i.txt" {FIELDS} {EDGES} {USER}',
            {**EVENLY, "kind": "negative_v2", "user_column": "user", "positive_edges": CHOSEN},
        ),
        (
            "hard_negative_sampler",
            f'item_input_path: "i.txt" {FIELDS} {HARD} {USER}',
            {**WEIGHED, "kind": "hard_negative", "user_column": "user", "hard_edges": PASSED, "hard_count": 3},
        ),
        (
            "hard_negative_sampler_v2",
            f'item_input_path: "i.txt" {FIELDS} {EDGES} {HARD} {USER}',
            {
                **EVENLY,
                "kind": "hard_negative_v2",
                "user_column": "user",
                "positive_edges": CHOSEN,
                "hard_edges": PASSED,
                "hard_count": 3,
            },
        ),
    ],
)
def test_samplers_of_both_dialects(dialect: str, name: str, text: str, expected: dict[str, Any]) -> None:
    found = sampler(dialect, f"{name} {{ {text} }}")
    if dialect == "torcheasyrec":
        assert found["items"].pop("value_separator") == "\x1d"
        found["items"]["value_separator"] = None
        if name == "negative_sampler":
            assert found["id_separator"] == ";"
            found["id_separator"] = None
    assert found == {**DRAWN, "items": ITEMS, **expected}


@pytest.mark.parametrize("dialect", BOTH)
def test_separators_and_counts(dialect: str) -> None:
    text = f'input_path: "i.txt" {FIELDS} num_eval_sample: 9 attr_delimiter: "#" field_delimiter: ","'
    found = sampler(dialect, f"negative_sampler {{ {text} }}")
    assert found["eval_count"] == 9
    assert (found["items"]["separator"], found["items"]["attribute_separator"]) == (",", "#")
    assert sampler(dialect, f"negative_sampler {{ {text} num_eval_sample: 0 }}")["eval_count"] is None


def test_easyrec_in_memory_draws_evenly_and_each_item_once() -> None:
    found = sampler("easyrec", f'negative_sampler_in_memory {{ input_path: "i.txt" {FIELDS} }}')
    expected = {"kind": "negative", "draw_by": "evenly", "is_distinct": True, "kept_from": "batch"}
    assert found == {**DRAWN, "items": ITEMS, **expected}


def test_values_of_lists_are_separated_as_the_data_s_are() -> None:
    text = f'negative_sampler {{ input_path: "i.txt" {FIELDS} item_id_delim: "," }}'
    found = sampler("torcheasyrec", text, "FG_NONE")
    assert (found["items"]["value_separator"], found["id_separator"]) == ("\x03", ",")


def test_tdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BinaryCrossEntropy, "of_sampled_items", False)
    text = """
    tdm_sampler {
      item_input_path: "n.txt" edge_input_path: "e.txt" predict_edge_input_path: "p.txt"
      attr_fields: ["tree_level", "item"] item_id_field: "item" layer_num_sample: [0, 1, 2]
      attr_delimiter: "," remain_ratio: 0.5 probability_type: RECIPROCAL
    }"""
    loaded = load_text(TORCHEASYREC.format(sampler=text, mode="FG_NONE"), "c.config", "torcheasyrec")
    assert "data_config.tdm_sampler.predict_edge_input_path" in [item.path for item in loaded.report.ignored]
    found: Any = loaded.config.data.sampler  # type: ignore[union-attr]
    assert isinstance(found, TDM)
    assert (found.layer, found.label, found.layers) == ("tree_level", "clk", (0, 1, 2))
    assert (found.remain_ratio, found.remain_by) == (0.5, "reciprocal")
    assert found.item_columns == ("item",)
    assert found.items.attribute_separator == ","


def problems(dialect: str, text: str) -> list[str]:
    around = TORCHEASYREC if dialect == "torcheasyrec" else EASYREC
    with pytest.raises(ConfigError) as caught:
        load_text(around.format(sampler=text, mode="FG_DAG"), "c.config", dialect)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("dialect", BOTH)
def test_faults_stand_at_their_lines(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = problems(dialect, f'negative_sampler {{ input_path: "i.txt" {FIELDS} num_sampel: 3 }}')
    assert "negative_sampler.num_sampel: unknown field; did you mean num_sample?" in found
    found = "\n".join(problems(dialect, "negative_sampler { num_sample: 0 }"))
    assert "negative_sampler.input_path: is required" in found
    assert "negative_sampler.item_id_field: is required" in found
    (found,) = problems(dialect, f'negative_sampler {{ input_path: "i.txt" {FIELDS} num_sample: 0 }}')
    assert "c.config:" in found
    assert "needs more than 0" in found
    monkeypatch.setattr(MultiTowerConfig, "takes_sampled_items", False)
    (found,) = problems(dialect, f'negative_sampler {{ input_path: "i.txt" {FIELDS} }}')
    line = 9 if dialect == "torcheasyrec" else 13
    assert found.startswith(f"c.config:{line}:")
    assert "multi_tower takes no sampled items; remove the sampler" in found


def test_tdm_needs_attributes_and_layers_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BinaryCrossEntropy, "of_sampled_items", False)
    text = 'tdm_sampler {{ item_input_path: "n" edge_input_path: "e" item_id_field: "item" {} }}'
    (found,) = problems("torcheasyrec", text.format("layer_num_sample: [0, 1]"))
    assert "tdm_sampler.attr_fields: is required" in found
    (found,) = problems("torcheasyrec", text.format('attr_fields: "level" layer_num_sample: [1, 1]'))
    assert "layers begins with the root" in found


@pytest.mark.parametrize("dialect", BOTH)
def test_the_last_of_two_samplers_wins(dialect: str) -> None:
    first = 'negative_sampler { input_path: "x" item_id_field: "item" num_sample: 1 }'
    text = f'{first} negative_sampler_v2 {{ item_input_path: "i.txt" {FIELDS} {EDGES} {USER} }}'
    assert sampler(dialect, text)["kind"] == "negative_v2"

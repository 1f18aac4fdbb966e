"""A config that uses every option of features and groups: none is forgotten, and a run of it learns and predicts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from polyrec import api
from polyrec.config import RunConfig
from polyrec.dialects import load_text, pbtxt
from polyrec.dialects.fields import plain_path
from polyrec.dialects.node import Node, Report
from polyrec.errors import ConfigError

TEXT = (Path(__file__).parent / "every_feature_option.config").read_text()
FEATURE = (
    "feature_name input_names feature_type embedding_name embedding_dim hash_bucket_size num_buckets boundaries "
    "separator kv_separator seq_multi_sep max_seq_len vocab_file vocab_list shared_names lookup_max_sel_elem_num "
    "max_partitions combiner initializer precision min_val max_val normalizer_fn raw_input_dim sequence_combiner "
    "sub_feature_type sequence_length expression ev_params combo_join_sep combo_input_seps"
)
MESSAGES = {
    "feature_config.features": FEATURE,
    "feature_config.features.ev_params": "filter_freq steps_to_live use_cache init_capacity max_capacity",
    "feature_config.features.initializer": (
        "truncated_normal_initializer random_normal_initializer glorot_normal_initializer constant_initializer"
    ),
    "feature_config.features.initializer.truncated_normal_initializer": "mean stddev",
    "feature_config.features.initializer.random_normal_initializer": "mean stddev",
    "feature_config.features.initializer.constant_initializer": "consts",
    "feature_config.features.sequence_combiner": "attention multi_head_attention text_cnn",
    "feature_config.features.sequence_combiner.text_cnn": (
        "filter_sizes num_filters pad_sequence_length activation mlp"
    ),
    "feature_config.features.sequence_combiner.text_cnn.mlp": (
        "hidden_units dropout_ratio activation use_bn use_final_bn final_activation use_bias initializer "
        "use_bn_after_activation use_final_bias add_to_outputs"
    ),
    "data_config.input_fields": (
        "input_name input_type default_val input_dim input_shape user_define_fn user_define_fn_path "
        "user_define_fn_res_type ignore_val"
    ),
    "model_config.feature_groups": "group_name feature_names wide_deep sequence_features negative_sampler",
    "model_config.feature_groups.sequence_features": (
        "group_name seq_att_map tf_summary seq_dnn allow_key_search need_key_feature allow_key_transform transform_dnn"
    ),
    "model_config.feature_groups.sequence_features.seq_att_map": "key hist_seq aux_hist_seq",
}
"""The fields of EasyRec's messages FeatureConfig, FeatureGroupConfig, SeqAttGroupConfig and those within."""
REFUSED = {"multi_head_attention", "user_define_fn", "user_define_fn_path", "user_define_fn_res_type", "ignore_val"}
TYPES = {"IdFeature", "RawFeature", "TagFeature", "ComboFeature", "LookupFeature", "SequenceFeature", "ExprFeature",
         "PassThroughFeature"}  # fmt: skip
WORDS = ["acme", "bolt", "cord", "dune"]


def fields_used(node: Node, found: dict[str, set[str]] | None = None) -> dict[str, set[str]]:
    found = {} if found is None else found
    for name, nodes in (node.fields or {}).items():
        found.setdefault(plain_path(node.path), set()).add(name)
        for child in nodes:
            fields_used(child, found)
    return found


def test_no_option_is_forgotten() -> None:
    root = pbtxt.parse(TEXT, "every.config", Report())
    used = fields_used(root)
    for path, fields in MESSAGES.items():
        assert used[path] | REFUSED == set(fields.split()) | REFUSED, path
    config = root.child("feature_config")
    assert config is not None
    types = {kind.scalar for feature in config.children("features") for kind in feature.ask("feature_type")}
    assert types == TYPES


MUTATIONS = [
    ("ev_params { filter_freq", "ev_params { filter_frequency", "did you mean filter_freq?"),
    ('shared_names: "slot[2-3]"', 'shared_name: "slot[2-3]"', "did you mean shared_names?"),
    ("glorot_normal_initializer", "glorot_norm_initializer", "did you mean glorot_normal_initializer?"),
    ("precision: 2", "precison: 2", "did you mean precision?"),
    ("max_val: 100", "max_val: -100", "is less than min_val, 0"),
    ("boundaries: [10, 20, 50]", "boundaries: [10, 20, 20]", "boundaries must rise"),
    ("tf.math.log1p(x)", "tf.math.log1pp(x)", "did you mean log1p?"),
    ('["tags", "scores"]', '["tags", "score"]', "did you mean scores?"),
    ('combo_input_seps: ["", ";"]', 'combo_input_seps: ["", ";", ""]', "has 3 for 2 columns"),
    ('combo_join_sep: "X"', 'combo_join: "X"', "did you mean combo_join_sep?"),
    ("lookup_max_sel_elem_num: 5", "lookup_max_sel_elem_num: 0", "needs more than 0"),
    ("(price > 20)", "(prize > 20)", "did you mean price?"),
    ("sub_feature_type: IdFeature", "sub_feature_type: TagFeature", "TagFeature is not supported"),
    ("sequence_combiner { attention", "sequence_combiner { attention_", "did you mean attention?"),
    ("num_filters: [3, 3]", "num_filters: [3]", "1 numbers of filters for 2 windows"),
    ('initializer: "he_uniform"', 'initializer: "he_unifrom"', "did you mean he_uniform?"),
    ('aux_hist_seq: ["times"', 'aux_hist_seq: ["time"', "did you mean times?"),
    ("seq_dnn { hidden_units: [8, 1] use_bn", "seq_dnn { hidden_units: [8, 2] use_bn", "which must be 1"),
    ("need_key_feature: true", "need_key_features: true", "did you mean need_key_feature?"),
    ('"clicks_of_brand", "is_dear"]', '"clicks_of_brands", "is_dear"]', "did you mean clicks_of_brand?"),
]


@pytest.mark.parametrize(("old", "new", "words"), MUTATIONS)
def test_a_wrong_option_is_found_at_its_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in TEXT
    (tmp_path / "words.txt").write_text("acme\n")
    text = TEXT.replace("WORDS", str(tmp_path / "words.txt"))
    row = text[: text.index(old)].count("\n") + 1
    with pytest.raises(ConfigError) as caught:
        load_text(text.replace(old, new, 1), "every.config", "easyrec")
    there = [problem for problem in caught.value.problems if problem.origin and abs(problem.origin.line - row) <= 1]
    assert any(words in problem.message for problem in there), str(caught.value)


def line(rng: random.Random) -> str:
    """A row in which dear things of the brand that was seen last are clicked."""

    def several(values: list[str], most: int, separator: str) -> str:
        return separator.join(rng.choice(values) for _ in range(rng.randint(0, most)))

    brand, seen = rng.choice(WORDS), [rng.choice(WORDS) for _ in range(rng.randint(1, 5))]
    price, age = rng.uniform(0, 99), rng.uniform(18, 70)
    tags = [rng.choice(["new", "old", "red", "odd"]) for _ in range(rng.randint(0, 3))]
    values = [
        int(seen[-1] == brand or price > 60),
        rng.choice(["", "ann", "bob", "cid"]),
        *(rng.randint(-1, 9) for _ in range(3)),
        f"{price:.4f}",
        f"{age:.1f}",
        ";".join(tags),
        ";".join(f"{rng.random():.2f}" for _ in tags),
        ";".join("0.5 1 2".replace(" ", "~") for _ in range(rng.randint(0, 2))).replace("~", "/"),
        "|".join(f"{word}:{rng.randint(1, 9)}" for word in WORDS[: rng.randint(0, 4)]),
        brand,
        "|".join(seen),
        "|".join(str(rng.randint(0, 9)) for _ in seen),
        "|".join(f"{rng.random():.2f}" for _ in seen),
        several(["p;q", "q", "r;s;p"], 3, "|"),
        several(["red", "shoe", "sale"], 6, " "),
        "s1",
    ]
    return "\t".join(map(str, values))


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> RunConfig:
    folder = tmp_path_factory.mktemp("every_option")
    names = "label user slot1 slot2 slot3 price age tags scores picture clicks_by_brand brand brands times gaps places"
    header = "\t".join([*names.split(), "title", "session"])
    rng = random.Random(7)
    for name, count in (("train", 200), ("eval", 60)):
        rows = [header, *(line(rng) for _ in range(count))]
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    text = TEXT.replace("WORDS", str(folder / "words.txt")).replace("DATA", str(folder))
    text = text.replace("batch_size: 32", 'batch_size: 32 separator: "\\t"').replace('separator: ","', 'separator: "/"')
    found = load_text(text, "every.config", "easyrec").config
    assert isinstance(found, RunConfig)
    return found


def test_a_run_of_every_type_learns_and_its_export_predicts(config: RunConfig) -> None:
    ended = api.train(config)
    assert 0 <= ended["metrics"]["auc"] <= 1
    folder = Path(config.model_dir).parent
    api.export(config, str(folder / "export"))
    api.predict(str(folder / "export"), [str(folder / "eval.csv")], str(folder / "predicted"))
    (file,) = (folder / "predicted").glob("*.csv")
    assert len(file.read_text().splitlines()) == 61

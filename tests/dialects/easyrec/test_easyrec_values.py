"""What an EasyRec config means, value by value, as its own documents and defaults have it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polyrec.config import RunConfig
from polyrec.dialects import load, load_text
from polyrec.errors import ConfigError

Read = Callable[..., RunConfig]
EXAMPLES = Path(__file__).parents[3] / "examples" / "easyrec"
CITY = 'features { input_names: "city" hash_bucket_size: 9 embedding_dim: 4 }'
DEEP = 'feature_groups { group_name: "deep" feature_names: "city" }'
WIDE = ' feature_groups { group_name: "wide" feature_names: "city" wide_deep: WIDE }'
TOWERS = 'multi_tower { towers { input: "deep" dnn { hidden_units: 8 } } final_dnn { hidden_units: 8 } }'
ADAM = "adam_optimizer { learning_rate { constant_learning_rate {} } }"
DEEPFM = (("MultiTower", "DeepFM"), (DEEP, DEEP + WIDE), (TOWERS, "deepfm { dnn { hidden_units: 8 } }"))


def dumped(part: object) -> dict:
    return part.dump()  # type: ignore[attr-defined]


def feature(read: Read, text: str) -> dict:
    return dumped(read((CITY, text)).features[0])


def test_upstream_defaults_are_written_out(read: Read) -> None:
    config = read()
    data = config.data
    assert (data.batch_size, data.eval_batch_size, data.shuffle_rows, data.file_order) == (32, 32, 32, "shuffled")
    assert data.faults.policy == "fail"
    assert (config.train.steps, config.train.epochs, config.train.log_every) == (10, None, 10)
    saving = config.train.saving
    assert (saving.every_steps, saving.every_seconds, saving.keep, saving.at_start) == (1000, None, 10, True)
    assert (saving.folder, saving.first_step) == ("model.ckpt-{step}", 1)
    assert (config.evaluate.result, config.evaluate.result_form) == ("eval_result.txt", "document")
    # Adam as TensorFlow has it: eps beside the root of the moment before its bias is corrected.
    for learning in (config.optim.tables, config.optim.dense):
        assert dumped(learning.optimizer) == {
            "kind": "adam", "lr": 0.002, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0,
            "epsilon_hat": True, "is_decoupled": False,
        }  # fmt: skip
    assert config.tasks[0].weighting == "by_nonzero"
    assert (config.train.output_penalty, config.train.kernel_penalty) == (0.0, 1e-4)


def test_ignored_errors_leave_their_rows_out(read: Read) -> None:
    config = read(("label_fields", "ignore_error: true label_fields"))
    assert (config.data.faults.policy, config.data.faults.budget) == ("skip", None)


def test_every_group_has_tables_of_its_own_with_small_starts(read: Read) -> None:
    config = read(*DEEPFM)
    tables = {table.name: table for table in config.tables}
    assert {name: table.width for name, table in tables.items()} == {"deep/city": 4, "wide/city_wide": 1}
    # 0.01 / sqrt(dim)
    assert dumped(tables["deep/city"].init) == {"kind": "truncated_normal", "mean": 0.0, "std": 0.005}
    assert dumped(tables["wide/city_wide"].init)["std"] == 0.01


def test_a_name_shared_by_two_features_is_one_table(read: Read) -> None:
    named = CITY.replace("embedding_dim", 'embedding_name: "place" embedding_dim')
    other = named.replace('"city"', '"tags"')
    changes = ((CITY, named + other), ('names: "city" }\n  multi', 'names: ["city", "tags"] }\n  multi'))
    config = read(*changes)
    assert [(table.name, table.rows) for table in config.tables] == [("place", 9)]
    alone = read((CITY, named))
    assert [table.name for table in alone.tables] == ["deep/city"]
    with pytest.raises(ConfigError, match="its rows is 8, not 9"):
        read((CITY, named + other.replace("9", "8")), changes[1])


def test_deepfm(read: Read) -> None:
    config = read(*DEEPFM)
    model = dumped(config.model)
    assert (model["kind"], model["wide"], model["deep"], model["fm"], model["final"]) == (
        "deepfm", "wide", "deep", "deep", None,
    )  # fmt: skip
    assert model["head"] == {"bias": True, "kernel": {"kind": "glorot_uniform"}, "is_penalized": True}
    assert model["mlp"]["norm"] == {"kind": "batch", "momentum": 0.01, "eps": 0.001, "is_biased": True}
    assert (model["mlp"]["activation"], model["mlp"]["bias"]) == ("relu", True)


def test_the_older_penalty_of_deepfm_replaces_the_newer(read: Read) -> None:
    changes = ("dnn { hidden_units: 8 }", "dnn { hidden_units: 8 } l2_regularization: 2 dense_regularization: 3")
    assert read(*DEEPFM, changes).train.kernel_penalty == 3.0


def test_multi_tower_normalises_its_groups(read: Read) -> None:
    config = read(
        (TOWERS, TOWERS[:-1] + "l2_regularization: 0 }"), ("model_class", "embedding_regularization: 0.5 model_class")
    )
    model = dumped(config.model)
    norm = {"kind": "batch", "momentum": 0.01, "eps": 0.001, "is_biased": True}
    assert (model["towers"][0]["group"], model["towers"][0]["input_norm"]) == ("deep", norm)
    assert not model["head"]["is_penalized"]
    assert (config.train.kernel_penalty, config.train.output_penalty) == (0.0, 0.5)


def test_two_optimizers_are_for_tables_and_for_the_rest(read: Read) -> None:
    second = "optimizer_config { momentum_optimizer { learning_rate { constant_learning_rate { learning_rate: 1 } } } }"
    config = read((ADAM, ADAM.replace("adam", "adagrad")), ("num_steps", second + " num_steps"))
    assert dumped(config.optim.tables.optimizer) == {
        "kind": "adagrad", "lr": 0.002, "initial_accumulator": 0.1, "eps": 0.0, "weight_decay": 0.0,
    }  # fmt: skip
    assert dumped(config.optim.dense.optimizer) == {
        "kind": "sgd", "lr": 1.0, "momentum": 0.9, "dampening": 0.0, "weight_decay": 0.0, "nesterov": False,
    }  # fmt: skip


def rates(read: Read, fields: str, steps: tuple[int, ...]) -> list[float]:
    schedule = f"exponential_decay_learning_rate {{ initial_learning_rate: 1 {fields} }}"
    learning = read(("constant_learning_rate {}", schedule)).optim.dense
    return [learning.schedule.rate(learning.optimizer.lr, step) for step in steps]


def test_exponential_decay(read: Read) -> None:
    decay = "decay_steps: 10 decay_factor: 0.5"
    assert rates(read, decay, (0, 9, 10, 20)) == [1.0, 1.0, 0.5, 0.25]
    assert rates(read, decay + " min_learning_rate: 0.4", (10, 20)) == [0.5, 0.4]
    assert rates(read, decay + " staircase: false", (5,)) == pytest.approx([0.5**0.5])
    assert rates(read, decay + " burnin_steps: 4 burnin_learning_rate: 0.5", (0, 2, 4, 14)) == [0.5, 0.75, 1.0, 0.5]
    # A burn-in from 0 is one at the full rate.
    assert rates(read, decay + " burnin_steps: 4", (0, 2, 4, 14)) == [1.0, 1.0, 1.0, 0.5]
    assert rates(read, "", (0, 3_999_999, 4_000_000)) == [1.0, 1.0, 0.95]


def test_steps_and_epochs_end_whichever_is_first(read: Read) -> None:
    train = read(("label_fields", "num_epochs: 2 label_fields")).train
    assert (train.steps, train.epochs) == (10, 2)


def test_saving_by_time_replaces_saving_by_step(read: Read) -> None:
    saving = read(("num_steps", "save_checkpoints_secs: 60 num_steps")).train.saving
    assert (saving.every_steps, saving.every_seconds) == (None, 60)


def test_evaluation_of_some_examples_takes_whole_batches(read: Read) -> None:
    config = read(
        ("data_config", "eval_config { num_examples: 65 metrics_set { auc { num_thresholds: 9 } } } data_config")
    )
    assert config.evaluate.steps == 3
    assert [metric.kind for metric in config.tasks[0].metrics] == ["auc"]


def test_columns_and_what_stands_for_an_empty_field(read: Read) -> None:
    reader = dumped(read().data.reader)
    assert [(column["type"], column["default"]) for column in reader["columns"]] == [
        ("int", "0"), ("string", "rome"), ("string", ""), ("double", "0.0"),
    ]  # fmt: skip
    assert (reader["kind"], reader["separator"], reader["header"], reader["quotes"]) == ("csv", ",", False, True)
    plain = dumped(read(("CSVInput", 'CSVInputEx separator: "\\001"')).data.reader)
    assert (plain["separator"], plain["quotes"]) == ("\x01", False)


def test_parquet(read: Read) -> None:
    config = read(("CSVInput", "ParquetInput drop_remainder: true"), ("hash_bucket_size", "num_buckets"))
    assert (config.data.reader.kind, config.data.drop_remainder) == ("parquet", True)
    assert dumped(config.features[0])["bucket"]["out_of_range"] == "error"


def test_ids(read: Read) -> None:
    city = dumped(read().features[0])
    assert city == {
        "kind": "id", "name": "city", "column": "city", "default": None, "separator": None, "kv_separator": None,
        "bucket": {"kind": "hash", "rows": 9, "function": "farm64"}, "weight_column": None, "max_values": 1,
    }  # fmt: skip
    numbered = feature(read, CITY.replace("hash_bucket_size", "num_buckets"))
    assert numbered["bucket"] == {"kind": "identity", "rows": 9, "out_of_range": "zero", "missing": -1}
    words = feature(read, CITY.replace("hash_bucket_size: 9", 'vocab_list: ["a", "b"]'))["bucket"]
    assert words == {"kind": "vocabulary", "words": ["a", "b"], "ids": None, "unknown": 0, "rows": 2}


def test_tags(read: Read) -> None:
    tag = CITY.replace('"city"', '["tags", "price"] feature_name: "city" feature_type: TagFeature combiner: "sqrtn"')
    config = read((CITY, tag))
    found = dumped(config.features[0])
    assert (found["column"], found["weight_column"], found["separator"], found["max_values"]) == (
        "tags", "price", "|", None,
    )  # fmt: skip
    assert config.groups[0].inputs[0].pooling == "sqrtn"
    weighted = feature(read, CITY.replace("embedding", 'feature_type: TagFeature kv_separator: ":" embedding'))
    assert weighted["kv_separator"] == ":"


def test_numbers(read: Read) -> None:
    raw = 'features { feature_name: "city" input_names: "price" feature_type: RawFeature min_val: 1 max_val: 5 }'
    found = feature(read, raw)
    assert found["normalizer"] == {"kind": "minmax", "low": 1.0, "high": 5.0}
    assert (found["kind"], found["size"], found["separator"], found["default"]) == ("raw", 1, None, 0.0)
    assert feature(read, raw.replace("min_val: 1", "raw_input_dim: 3"))["separator"] == "|"


def test_boundaries_are_of_scaled_numbers(read: Read) -> None:
    raw = (
        'features { feature_name: "city" input_names: "price" feature_type: RawFeature min_val: 10 max_val: 30 '
        "boundaries: [0, 0.5, 1] embedding_dim: 4 }"
    )
    config = read((CITY, raw))
    # (20 - 10) / (30 - 10) = 0.5
    assert dumped(config.features[0])["boundaries"] == [10.0, 20.0, 30.0]
    assert config.tables[0].rows == 4


def test_initialisers(read: Read) -> None:
    text = CITY.replace("embedding_dim", "initializer { random_normal_initializer { stddev: 0.5 } } embedding_dim")
    assert dumped(read((CITY, text)).tables[0].init) == {"kind": "normal", "mean": 0.0, "std": 0.5}


def test_losses(read: Read) -> None:
    def losses(fields: str) -> list[tuple[str, float]]:
        config = read(("model_class", fields + " model_class"))
        return [(item.loss.kind, item.weight) for item in config.tasks[0].losses]

    assert losses("") == [("binary_cross_entropy", 1.0)]
    assert losses("num_class: 3") == [("softmax_cross_entropy", 1.0)]
    assert losses("loss_type: L2_LOSS") == [("squared_error", 1.0)]
    assert losses("losses { loss_type: CLASSIFICATION weight: 2 }") == [("binary_cross_entropy", 2.0)]


def test_older_features_win_over_newer(read: Read) -> None:
    older = 'feature_configs { input_names: "city" num_buckets: 7 embedding_dim: 2 } feature_config'
    assert [table.rows for table in read(("feature_config", older)).tables] == [7]


def test_enums_may_be_numbers(read: Read) -> None:
    assert read(("CSVInput", "19"), ("STRING", "2")).data.reader.kind == "parquet"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("MultiTower", "DSSM", "model DSSM is not available yet; available: DeepFM, MultiTower"),
        ("MultiTower", "MultiTowr", "did you mean MultiTower?"),
        (TOWERS, "deepfm {}", "is not for model_class MultiTower, which reads multi_tower"),
        ("num_steps: 10", "", "needs num_steps, or num_epochs in data_config"),
        ("num_steps", "save_checkpoints_steps: 5 save_checkpoints_secs: 6 num_steps", "leave one out"),
        ("num_steps", 'freeze_gradient: "x" num_steps', "frozen weights are not available yet"),
        ("num_steps", "train_distribute: PSStrategi num_steps", "did you mean PSStrategy?"),
        (ADAM, ADAM.replace("adam", "ftrl"), "ftrl is not available yet; use adagrad_optimizer"),
        (ADAM, ADAM + " use_moving_average: true", "averaged weights are not available yet"),
        ("constant_learning_rate", "cosine_decay_learning_rate", "cosine_decay is not available yet"),
        ("CSVInput", "KafkaInput", "known: CSVInput"),
        ("train_input_path", 'fg_json_path: "x" train_input_path', "an FG file are not available yet"),
        ("hash_bucket_size: 9", "hash_bucket_size: 9 num_buckets: 3", "hash_bucket_size is given as well"),
        ("hash_bucket_size: 9", "", "hash_bucket_size: is required, or one of vocab_list, vocab_file, num_buckets"),
        ("features {", "features { feature_type: ComboFeature", "this type of feature reads two columns or more"),
        ('names: "city" hash', 'names: ["city", "tags"] hash', "reads one column"),
        (" embedding_dim: 4", "", "city is in the group deep and needs embedding_dim"),
        ("hidden_units: 8", 'hidden_units: 8 activation: "lambda x: x"', "functions are not run"),
        ("model_class", "losses { loss_type: JRC_LOSS } model_class", "JRC_LOSS is not supported"),
        (
            "data_config",
            "eval_config { metrics_set { gauc { uid_field: 'u' } } } data_config",
            "gauc is not available yet",
        ),
        (DEEP, DEEP + WIDE, "only DeepFM takes a WIDE group"),
        ('label_fields: "clk"', "", "label_fields: is required"),
        ("model_class", 'label_name: "buy" model_class', "no label field is called buy"),
    ],
)
def test_what_is_refused(read: Read, old: str, new: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read((old, new))
    assert words in str(caught.value)
    assert all(problem.origin is not None for problem in caught.value.problems)


def test_deepfm_without_final_layers_needs_one_wide_number_per_class(read: Read) -> None:
    with pytest.raises(ConfigError, match="wide_output_dim: must be num_class, 1"):
        read(*DEEPFM, ("dnn { hidden_units: 8 }", "dnn { hidden_units: 8 } wide_output_dim: 4"))


@pytest.mark.parametrize("word", ["false", "False", "0"])
def test_what_is_refused_may_be_off(read: Read, word: str) -> None:
    assert read((ADAM, f"{ADAM} use_moving_average: {word}")) == read()
    with pytest.raises(ConfigError, match="averaged weights are not available yet"):
        read((ADAM, f'{ADAM} use_moving_average: "false"'))


def test_ignored_fields_are_reported_with_their_reason(small: str) -> None:
    text = small.replace("num_steps: 10", "num_steps: 10 sync_replicas: true")
    ignored = load_text(text, "small.config", "easyrec").report.ignored
    assert [problem.path for problem in ignored] == ["train_config.sync_replicas"]
    assert "launcher" in ignored[0].message


def test_a_json_config_is_the_same(small: str) -> None:
    text = """{"trainInputPath": "a.csv", "model_dir": "out",
      "trainConfig": {"optimizerConfig": [{"adamOptimizer": {"learningRate": {"constantLearningRate": {}}}}],
        "numSteps": 10},
      "dataConfig": {"inputType": "CSVInput", "labelFields": ["clk"], "inputFields": [
        {"inputName": "clk", "inputType": "INT32"},
        {"inputName": "city", "inputType": "STRING", "defaultVal": "rome"},
        {"inputName": "tags"}, {"inputName": "price", "inputType": "DOUBLE"}]},
      "featureConfig": {"features": [{"inputNames": ["city"], "hashBucketSize": "9", "embeddingDim": 4}]},
      "modelConfig": {"modelClass": "MultiTower",
        "featureGroups": [{"groupName": "deep", "featureNames": ["city"]}],
        "multiTower": {"towers": [{"input": "deep", "dnn": {"hiddenUnits": [8]}}],
          "finalDnn": {"hiddenUnits": [8]}}}}"""
    assert load_text(text, "small.json", "easyrec").config == load_text(small, "small.config", "easyrec").config


@pytest.mark.parametrize("name", ["deepfm_avazu", "multi_tower_taobao"])
def test_examples_are_read_without_a_note(name: str) -> None:
    loaded = load(EXAMPLES / f"{name}.config")
    assert loaded.dialect == "easyrec"
    assert loaded.report.ignored == []


@pytest.mark.parametrize("kind", ["OdpsInput", "OdpsInputV2", "OdpsInputV3", "9"])
def test_tables_of_maxcompute(read: Read, kind: str) -> None:
    path = "odps://shop/tables/clicks/pt=1"
    data = read(("CSVInput", f"{kind} drop_remainder: true"), ("a.csv", path)).data
    assert (data.train, data.reader.kind, data.drop_remainder) == ((path,), "odps", False)

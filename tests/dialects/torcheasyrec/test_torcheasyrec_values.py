"""What a TorchEasyRec config means, value by value, as its own documents and defaults have it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polyrec.config import RunConfig
from polyrec.dialects import load, load_text
from polyrec.errors import ConfigError

Read = Callable[..., RunConfig]
EXAMPLES = Path(__file__).parents[3] / "examples" / "torcheasyrec"
CITY = 'id_feature { feature_name: "city" expression: "user:town" num_buckets: 9 embedding_dim: 4 }'
TOWER = 'multi_tower { towers { input: "deep" mlp { hidden_units: 8 } } }'
DEEP = 'feature_groups { group_name: "deep" feature_names: "city" group_type: DEEP }'
FG = "fg_mode: FG_DAG"


def dumped(part: object) -> dict:
    return part.dump()  # type: ignore[attr-defined]


def test_upstream_defaults_are_written_out(read: Read) -> None:
    config = read()
    assert config.data.batch_size == config.data.eval_batch_size == 1024
    assert config.data.evaluate == ()
    assert (config.data.shuffle_rows, config.data.file_order, config.data.drop_remainder) == (0, "kept", False)
    assert (config.train.steps, config.train.epochs, config.train.log_every) == (10, None, 100)
    saving = config.train.saving
    assert (saving.every_steps, saving.every_epochs, saving.keep, saving.at_start) == (1000, None, None, False)
    assert (saving.folder, saving.first_step) == ("model.ckpt-{step}", 0)
    assert (config.evaluate.log_every, config.evaluate.history) == (10, "train_eval_result_v2.txt")
    assert config.train.tensorboard
    tables, dense = config.optim.tables.optimizer, config.optim.dense.optimizer
    assert dumped(tables) == {
        "kind": "adagrad", "lr": 0.002, "initial_accumulator": 0.0, "eps": 1e-8, "weight_decay": 0.0,
    }  # fmt: skip
    assert dumped(dense) == {
        "kind": "adam", "lr": 0.002, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0,
        "epsilon_hat": False, "is_decoupled": False,
    }  # fmt: skip
    table = config.tables[0]
    assert (table.name, table.rows, table.width, table.trainable) == ("city_emb", 9, 4, True)
    assert dumped(table.init) == {"kind": "uniform", "low": pytest.approx(-1 / 3), "high": pytest.approx(1 / 3)}
    assert config.tasks[0].weighting == "by_sum"


def test_dense_sgd_has_momentum_and_table_sgd_has_none(read: Read) -> None:
    config = read(("adagrad_optimizer", "sgd_optimizer"), ("adam_optimizer", "sgd_optimizer"))
    assert dumped(config.optim.tables.optimizer)["momentum"] == 0.0
    assert dumped(config.optim.dense.optimizer)["momentum"] == 0.9


def test_table_adam_decays_weights_apart_from_the_gradient(read: Read) -> None:
    config = read(("adagrad_optimizer {}", "adam_optimizer { weight_decay: 0.1 }"))
    optimizer = dumped(config.optim.tables.optimizer)
    assert (optimizer["weight_decay"], optimizer["is_decoupled"]) == (0.1, True)


def test_adamw_and_row_wise_adagrad(read: Read) -> None:
    config = read(("adagrad_optimizer", "rowwise_adagrad_optimizer"), ("adam_optimizer", "adamw_optimizer"))
    assert config.optim.tables.optimizer.kind == "rowwise_adagrad"
    assert dumped(config.optim.dense.optimizer)["is_decoupled"]


def test_exponential_decay(read: Read) -> None:
    schedule = "exponential_decay_learning_rate { decay_size: 3 decay_factor: 0.5 by_epoch: true warmup_size: 2 }"
    config = read(("adam_optimizer {} constant_learning_rate {}", "adam_optimizer { lr: 1 } " + schedule))
    learning = config.optim.dense
    assert learning.schedule.by == "epoch"
    rates = [learning.schedule.rate(learning.optimizer.lr, epoch) for epoch in (0, 1, 2, 4, 5, 8)]
    assert rates == [0.0, 0.5, 1.0, 1.0, 0.5, 0.25]


def test_clipping_by_norm_is_of_the_dense_weights(read: Read) -> None:
    config = read(("num_steps: 10", "num_steps: 10 grad_clipping { clipping_type: 'norm' max_gradient: 5 }"))
    assert (config.optim.dense.clip_gradient, config.optim.tables.clip_gradient) == (5.0, None)


def test_saving_by_epoch_replaces_saving_by_step(read: Read) -> None:
    saving = read(("num_steps: 10", "num_epochs: 2 save_checkpoints_epochs: 1 keep_checkpoint_max: 3")).train.saving
    assert (saving.every_steps, saving.every_epochs, saving.keep) == (None, 1, 3)
    assert read(("num_steps: 10", "num_epochs: 2 save_checkpoints_steps: 0")).train.saving.every_steps is None


@pytest.mark.parametrize("field", ["fine_tune_ckpt_var_map", "fine_tune_ckpt_param_map"])
def test_both_names_of_the_name_map(read: Read, field: str) -> None:
    train = read(("num_steps: 10", f'num_steps: 10 fine_tune_checkpoint: "old" {field}: "map.txt"')).train
    assert (train.fine_tune_from, train.name_map) == ("old", "map.txt")


def test_the_shuffle_buffer_counts_batches(read: Read) -> None:
    data = read(("label_fields", "batch_size: 100 shuffle: true label_fields")).data
    assert (data.shuffle_rows, data.file_order) == (3200, "shuffled")


def test_csv_columns(read: Read) -> None:
    csv = 'CsvDataset delimiter: "\\t" input_fields { input_name: "town" input_type: INT64 }'
    config = read(("ParquetDataset", csv + ' input_fields_str: "clk:BIGINT;w:DOUBLE"'))
    reader = dumped(config.data.reader)
    assert (reader["separator"], reader["header"], reader["quotes"]) == ("\t", False, True)
    assert [(column["name"], column["type"]) for column in reader["columns"]] == [
        ("town", "int"), ("clk", "int"), ("w", "double"),
    ]  # fmt: skip


def test_a_column_without_a_type_gets_the_one_of_its_values(read: Read, tmp_path: Path) -> None:
    fields = 'input_fields { input_name: "town" } input_fields { input_name: "clk" input_type: INT32 }'
    reader = read(("ParquetDataset", f"CsvDataset {fields}")).data.reader
    assert [column["type"] for column in dumped(reader)["columns"]] == [None, "int"]
    (tmp_path / "a.csv").write_text("rome,1\n7,0\n")
    assert [str(kind) for kind in reader.arrow_schema(str(tmp_path / "a.csv")).types] == ["string", "int64"]
    (tmp_path / "a.csv").write_text("3,1\n7,0\n")
    assert [str(kind) for kind in reader.arrow_schema(str(tmp_path / "a.csv")).types] == ["int64", "int64"]


@pytest.mark.parametrize(
    "fields", ['input_fields { input_name: "a" input_type: ARRAY_INT64 }', 'input_fields_str: "a:MAP_STRING_INT64"']
)
def test_text_holds_no_lists(small: str, fields: str) -> None:
    with pytest.raises(ConfigError, match="is not in text files; declare it STRING, whose values features divide"):
        load_text(small.replace("ParquetDataset", f"CsvDataset {fields}"), "small.config", "torcheasyrec")


def test_columns_of_other_files_are_told_to_need_no_fields(small: str) -> None:
    fields = 'delimiter: ";" with_header: true input_fields { input_name: "a" input_type: ARRAY_ARRAY_FLOAT }'
    loaded = load_text(small.replace("ParquetDataset", f"ParquetDataset {fields}"), "small.config", "torcheasyrec")
    told = {problem.path: problem.message for problem in loaded.report.ignored}
    assert {"data_config.delimiter", "data_config.with_header", "data_config.input_fields"} <= told.keys()
    assert "only text files have it" in told["data_config.input_fields"]


def test_words_of_the_data_section_may_be_given_by_number(read: Read) -> None:
    fields = 'input_fields { input_name: "town" input_type: %s } input_fields { input_name: "clk" input_type: %s }'
    by_word = read(("ParquetDataset", "CsvDataset " + fields % ("STRING", "DOUBLE")), (FG, "fg_mode: FG_NONE"))
    by_number = read(("ParquetDataset", "3 " + fields % (2, 4)), (FG, "fg_mode: 1"))
    assert by_number.data == by_word.data
    assert read(("ParquetDataset", "2")).data == read().data


def test_raw_ids(read: Read) -> None:
    city = dumped(read().features[0])
    assert (city["kind"], city["name"], city["column"], city["separator"]) == ("id", "city", "town", "\x1d")
    assert city["bucket"] == {"kind": "identity", "rows": 9, "out_of_range": "error", "missing": None}
    hashed = dumped(read(("num_buckets: 9", 'hash_bucket_size: 5 default_value: "x" weighted: true')).features[0])
    assert hashed["bucket"] == {"kind": "hash", "rows": 5, "function": "murmur64"}
    assert (hashed["default"], hashed["kv_separator"], hashed["max_values"]) == ("x", ":", None)
    assert dumped(read(("num_buckets: 9", "num_buckets: 9 value_dim: 1")).features[0])["max_values"] == 1


def test_encoded_ids_are_read_from_the_column_of_the_feature(read: Read) -> None:
    config = read((FG, "fg_mode: FG_NONE"), ("num_buckets: 9", 'hash_bucket_size: 9 fg_encoded_default_value: "0"'))
    city = dumped(config.features[0])
    assert (city["column"], city["separator"], city["default"]) == ("city", "\x03", "0")
    assert city["bucket"] == {"kind": "identity", "rows": 9, "out_of_range": "error", "missing": None}


@pytest.mark.parametrize(("fields", "column"), [("", "city"), ("fg_encoded: false", "town"), ("fg_mode: 3", "town")])
def test_ways_to_say_the_mode(read: Read, fields: str, column: str) -> None:
    assert dumped(read((FG, fields)).features[0])["column"] == column


def test_a_vocabulary_keeps_rows_for_the_default_and_for_unknown_words(read: Read) -> None:
    config = read(("num_buckets: 9", 'vocab_list: ["a", "b"] default_value: "z"'))
    bucket = dumped(config.features[0])["bucket"]
    assert dict(zip(bucket["words"], bucket["ids"], strict=True)) == {"z": 0, "a": 2, "b": 3}
    assert (bucket["unknown"], bucket["rows"], config.tables[0].rows) == (1, 4, 4)
    own = dumped(read(("num_buckets: 9", 'vocab_list: ["a", "b"] default_value: "b"')).features[0])["bucket"]
    assert dict(zip(own["words"], own["ids"], strict=True)) == {"a": 2, "b": 3}


def test_default_bucketize_value_takes_those_rows_back(read: Read) -> None:
    bucket = dumped(read(("num_buckets: 9", 'vocab_list: ["a", "b"] default_bucketize_value: 1')).features[0])["bucket"]
    assert (bucket["ids"], bucket["unknown"], bucket["rows"]) == ([0, 1], 1, 2)


def test_a_vocabulary_with_ids(read: Read) -> None:
    words = 'vocab_dict { key: "a" value: 2 } vocab_dict { key: "b" value: 7 } default_value: "z"'
    bucket = dumped(read(("num_buckets: 9", words)).features[0])["bucket"]
    assert dict(zip(bucket["words"], bucket["ids"], strict=True)) == {"z": 0, "a": 2, "b": 7}
    assert (bucket["unknown"], bucket["rows"]) == (1, 8)


def test_numbers(read: Read) -> None:
    raw = 'raw_feature { feature_name: "city" expression: "item:p" normalizer: "method=minmax,min=1,max=3" }'
    feature = dumped(read((CITY, raw)).features[0])
    assert (feature["kind"], feature["column"], feature["size"], feature["default"]) == ("raw", "p", 1, 0.0)
    assert feature["normalizer"] == {"kind": "minmax", "low": 1.0, "high": 3.0}
    assert feature["separator"] is None
    assert read((CITY, raw)).groups[0].inputs[0].table is None


@pytest.mark.parametrize(
    ("text", "normalizer"),
    [
        ("method=log10", {"kind": "log10", "threshold": 1e-10, "default": -10.0}),
        ("method=zscore,mean=1,standard_deviation=2", {"kind": "zscore", "mean": 1.0, "std": 2.0}),
    ],
)
def test_normalizers(read: Read, text: str, normalizer: dict) -> None:
    raw = f'raw_feature {{ feature_name: "city" expression: "user:p" normalizer: "{text}" }}'
    assert dumped(read((CITY, raw)).features[0])["normalizer"] == normalizer


def test_boundaries_give_a_number_a_table(read: Read) -> None:
    raw = 'raw_feature { feature_name: "city" expression: "user:p" boundaries: [1, 2.5] embedding_dim: 4 }'
    config = read((CITY, raw))
    assert dumped(config.features[0]) == {
        "kind": "bucketized", "name": "city", "column": "p", "boundaries": [1.0, 2.5], "default": 0.0,
        "size": None, "separator": None,
    }  # fmt: skip
    assert config.tables[0].rows == 3


SEQUENCES = (
    (
        CITY,
        CITY + " } feature_configs { sequence_feature { sequence_name: 'seq' sequence_length: 5 sequence_delim: '|' "
        "features { id_feature { feature_name: 'city' expression: 'item:town' embedding_name: 'city_emb' "
        "num_buckets: 9 embedding_dim: 4 } } "
        "features { raw_feature { feature_name: 'age' expression: 'user:years' value_dim: 2 } } } } "
        "feature_configs { sequence_id_feature { feature_name: 'tags' expression: 'user:tags' hash_bucket_size: 7 "
        "embedding_dim: 4 }",
    ),
    (
        DEEP,
        DEEP + ' feature_groups { group_name: "s" feature_names: ["city", "seq__city", "seq__age"] '
        "group_type: SEQUENCE } ",
    ),
    (
        TOWER,
        'multi_tower_din { towers { input: "deep" mlp { hidden_units: 8 } } '
        'din_towers { input: "s" attn_mlp { hidden_units: 4 } } }',
    ),
)


def test_sequences(read: Read) -> None:
    config = read(*SEQUENCES)
    features = {feature.name: dumped(feature) for feature in config.features}
    assert features["seq__city"] == {
        "kind": "sequence_id", "name": "seq__city", "column": "seq__town", "separator": "|", "max_length": 5,
        "bucket": {"kind": "identity", "rows": 9, "out_of_range": "error", "missing": None}, "default": "0",
        "several": False, "value_separator": "\x1d", "kv_separator": None, "max_values": None,
    }  # fmt: skip
    age = features["seq__age"]
    assert (age["column"], age["size"], age["value_separator"], age["max_length"]) == ("seq__years", 2, "\x1d", 5)
    assert (features["tags"]["column"], features["tags"]["separator"], features["tags"]["max_length"]) == (
        "tags", ";", None,
    )  # fmt: skip


def test_a_sequence_group_has_tables_of_its_own(read: Read) -> None:
    config = read(*SEQUENCES)
    assert {table.name for table in config.tables} == {"city_emb", "city_emb_seq4"}
    assert [item.table for item in config.groups[0].inputs] == ["city_emb"]
    assert [item.table for item in config.groups[1].inputs] == ["city_emb_seq4", "city_emb_seq4", None]
    assert (config.groups[0].kind, config.groups[1].kind) == ("flat", "sequence")


WIDE = DEEP + ' feature_groups { group_name: "wide" feature_names: "city" group_type: WIDE }'


def test_deepfm_reads_groups_by_name_and_gives_the_wide_one_its_own_tables(read: Read) -> None:
    deepfm = 'deepfm { deep { hidden_units: 8 } wide_init_fn: "nn.init.constant_,val=0.5" }'
    config = read((DEEP, WIDE), (TOWER, deepfm))
    assert {table.name: table.width for table in config.tables} == {"city_emb": 4, "city_emb_wide": 4}
    assert dumped(config.table_names["city_emb_wide"].init) == {"kind": "constant", "value": 0.5}
    model = dumped(config.model)
    assert (model["wide"], model["deep"], model["fm"], model["final"]) == ("wide", "deep", "deep", None)


@pytest.mark.parametrize(
    ("text", "init"),
    [
        ("nn.init.uniform_,a=-0.1,b=0.1", {"kind": "uniform", "low": -0.1, "high": 0.1}),
        ("nn.init.normal_, std=0.01", {"kind": "normal", "mean": 0.0, "std": 0.01}),
        ("torch.nn.init.zeros_", {"kind": "constant", "value": 0.0}),
        ("nn.init.trunc_normal_,std=0.5,a=-1,b=1", {"kind": "truncated_normal", "mean": 0.0, "std": 0.5}),
    ],
)
def test_known_initialisers(read: Read, text: str, init: dict) -> None:
    config = read(("num_buckets: 9", f'num_buckets: 9 init_fn: "{text}"'))
    assert dumped(config.tables[0].init) == init


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("__import__('os').system", "is not an initialiser that is known"),
        ("nn.init.uniforms_", "did you mean uniform_?"),
        ("nn.init.uniform_,c=1", "c is no argument"),
        ("nn.init.constant_", "needs val"),
        ("nn.init.trunc_normal_,std=0.5", "two standard deviations"),
    ],
)
def test_other_initialisers_are_never_run(read: Read, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(("num_buckets: 9", f'num_buckets: 9 init_fn: "{text}"'))
    assert str(caught.value).startswith("small.config:15:101: feature_configs.id_feature.init_fn: ")
    assert words in str(caught.value)


def test_layers(read: Read) -> None:
    mlp = "hidden_units: [8, 4] dropout_ratio: 0.5 use_bn: true activation: \"nn.GELU(approximate='tanh')\""
    layers = dumped(read(("hidden_units: 8", mlp)).model)["towers"][0]["mlp"]
    assert (layers["hidden"], layers["dropout"], layers["activation"]) == ([8, 4], [0.5], "gelu_tanh")
    assert layers["norm"] == {"kind": "batch", "momentum": 0.1, "eps": 1e-5, "is_biased": False}
    assert (layers["bias"], layers["kernel"]) == (False, {"kind": "linear"})


def test_embedding_names_share_a_table_and_must_agree(read: Read) -> None:
    other = CITY.replace('"city"', '"home"').replace("embedding_dim", 'embedding_name: "city_emb" embedding_dim')
    both = ((CITY, CITY + " } feature_configs { " + other), ('names: "city"', 'names: ["city", "home"]'))
    assert [table.name for table in read(*both).tables] == ["city_emb"]
    with pytest.raises(ConfigError, match="its rows is 8, not 9"):
        read((CITY, CITY + " } feature_configs { " + other.replace("9", "8")), both[1])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (TOWER, "pepnet {}", "model pepnet is not available yet; available: deepfm, multi_tower, multi_tower_din"),
        (TOWER, "", "needs a model: one of deepfm, multi_tower, multi_tower_din"),
        ("num_buckets: 9", "num_buckets: 9 hash_bucket_size: 3", "hash_bucket_size is given as well"),
        ("num_buckets: 9", "zch { zch_size: 3 }", "needs one of lfu, lru, distance_lfu"),
        ("num_buckets: 9", "dynamicemb { max_capacity: 9 }", "tables that grow is not available yet"),
        ("num_steps: 10", "num_steps: 0", "needs num_steps or num_epochs"),
        ("num_steps: 10", 'num_steps: 10 mixed_precision: "BF16"', "mixed precision is not available yet"),
        ("binary_cross_entropy {}", "softmax_cross_entropy {}", "needs num_class 2 or more"),
        ("binary_cross_entropy {}", "recon_loss {}", "recon_loss is not available yet"),
        ("adagrad_optimizer {}", "lamb_optimizer {}", "lamb is not available yet"),
        (DEEP, DEEP.replace("DEEP }", "WIDE }"), "only deepfm, wide_and_deep and xdeepfm take a WIDE group"),
        ("group_type: DEEP", "group_type: JAGGED_SEQUENCE", "did you mean SEQUENCE?"),
        ('label_fields: "clk"', "", "label_fields: is required"),
        ("user:town", "feature:town", "no feature is called town"),
    ],
)
def test_what_is_refused(read: Read, old: str, new: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read((old, new))
    assert words in str(caught.value)
    assert all(problem.origin is not None for problem in caught.value.problems)


def test_batches_are_cut_by_cost(read: Read) -> None:
    fields = 'label_fields: "clk" sample_cost_field: "cost" batch_cost_size: 4096'
    data = read(('label_fields: "clk"', fields)).data
    assert (data.cost_column, data.cost_limit, data.batch_size) == ("cost", 4096.0, 1024)
    nothing = read(('label_fields: "clk"', 'label_fields: "clk" sample_cost_field: "" batch_cost_size: 0')).data
    assert (nothing.cost_column, nothing.cost_limit) == (None, None)
    for given, other in (('sample_cost_field: "cost"', "batch_cost_size"), ("batch_cost_size: 9", "sample_cost_field")):
        with pytest.raises(ConfigError, match=f"has no effect without {other}; give both or none"):
            read(('label_fields: "clk"', f'label_fields: "clk" {given}'))


def test_values_that_ask_for_nothing_are_not_refused(read: Read) -> None:
    read(("num_steps: 10", 'num_steps: 10 mixed_precision: "" gradient_accumulation_steps: 1'))


def test_ignored_fields_are_reported_with_their_reason(small: str) -> None:
    text = small.replace(FG, FG + " num_workers: 4")
    ignored = load_text(text, "small.config", "torcheasyrec").report.ignored
    assert [(problem.path, problem.origin.line if problem.origin else 0) for problem in ignored] == [
        ("data_config.num_workers", 12)
    ]
    assert "threads" in ignored[0].message


def test_pairs_of_deepfm_must_be_equally_wide(read: Read) -> None:
    other = CITY.replace('"city"', '"home"').replace("embedding_dim: 4", "embedding_dim: 8")
    with pytest.raises(ConfigError, match="home is 8 wide and city 4"):
        read(
            (CITY, CITY + " } feature_configs { " + other),
            ('names: "city"', 'names: ["city", "home"]'),
            (TOWER, "deepfm { deep { hidden_units: 8 } }"),
        )


@pytest.mark.parametrize("name", ["multi_tower_din_taobao", "deepfm_criteo"])
def test_examples_are_read_without_a_note(name: str) -> None:
    loaded = load(EXAMPLES / f"{name}.config")
    assert loaded.dialect == "torcheasyrec"
    assert loaded.report.ignored == []


@pytest.mark.parametrize("dataset", ["OdpsDataset", "OdpsDatasetV1"])
def test_tables_of_maxcompute(read: Read, dataset: str) -> None:
    path = "odps://shop/tables/clicks/pt=1&pt=2"
    table = ("ParquetDataset", dataset), ("a.parquet", path)
    data = read(*table).data
    assert data.train == (path,)
    assert dumped(data.reader) == {"kind": "odps", "quota": "pay-as-you-go", "compression": "LZ4_FRAME"}
    assert data.dealing == "end_to_end"
    more = 'is_orderby_partition: true odps_data_quota_name: "mine" odps_data_compression: "ZSTD" fg_mode: FG_DAG'
    data = read(*table, (FG, more)).data
    assert dumped(data.reader) == {"kind": "odps", "quota": "mine", "compression": "ZSTD"}
    assert data.dealing == "each_file"
    assert read((FG, more)).data.dealing == "end_to_end"
    with pytest.raises(ConfigError, match=r'odps_data_compression: "ZSDT" is not supported; did you mean ZSTD\?'):
        read(*table, (FG, more.replace("ZSTD", "ZSDT")))

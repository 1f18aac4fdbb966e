"""A config with every option of every kind of feature: none is forgotten, and it trains."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyrec import api
from polyrec.config import RunConfig
from polyrec.dialects import load_text, pbtxt, torcheasyrec
from polyrec.dialects.node import Report

CONFIG = Path(__file__).parent / "every_option.config"

EVERY_KIND = """
    feature_name embedding_name embedding_dim pooling init_fn use_mask fg_encoded_default_value trainable stub_type
    data_type embedding_constraints sequence_length sequence_delim sequence_fields
"""
WORDS = "hash_bucket_size vocab_list vocab_dict vocab_file asset_dir default_bucketize_value zch"
NUMBERS = "boundaries autodis mlp"
FIELDS = {
    "id_feature": f"expression default_value separator {WORDS} num_buckets value_dim fg_value_type weighted",
    "raw_feature": f"expression default_value separator {NUMBERS} normalizer value_dim",
    "combo_feature": f"expression default_value separator {WORDS} value_dim",
    "combine_feature": f"expression default_value separator num_buckets {NUMBERS} normalizer value_map combiner",
    "lookup_feature": f"""map key default_value separator {WORDS} num_buckets {NUMBERS} normalizer value_dim
        fg_value_type combiner need_discrete need_key value_separator""",
    "match_feature": f"""nested_map pkey skey default_value separator {WORDS} num_buckets {NUMBERS} normalizer value_dim
        fg_value_type need_discrete show_pkey show_skey""",
    "expr_feature": f"variables expression default_value separator {NUMBERS} value_dim fill_missing",
    "overlap_feature": f"query title separator {NUMBERS} normalizer method",
    "tokenize_feature": """expression default_value vocab_file asset_dir text_normalizer tokenizer_type
        tokens_as_sequence""",
    "kv_dot_product": f"query document default_value separator {NUMBERS} normalizer kv_delimiter",
    "custom_feature": f"""expression default_value separator {WORDS} num_buckets {NUMBERS} normalizer value_dim
        operator_name operator_lib_file operator_params is_op_thread_safe""",
    "bool_mask_feature": f"expression default_value separator {WORDS} num_buckets value_dim fg_value_type",
}
"""All fields of each kind's message, but `dynamicemb`, which is refused."""
INNER = {
    "zch": "zch_size eviction_interval lru threshold_filtering_func",
    "autodis": "num_channels temperature keep_prob",
    "text_normalizer": "max_length stop_char_file norm_options",
    "sequence_feature": "sequence_name sequence_length sequence_delim sequence_pk features",
}


def test_no_option_is_forgotten() -> None:
    root = pbtxt.parse(CONFIG.read_text(), CONFIG.name, Report())
    kinds: dict[str, set[str]] = {}
    alone: set[str] = set()
    for config in root.children("feature_configs"):
        (name, (message, *_)), *_ = (config.fields or {}).items()
        alone.add(name)
        members = message.children("features") if name == "sequence_feature" else []
        for kind, fields in [
            (name, message.fields),
            *((kind, found[0].fields) for member in members for kind, found in (member.fields or {}).items()),
        ]:
            kinds.setdefault(kind.removeprefix("sequence_") if kind != "sequence_feature" else kind, set()).update(
                fields or {}
            )
    wanted = {kind: set(f"{EVERY_KIND} {fields}".split()) for kind, fields in FIELDS.items()}
    assert kinds == {**wanted, "sequence_feature": set(INNER["sequence_feature"].split())}
    assert alone == {*FIELDS, *(f"sequence_{kind}" for kind in FIELDS), "sequence_feature"}
    text = CONFIG.read_text()
    assert [field for fields in INNER.values() for field in fields.split() if field not in text] == []


def misspelt(text: str, field: str) -> tuple[str, int]:
    """The text with the last letter but one left out of the field's first name, and the line where it stands."""
    found = re.search(rf"^ +{field}\b(?=:| \{{)", text, re.MULTILINE)
    assert found is not None
    line = text[: found.end()].count("\n") + 1
    return text[: found.end() - 2] + text[found.end() - 1 :], line


@pytest.mark.parametrize("part", range(8))
def test_a_misspelt_option_is_answered_with_the_right_one(part: int) -> None:
    """Several at once, each in its line."""
    text, lines = CONFIG.read_text(), {}
    for field in sorted({field for fields in (EVERY_KIND, *FIELDS.values()) for field in fields.split()})[part::8]:
        text, lines[field] = misspelt(text, field)
    report = Report()
    root = pbtxt.parse(text, CONFIG.name, report)
    torcheasyrec.read(root)
    root.check_unread()
    told: dict[int, str] = {}
    for problem in report.problems:
        assert problem.origin is not None
        told[problem.origin.line] = told.get(problem.origin.line, "") + problem.message
    right = [f"did you mean {field}?" in told[line] for field, line in lines.items()]
    assert sum(right) >= 0.8 * len(right)


def rows(size: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)

    def some(words: list[str], separator: str, least: int = 1) -> list[str]:
        return [separator.join(random.choice(words, count)) for count in random.integers(least, 4, size)]

    lengths = random.integers(0, 6, size)

    def sequence(words: list[str]) -> list[str | None]:
        return [";".join(random.choice(words, length)) or None for length in lengths]

    letters, scores = ["a", "b", "c", "d"], ["a:1", "b:2.5", "c:3", "d:0"]
    tags = some(letters, "|")
    level = random.integers(0, 9, size)
    return pa.table(
        {
            "user": [f"u{number}" for number in random.integers(0, 50, size)],
            "item": random.choice([*letters, None], size),
            "kind": random.choice(["k", "l"], size),
            "tags": tags,
            "kept": ["|".join(random.choice(["1", "false"], text.count("|") + 1)) for text in tags],
            "levels": ["|".join(random.choice(["3", "44"], text.count("|") + 1)) for text in tags],
            "level": level,
            "price": random.normal(size=size).astype(np.float32),
            "scores": [text.replace(".5", "") for text in some(scores, "\x1d")],
            "nested": some(["k^a:1,b:2", "l^c:3", "m^a:1"], "|", least=0),
            "title": some(["a", "b", "x7", "a!"], " ", least=0),
            "clicks__item": sequence(letters),
            "clicks__kept": sequence(["0", "1"]),
            "clicks__price": sequence(["0.5", "2", "-1"]),
            "clicks__scores": sequence(scores),
            "clicks__title": sequence(["a b", "b", "x 1"]),
            "click": (level + random.normal(size=size) > 4).astype(np.int64),
        }
    )


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    (tmp_path / "words.txt").write_text("a\nb\n")
    (tmp_path / "stop.txt").write_text("!\n")
    model: dict[str, Any] = {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "?": 2}, "unk_token": "?"}
    tokenizer = {"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "model": model}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    (tmp_path / "train").mkdir()
    pq.write_table(rows(200, 1), tmp_path / "train" / "part.parquet")
    loaded = load_text(CONFIG.read_text().replace("FOLDER", str(tmp_path)), CONFIG.name, "torcheasyrec").config
    assert isinstance(loaded, RunConfig)
    return loaded


def test_a_run_of_every_kind_trains_and_its_export_predicts(config: RunConfig, tmp_path: Path) -> None:
    api.train(config)
    api.export(config, str(tmp_path / "export"))
    # Files of words and tokenizers travel with the export.
    for name in ("words.txt", "stop.txt", "tokenizer.json"):
        (tmp_path / name).unlink()
    (tmp_path / "new").mkdir()
    new = rows(60, 2)
    pq.write_table(new, tmp_path / "new" / "part.parquet")
    found = {}
    for size in (60, 7):
        api.predict(str(tmp_path / "export"), [str(tmp_path / "new")], str(tmp_path / f"out{size}"), batch_size=size)
        found[size] = pq.read_table(tmp_path / f"out{size}")["probs"].to_numpy()
    assert len(np.unique(found[60])) > 30
    np.testing.assert_allclose(found[60], found[7], rtol=1e-5)

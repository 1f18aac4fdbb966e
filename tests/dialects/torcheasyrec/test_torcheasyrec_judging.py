"""Losses and metrics of TorchEasyRec configs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polyrec.config import RunConfig, Task
from polyrec.dialects import load_text
from polyrec.errors import ConfigError

Read = Callable[..., RunConfig]
BCE = "losses { binary_cross_entropy {} }"
JRC = 'losses { jrc_loss { session_name: "city" } }'


def task(read: Read, text: str) -> Task:
    return read((BCE, text)).tasks[0]


def test_jrc_takes_rows_together_by_the_features_column(read: Read) -> None:
    config = read((BCE, f'num_class: 2 {JRC} losses {{ jrc_loss {{ session_name: "city" alpha: 0.25 }} }}'))
    assert [item.loss.dump() for item in config.tasks[0].losses] == [
        {"kind": "jrc", "group": "town", "alpha": alpha} for alpha in (0.5, 0.25)
    ]
    assert config.group_columns == ("town",)


def test_focal_loss_and_smoothing(read: Read) -> None:
    losses = """
      losses { binary_focal_loss {} }
      losses { binary_focal_loss { gamma: 1.5 alpha: 0.25 } }
      losses { binary_cross_entropy { label_smoothing: 0.1 } }
    """
    assert [item.loss.dump() for item in task(read, losses).losses] == [
        {"kind": "binary_focal", "gamma": 2.0, "alpha": 0.5},
        {"kind": "binary_focal", "gamma": 1.5, "alpha": 0.25},
        {"kind": "binary_cross_entropy", "label_smoothing": 0.1},
    ]


def test_metrics_with_their_defaults(read: Read) -> None:
    metrics = """
      metrics { auc {} } metrics { normalized_entropy {} } metrics { xauc {} }
      metrics { grouped_auc { grouping_key: "city" } } metrics { grouped_xauc { grouping_key: "city" } }
    """
    found = task(read, BCE + metrics).metrics
    assert [metric.title for metric in found] == ["auc", "normalized_entropy", "xauc", "grouped_auc", "grouped_xauc"]
    assert [metric.dump() for metric in found[2:]] == [
        {"kind": "xauc", "ties": "wrong"},
        {"kind": "grouped_auc", "group": "town", "weighting": "even"},
        {"kind": "grouped_xauc", "group": "town", "ties": "wrong"},
    ]


def test_metrics_of_classes(read: Read) -> None:
    losses = "num_class: 4 losses { softmax_cross_entropy { label_smoothing: 0.2 } }"
    metrics = 'metrics { multiclass_auc {} } metrics { multiclass_auc { average: "weighted" } }'
    found = task(read, f"{losses} {metrics} metrics {{ accuracy {{ top_k: 2 }} }}").metrics
    assert [metric.dump() for metric in found] == [
        {"kind": "multiclass_auc", "average": "macro"},
        {"kind": "multiclass_auc", "average": "weighted"},
        {"kind": "accuracy", "threshold": 0.5, "top_k": 2},
    ]


def test_metrics_of_training(read: Read) -> None:
    text = "train_metrics { auc {} } train_metrics { xauc {} decay_rate: 0.5 decay_step: 7 }"
    found = task(read, BCE + text).train_metrics
    assert [(item.metric.title, item.decay, item.every_steps) for item in found] == [
        ("auc", 0.9, 100),
        ("xauc", 0.5, 7),
    ]


def test_draws_of_pairs_have_no_effect_and_say_so(small: str) -> None:
    fields = "xauc { sample_ratio: 0.1 max_pairs: 9 in_batch: true }"
    metrics = f'metrics {{ {fields} }} metrics {{ grouped_xauc {{ grouping_key: "city" max_pairs_per_group: 9 }} }}'
    notes = str(load_text(small.replace(BCE, BCE + metrics), "small.config", "torcheasyrec").report.ignored)
    for name in ("sample_ratio", "max_pairs", "in_batch", "max_pairs_per_group"):
        assert name in notes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (JRC, "needs num_class 2, not 1"),
        (f"num_class: 3 {JRC}", "needs num_class 2, not 3"),
        ("num_class: 2 losses { binary_focal_loss {} }", "needs num_class 1, not 2"),
        ("num_class: 2 losses { jrc_loss {} }", "session_name: is required"),
        ('num_class: 2 losses { jrc_loss { session_name: "cty" } }', "no feature is called cty; did you mean city?"),
        (BCE + "metrics { grouped_auc {} }", "grouping_key: is required"),
        (BCE + 'metrics { grouped_xauc { grouping_key: "town" } }', "no feature is called town"),
        (BCE + "metrics { }", "is empty; give it one of auc, "),
        (BCE + 'metrics { multiclass_auc { average: "micro" } }', "micro"),
        (BCE + "train_metrics { grouped_auc {} }", "grouped_auc"),
        (BCE + "train_metrics { auc {} decay_step: 0 }", "needs more than 0"),
        (BCE + "metrics { recall_at_k {} }", "recall_at_5 compares with sampled items"),
        (BCE + "train_metrics { recall_at_k {} }", "recall_at_5 compares with sampled items"),
    ],
)
def test_what_is_refused(read: Read, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        task(read, text)
    assert words in str(caught.value)
    assert all(problem.origin is not None for problem in caught.value.problems)


def test_a_sequence_is_no_session(read: Read) -> None:
    feature = 'sequence_id_feature { feature_name: "past" expression: "user:past" num_buckets: 9 embedding_dim: 4 }'
    with pytest.raises(ConfigError, match="past is a sequence; name a feature of whole rows"):
        read(
            (BCE, BCE + 'metrics { grouped_auc { grouping_key: "past" } }'),
            ("feature_configs", f"feature_configs {{ {feature} }} feature_configs"),
        )

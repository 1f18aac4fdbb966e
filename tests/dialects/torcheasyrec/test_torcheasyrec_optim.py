"""Optimizers, schedules, parts and clipping of TorchEasyRec configs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from polyrec.config import RunConfig
from polyrec.dialects import load_text
from polyrec.errors import ConfigError

Read = Callable[..., RunConfig]
SPARSE, DENSE = "adagrad_optimizer {}", "adam_optimizer {}"
CONSTANT = DENSE + " constant_learning_rate {}"
MOMENTS = {"lr": 0.002, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0}


def dumped(component: Any) -> dict[str, Any]:
    return component.dump()


def problems(read: Read, *changes: tuple[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        read(*changes)
    assert all(problem.origin is not None for problem in caught.value.problems)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sgd_optimizer {}", {"kind": "sgd", "lr": 0.002, "momentum": 0.0}),
        ("adagrad_optimizer { initial_accumulator_value: 0.5 }", {"kind": "adagrad", "initial_accumulator": 0.5}),
        ("adam_optimizer { beta1: 0.8 }", {"kind": "adam", **MOMENTS, "beta1": 0.8, "is_decoupled": True}),
        ("partial_rowwise_adam_optimizer {}", {"kind": "partial_rowwise_adam", **MOMENTS}),
        ("lamb_optimizer { beta2: 0.5 lr: 1 }", {"kind": "lamb", **MOMENTS, "beta2": 0.5, "lr": 1.0}),
        (
            "partial_rowwise_lamb_optimizer { weight_decay: 0.1 }",
            {"kind": "partial_rowwise_lamb", **MOMENTS, "weight_decay": 0.1},
        ),
        ("lars_sgd_optimizer {}", {"kind": "lars_sgd", "momentum": 0.9, "eta": 0.001, "weight_decay": 0.0}),
        ("lars_sgd_optimizer { momentum: 0 weight_decay: 1 }", {"momentum": 0.0, "weight_decay": 1.0}),
        ("adadelta_optimizer {}", {"kind": "adadelta", "rho": 0.95, "eps": 1e-6, "weight_decay": 0.0}),
        ("adadelta_optimizer { rho: 0.5 eps: 1 weight_decay: 2 }", {"rho": 0.5, "eps": 1.0, "weight_decay": 2.0}),
        ("rmsprop_optimizer {}", {"kind": "rmsprop", "alpha": 0.99, "eps": 1e-8, "weight_decay": 0.0}),
        ("rmsprop_optimizer { alpha: 0.5 eps: 1 weight_decay: 2 }", {"alpha": 0.5, "eps": 1.0, "weight_decay": 2.0}),
        ("rowwise_adagrad_optimizer {}", {"kind": "rowwise_adagrad", "eps": 1e-8, "weight_decay": 0.0}),
        (
            "rowwise_adagrad_optimizer { weight_decay: 0.1 weight_decay_mode: L2 }",
            {"weight_decay": 0.1, "is_decoupled": False},
        ),
        (
            "rowwise_adagrad_optimizer { weight_decay: 0.1 weight_decay_mode: 2 }",
            {"weight_decay": 0.1, "is_decoupled": True},
        ),
    ],
)
def test_optimizers_of_tables(read: Read, text: str, expected: dict[str, Any]) -> None:
    tables = read((SPARSE, text)).optim.tables
    assert dumped(tables.optimizer).items() >= expected.items()
    assert tables.clip_value is None
    clipped = read((SPARSE, text.replace("{", "{ gradient_clipping: true max_gradient: 0.25 ", 1))).optim.tables
    assert clipped.clip_value == 0.25
    assert dumped(clipped.optimizer).items() >= expected.items()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sgd_optimizer {}", {"kind": "sgd", "momentum": 0.9, "dampening": 0.0, "nesterov": False}),
        ("sgd_optimizer { nesterov: true weight_decay: 0.1 }", {"nesterov": True, "weight_decay": 0.1}),
        ("adagrad_optimizer { fused: true }", {"kind": "adagrad", "eps": 1e-10, "initial_accumulator": 0.0}),
        ("adam_optimizer { amsgrad: true }", {"kind": "adam", **MOMENTS, "amsgrad": True, "is_decoupled": False}),
        ("adamw_optimizer { eps: 1e-4 }", {"kind": "adam", "eps": 1e-4, "amsgrad": False, "is_decoupled": True}),
        ("adadelta_optimizer { rho: 0.5 }", {"kind": "adadelta", "rho": 0.5, "eps": 1e-6}),
        ("rmsprop_optimizer { alpha: 0.5 }", {"kind": "rmsprop", "alpha": 0.5, "eps": 1e-8, "start": 0.0}),
    ],
)
def test_optimizers_of_other_weights_and_of_parts(read: Read, text: str, expected: dict[str, Any]) -> None:
    part = f'part_optimizers {{ regex_pattern: "network.*" {text} }}'
    optim = read((DENSE, f"{text} {part}")).optim
    assert dumped(optim.dense.optimizer).items() >= expected.items()
    assert dumped(optim.parts[0].optimizer) == dumped(optim.dense.optimizer)


def test_parts_have_patterns_and_schedules_of_their_own(read: Read) -> None:
    parts = """
      part_optimizers { regex_pattern: ".*bias" sgd_optimizer { lr: 1 }
        exponential_decay_learning_rate { decay_size: 2 decay_factor: 0.5 } }
      part_optimizers { regex_pattern: "network.*" adagrad_optimizer {} }
    """
    optim = read((CONSTANT, CONSTANT + parts)).optim
    assert [part.pattern for part in optim.parts] == [".*bias", "network.*"]
    assert [part.schedule.kind for part in optim.parts] == ["exponential", "constant"]
    assert [part.schedule.rate(part.optimizer.lr, 2) for part in optim.parts] == [0.5, 0.002]
    wrong = 'part_optimizers { regex_pattern: "(" sgd_optimizer {} } part_optimizers { regex_pattern: "a" }'
    told = problems(read, (CONSTANT, f"{CONSTANT} {wrong}"))
    assert "is not a regular expression" in told
    assert "needs an optimizer: one of sgd_optimizer, adagrad_optimizer" in told
    assert "regex_pattern: is required" in problems(
        read, (CONSTANT, CONSTANT + " part_optimizers { sgd_optimizer {} }")
    )


@pytest.mark.parametrize(
    ("text", "steps", "expected"),
    [
        ("manual_step_learning_rate { schedule_sizes: [2, 4] learning_rates: [0.5, 0.1] }",
         (0, 2, 3, 4, 5, 99), (1, 1, 0.5, 0.5, 0.1, 0.1)),
        ("manual_step_learning_rate { schedule_sizes: [2, 4] learning_rates: [0.5, 0.1] warmup: true }",
         (0, 1, 2, 3, 5), (1, 0.75, 0.5, 0.5, 0.1)),
        ("cosine_annealing_learning_rate { T_max: 4 min_learning_rate: 0.2 }", (0, 2, 4, 9), (1, 0.6, 0.2, 0.2)),
        ("cosine_annealing_learning_rate { T_max: 4 warmup_size: 2 warmup_learning_rate: 0.5 }",
         (0, 1, 2, 4, 6), (0.5, 0.75, 1, 0.5, 0)),
        ("cosine_annealing_warm_restarts_learning_rate { T_0: 2 }", (0, 1, 2, 3), (1, 0.5, 1, 0.5)),
        ("cosine_annealing_warm_restarts_learning_rate { T_0: 2 T_mult: 2 min_learning_rate: 0.2 warmup_size: 1 }",
         (0, 1, 2, 3, 5, 7), (0, 1, 0.6, 1, 0.6, 1)),
        ("exponential_decay_learning_rate { decay_size: 2 decay_factor: 0.5 staircase: false min_learning_rate: 0.3 }",
         (0, 2, 3, 9), (1, 0.5, 0.5**1.5, 0.3)),
    ],
)  # fmt: skip
def test_schedules(read: Read, text: str, steps: tuple[int, ...], expected: tuple[float, ...]) -> None:
    for change in ((CONSTANT, f"adam_optimizer {{ lr: 1 }} {text}"),
                   (SPARSE + " constant_learning_rate {}", f"sgd_optimizer {{ lr: 1 }} {text}")):  # fmt: skip
        optim = read(change).optim
        schedule = (optim.dense if change[0] == CONSTANT else optim.tables).schedule
        assert schedule.by == "step"
        assert [schedule.rate(1.0, step) for step in steps] == pytest.approx(expected)
        # A rate of 0 stays 0, whatever the schedule's other rates.
        assert [schedule.rate(0.0, step) for step in steps] == [0.0] * len(steps)
        by_epoch = read((change[0], change[1].replace(text, text.replace("{", "{ by_epoch: true", 1)))).optim
        assert (by_epoch.dense if change[0] == CONSTANT else by_epoch.tables).schedule.by == "epoch"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cosine_annealing_learning_rate {}", "T_max: is required"),
        ("cosine_annealing_warm_restarts_learning_rate {}", "T_0: is required"),
        ("exponential_decay_learning_rate {}", "decay_size: is required"),
        ("manual_step_learning_rate { schedule_sizes: [2, 1] learning_rates: [1, 2] }", "must be in rising order"),
        ("manual_step_learning_rate { schedule_sizes: 2 }", "1 starts and 0 rates"),
        ("manual_step_learning_rate {}", "starts"),
    ],
)
def test_schedules_that_say_too_little(read: Read, text: str, words: str) -> None:
    assert words in problems(read, (CONSTANT, f"{DENSE} {text}"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("clipping_type: 'norm' max_gradient: 5", (5.0, 2.0, None)),
        ("clipping_type: 'norm' norm_type: 1", (1.0, 1.0, None)),
        ("clipping_type: 'value' max_gradient: 0.5", (None, 2.0, 0.5)),
        ("clipping_type: 'none'", (None, 2.0, None)),
        ("", (None, 2.0, None)),
    ],
)
def test_clipping_is_of_the_dense_weights(read: Read, text: str, expected: tuple[Any, ...]) -> None:
    optim = read(("num_steps: 10", f"num_steps: 10 grad_clipping {{ {text} enable_global_grad_clip: false }}")).optim
    assert (optim.dense.clip_gradient, optim.dense.clip_norm, optim.dense.clip_value) == expected
    assert (optim.tables.clip_gradient, optim.tables.clip_value) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        (SPARSE, "lamb_optimizer { max_gradient: 2 }", "max_gradient", "gradient_clipping is off"),
        (SPARSE, "rowwise_adagrad_optimizer { weight_decay: 1 }", "weight_decay", "weight_decay_mode is NONE"),
        ("num_steps: 10", "num_steps: 10 grad_clipping { max_gradient: 2 }", "max_gradient", "clipping_type is none"),
        ("num_steps: 10", "num_steps: 10 grad_clipping { clipping_type: 'value' norm_type: 1 }", "norm_type",
         "clipping_type is value"),
    ],
)  # fmt: skip
def test_what_has_no_effect_is_told(small: str, old: str, new: str, field: str, reason: str) -> None:
    assert old in small
    loaded = load_text(small.replace(old, new, 1), "small.config", "torcheasyrec")
    (ignored,) = [problem for problem in loaded.report.ignored if problem.path.endswith(field)]
    assert ignored.message == reason


def test_averages_are_for_evaluation_and_export_unless_they_say_no(read: Read) -> None:
    assert read().optim.average is None
    averaged = (CONSTANT, CONSTANT + " ema {}")
    assert read(averaged).optim.average == 0.999
    config = read((CONSTANT, CONSTANT + " ema { decay: 0.5 }"))
    assert (config.optim.average, config.evaluate.with_average, config.export.with_average) == (0.5, True, True)
    model = "model_config {"
    for wish in ("false", "true"):
        wishes = " ".join(f"{part}_config {{ use_dense_ema: {wish} }}" for part in ("eval", "export"))
        config = read(averaged, (model, f"{wishes} {model}"))
        assert (config.evaluate.with_average, config.export.with_average) == (wish == "true", wish == "true")
        if wish == "true":
            assert problems(read, (model, f"{wishes} {model}")).count("dense_optimizer has no ema") == 2
        else:
            read((model, f"{wishes} {model}"))

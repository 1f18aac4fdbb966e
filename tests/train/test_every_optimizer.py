"""Every optimizer trains a whole run, on tables and on other weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_training as small

from polyrec import api, catalog
from polyrec.families import OptimizerConfig

MOMENTS = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
RATES: dict[str, dict[str, Any]] = {
    "sgd": {"lr": 1.0, "momentum": 0.9},
    "adagrad": {"lr": 0.1, "initial_accumulator": 0.0, "eps": 1e-8},
    "rowwise_adagrad": {"lr": 0.1, "initial_accumulator": 0.0, "eps": 1e-8},
    "adam": {"lr": 0.02, **MOMENTS},
    "partial_rowwise_adam": {"lr": 0.02, **MOMENTS},
    "lamb": {"lr": 0.2, **MOMENTS},
    "partial_rowwise_lamb": {"lr": 0.2, **MOMENTS},
    "lars_sgd": {"lr": 50.0},
    "adadelta": {"lr": 20.0, "rho": 0.95, "eps": 1e-6},
    "rmsprop": {"lr": 0.02, "alpha": 0.99, "eps": 1e-8},
    "ftrl": {"lr": 0.1, "initial_accumulator": 1e-4},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.data(tmp_path_factory.mktemp("data"))


def test_none_is_forgotten() -> None:
    assert set(catalog.names(OptimizerConfig)) == set(RATES)


@pytest.mark.parametrize("kind", RATES)
def test_the_loss_falls(folder: Path, tmp_path: Path, kind: str) -> None:
    learning = {"optimizer": {"kind": kind, **RATES[kind]}, "schedule": {"kind": "cosine", "length": 38, "warmup": 2}}
    # FTRL solves weights from their gradients alone, so layers would lose the random start that they need.
    dense = {**learning, "optimizer": {"kind": "adam", **RATES["adam"]}} if kind == "ftrl" else learning
    losses: list[float] = []
    config = small.config(
        folder,
        model_dir=str(tmp_path / "model"),
        train__epochs=2,
        train__saving={},
        optim__tables={**learning, "clip_value": 0.5},
        optim__dense={**dense, "clip_value": 0.5},
    )
    result = api.train(config, on_step=lambda step, named: losses.append(named["total"]))
    assert np.mean(losses[-10:]) < np.mean(losses[:5]) - 0.02
    assert result["metrics"]["auc"] > 0.64

"""Runs that keep running averages of the weights outside tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import small_training as small
import torch

from polyrec import api
from polyrec.checkpoint import tensors
from polyrec.config import RunConfig
from polyrec.errors import CheckpointError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.data(tmp_path_factory.mktemp("data"))


def part_of(path: Path, part: str) -> dict[str, torch.Tensor]:
    found = {name: torch.zeros(size, dtype=kind) for name, (size, kind) in tensors.shapes(path / part).items()}
    tensors.load(found, path / part)
    return found


def config_of(folder: Path, model: Path, steps: int, **changes: Any) -> RunConfig:
    changes = {"optim__average": 0.9, "train__saving": {}, **changes}
    return small.config(folder, model_dir=str(model), train__epochs=None, train__steps=steps, **changes)


def test_averages_follow_the_weights_and_go_on_when_resumed(folder: Path, tmp_path: Path) -> None:
    saving = {"every_steps": 1}
    api.train(config_of(folder, tmp_path / "one", 6, train__saving=saving, train__evaluate_after_save=False))
    steps = [tmp_path / "one" / f"model.ckpt-{step}" for step in range(1, 7)]
    expected = part_of(steps[0], "average")
    assert all(name.startswith(("network.", "inputs.")) for name in expected)
    for number, path in enumerate(steps):
        weights, found = part_of(path, "model"), part_of(path, "average")
        for name, value in expected.items():
            expected[name] = weights[name] if number == 0 else 0.9 * value + 0.1 * weights[name]
            torch.testing.assert_close(found[name], expected[name], rtol=1e-5, atol=1e-7)
    for count in (2, 6):
        options = {"resume": count > 2}
        api.train(config_of(folder, tmp_path / "two", count, train__evaluate_after_save=False), **options)
    resumed = part_of(tmp_path / "two" / "model.ckpt-6", "average")
    last = part_of(steps[-1], "average")
    assert all(torch.equal(resumed[name], last[name]) for name in last)


def test_averages_stand_in_for_the_weights_unless_they_should_not(folder: Path, tmp_path: Path) -> None:
    config = config_of(folder, tmp_path / "model", 15)
    plain = config.model_copy(update={"evaluate": config.evaluate.model_copy(update={"with_average": False})})
    during = api.train(config)["metrics"]
    assert api.evaluate(config)["metrics"] == during
    assert api.evaluate(plain)["metrics"] != during

    def predicted(name: str, use: bool) -> tuple[Any, Any]:
        run = config.model_copy(update={"export": config.export.model_copy(update={"with_average": use})})
        inputs = [str(folder / "eval")]
        api.export(run, str(tmp_path / name))
        api.predict(str(tmp_path / name), inputs, str(tmp_path / f"{name}-out"))
        api.predict_checkpoint(run, inputs, str(tmp_path / f"{name}-direct"))
        return tuple(pq.read_table(tmp_path / f"{name}-{way}")["probs"].to_numpy() for way in ("out", "direct"))  # type: ignore[return-value]

    averaged, weights = predicted("averaged", True), predicted("plain", False)
    np.testing.assert_allclose(averaged[0], averaged[1], rtol=1e-5)
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-5)
    assert np.abs(averaged[0] - weights[0]).max() > 1e-3


def test_a_checkpoint_without_averages(folder: Path, tmp_path: Path) -> None:
    api.train(config_of(folder, tmp_path / "model", 2, optim__average=None))
    config = config_of(folder, tmp_path / "model", 3)
    with pytest.raises(CheckpointError, match=r"holds no averages of its weights.*evaluate\.with_average: false"):
        api.evaluate(config)
    # A run that goes on from it begins its averages with the weights after its first step.
    api.train(config, resume=True)
    path = tmp_path / "model" / "model.ckpt-3"
    weights = part_of(path, "model")
    assert all(torch.equal(value, weights[name]) for name, value in part_of(path, "average").items())

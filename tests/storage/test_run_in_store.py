"""A whole run whose data, model folder, export and predictions are in an S3 store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import small_training
from pyarrow import fs

from polyrec import api
from polyrec import checkpoint as checkpoints
from polyrec.storage import copies, file_system

Keys = Callable[..., dict[str, int]]


@pytest.fixture()
def remote(bucket: str, tmp_path: Path) -> str:
    """A bucket with the data of a small run."""
    small_training.data(tmp_path / "made", 1000, 200)
    store, path = file_system(bucket)
    fs.copy_files(str(tmp_path / "made"), path, destination_filesystem=store)
    return bucket


def config(bucket: str, **changes: object):
    places = {"model_dir": f"{bucket}/model", "data__train": [f"{bucket}/train"], "data__evaluate": [f"{bucket}/eval/*.parquet"]}
    return small_training.config(Path("unused"), **places, **changes)


def test_train_resume_evaluate_export_predict(remote: str, keys: Keys, tmp_path: Path) -> None:
    run = config(remote, train__epochs=1, train__tensorboard=True)
    done = api.train(run)
    assert done["checkpoint"] == f"{remote}/model/model.ckpt-9"
    print(sorted(keys()))

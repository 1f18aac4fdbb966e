"""polyrec demo: `data` makes rows with a planted truth; `run` trains, evaluates, exports and predicts on such rows."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyrec.cli.flags import Flags, above_zero, choice
from polyrec.errors import ConfigError, nearest

if TYPE_CHECKING:
    from polyrec.config import RunConfig
    from polyrec.demo import DemoData

CONFIG = "examples/torcheasyrec/multi_tower_din_taobao.config"
KINDS = ("taobao", "criteo", "movielens", "avazu")
FORMS = ("parquet", "csv", "slots")
ROWS = {"data": 100_000, "run": 250_000}


def flags() -> Flags:
    found = Flags("polyrec demo", __doc__)
    found.add_argument("what", metavar="data|run")
    found.add_argument("--kind", type=choice(*KINDS), metavar="|".join(KINDS), help="taobao if left out")
    found.add_argument("--rows", type=above_zero, metavar="N", help="rows to train on; a fifth more to evaluate on")
    found.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed makes the same rows")
    found.add_argument(
        "--form", type=choice(*FORMS), metavar="|".join(FORMS), help="file format; each kind has its own"
    )
    found.add_argument("--folder", "--to", metavar="DIR", default="demo", help="folder to write, `demo` if left out")
    found.add_argument("--config", metavar="CONFIG", help=f"for run: the config to train, {CONFIG} if left out")
    found.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return found


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.what not in ROWS:
        hint = nearest(arguments.what, ROWS)
        raise ConfigError(f"polyrec demo {arguments.what}: unknown{hint}; known: {', '.join(ROWS)}")
    rows = arguments.rows or ROWS[arguments.what]
    from polyrec.demo import make_data

    if arguments.what == "data":
        data = make_data(arguments.kind or "taobao", arguments.folder, rows, arguments.seed, arguments.form)
        sys.stderr.write(
            f"{data.rows} rows to train on and {data.eval_rows} to evaluate on in {arguments.folder}\n"
            f"best possible AUC {data.best_auc:.4f}; a logistic fit that knows the features of the truth "
            f"{data.oracle_auc:.4f}\n"
        )
        return asdict(data)
    if not Path(arguments.config or CONFIG).is_file():
        raise ConfigError(
            f"{arguments.config or CONFIG}: no such file; run the demo in polyrec's folder or give --config"
        )
    folder = Path(arguments.folder)
    data = make_data(arguments.kind or "taobao", str(folder / "data"), rows, arguments.seed, arguments.form)
    config = _config(arguments.config or CONFIG, folder, data)
    return _every_verb(config, folder, data)


def _config(path: str, folder: Path, data: DemoData) -> RunConfig:
    from polyrec import dialects
    from polyrec.workflow import Workflow

    loaded = dialects.load(path).config
    if isinstance(loaded, Workflow):
        raise ConfigError(f"{path}: is a workflow; the demo needs a single run")
    update = {"train": tuple(data.train), "evaluate": tuple(data.evaluate)}
    return loaded.model_copy(update={"model_dir": str(folder / "model"), "data": loaded.data.model_copy(update=update)})


def _every_verb(config: RunConfig, folder: Path, data: DemoData) -> dict[str, Any]:
    """Train, evaluate, export, predict; folders of an earlier demo make room."""
    from polyrec import api

    export, predictions = folder / "export", folder / "predictions"
    for old in (Path(config.model_dir), export, predictions):
        shutil.rmtree(old, ignore_errors=True)
    trained = api.train(config)
    if trained.get("stopped_by_signal"):
        return trained
    judged = api.evaluate(config)
    exported = api.export(config, str(export))
    predicted = api.predict(str(export), data.evaluate, str(predictions), reserve=[data.label])
    result = {
        "auc": next((value for name, value in judged["metrics"].items() if name.startswith("auc")), None),
        "best_auc": data.best_auc,
        "oracle_auc": data.oracle_auc,
        "samples_per_second": trained.get("samples_per_second"),
        "model_dir": config.model_dir,
        "export_dir": exported.get("export_dir", str(export)),
        "predictions": str(predictions),
        "rows_predicted": predicted.get("rows"),
        "data": str(folder / "data"),
    }
    sys.stderr.write(_table(result))
    return result


def _table(result: dict[str, Any]) -> str:
    def shown(value: Any) -> str:
        return f"{value:.4f}" if isinstance(value, float) and value < 1 else json.dumps(value).strip('"')

    rows = [
        ("AUC on rows not trained on", shown(result["auc"])),
        ("AUC of a logistic fit that knows the features of the truth", shown(result["oracle_auc"])),
        ("best possible AUC", shown(result["best_auc"])),
        ("samples per second in training", shown(result["samples_per_second"])),
        ("data", result["data"]),
        ("checkpoints and logs", result["model_dir"]),
        ("exported model", result["export_dir"]),
        ("predictions", result["predictions"]),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n" + "".join(f"  {name:<{width}}  {value}\n" for name, value in rows)

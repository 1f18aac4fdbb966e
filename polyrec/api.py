"""The verbs as functions, for Python programs and for the command line."""

from __future__ import annotations

from polyrec import runtime

runtime.prepare()

from polyrec.export import export  # noqa: E402 - torch reads the thread settings when it loads
from polyrec.predict import predict, predict_checkpoint  # noqa: E402
from polyrec.train.evaluate import evaluate, evaluate_each  # noqa: E402
from polyrec.train.loop import train  # noqa: E402

__all__ = ["evaluate", "evaluate_each", "export", "predict", "predict_checkpoint", "train"]

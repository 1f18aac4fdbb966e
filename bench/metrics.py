"""Seconds for the exact AUC of 10 million rows; prints one JSON line."""

from __future__ import annotations

import json
import sys
import time

import torch

from polyrec.metrics.auc import AUC

ROWS, BATCH = 10_000_000, 8192


def main() -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(ROWS, generator=generator)
    labels = (torch.rand(ROWS, generator=generator) < scores * 0.06).long()
    meter = AUC().meter()
    start = time.perf_counter()
    for part in zip(scores.split(BATCH), labels.split(BATCH), strict=True):
        meter.update(*part)
    updated = time.perf_counter()
    value = meter.compute()
    done = time.perf_counter()
    size = sum(tensor.numel() * tensor.element_size() for tensor in meter.state())
    line = {
        "bench": "exact_auc",
        "rows": ROWS,
        "update_s": round(updated - start, 3),
        "compute_s": round(done - updated, 3),
        "bytes_per_row": size / ROWS,
        "auc": round(value, 6),
    }
    sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()

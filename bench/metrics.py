"""Seconds for the exact AUC of 10 million rows; prints one JSON line.

python bench/metrics.py [--small] [--rows 10000000]
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import torch

from polyrec.metrics.auc import AUC

BATCH = 8192


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the exact AUC")
    parser.add_argument("--small", action="store_true", help="few rows; checks the script, not speed")
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    rows = 100_000 if options.small else options.rows
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(rows, generator=generator)
    labels = (torch.rand(rows, generator=generator) < scores * 0.06).long()
    meter = AUC().meter()
    start = time.perf_counter()
    for part in zip(scores.split(BATCH), labels.split(BATCH), strict=True):
        meter.update(*part)
    updated = time.perf_counter()
    value = meter.compute()
    done = time.perf_counter()
    size = sum(tensor.numel() * tensor.element_size() for tensor in meter.state())
    line = {
        "bench": "metrics",
        "rows": rows,
        "update_s": round(updated - start, 3),
        "compute_s": round(done - updated, 3),
        "bytes_per_row": size / rows,
        "auc": round(value, 6),
    }
    sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()

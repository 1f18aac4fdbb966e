"""Seconds for the exact metrics of 10 million rows; prints one JSON line.

python bench/metrics.py [--small] [--rows 10000000]
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import torch
from torch import Tensor

from polyrec.metrics.auc import AUC
from polyrec.metrics.grouped_auc import GroupedAUC
from polyrec.metrics.xauc import XAUC

BATCH = 8192
ROWS_OF_GROUP = 20


def measured(name: str, columns: tuple[Tensor, ...]) -> dict[str, float]:
    """One metric of these scores and labels, and groups where it takes them."""
    meter = {"auc": AUC(), "xauc": XAUC(), "grouped_auc": GroupedAUC(group="user")}[name].meter()
    start = time.perf_counter()
    for part in zip(*(column.split(BATCH) for column in columns), strict=True):
        meter.update(*part)
    updated = time.perf_counter()
    value = meter.compute()
    done = time.perf_counter()
    size = sum(tensor.numel() * tensor.element_size() for tensor in meter.state())
    return {
        "update_s": round(updated - start, 3),
        "compute_s": round(done - updated, 3),
        "bytes_per_row": size / len(columns[0]),
        "value": round(value, 6),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the exact metrics")
    parser.add_argument("--small", action="store_true", help="few rows; checks the script, not speed")
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    rows = 100_000 if options.small else options.rows
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(rows, generator=generator)
    labels = (torch.rand(rows, generator=generator) < scores * 0.06).long()
    groups = torch.randint(2**62, (rows // ROWS_OF_GROUP,), generator=generator)
    groups = groups[torch.randint(len(groups), (rows,), generator=generator)]
    found = {
        name: measured(name, (scores, labels, *more))
        for name, more in (("auc", ()), ("grouped_auc", (groups,)), ("xauc", ()))
    }
    sys.stdout.write(json.dumps({"bench": "metrics", "rows": rows, **found}) + "\n")


if __name__ == "__main__":
    main()

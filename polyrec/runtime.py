"""The process this runs in: rank, world, cores, seeds. The only reader of the environment. Imports no torch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class World:
    """The processes of a run, as a launcher such as torchrun describes them."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1
    restarts: int = 0
    """Times that the launcher has started the job again."""
    timeout_seconds: float = 600.0
    """How long one process waits for the others before it gives up."""

    @property
    def is_first(self) -> bool:
        return self.rank == 0


def world(environment: Mapping[str, str] = os.environ) -> World:
    """What the launcher has set; a single process when it has set nothing."""
    size = int(environment.get("WORLD_SIZE", "1"))
    return World(
        rank=int(environment.get("RANK", "0")),
        size=size,
        local_rank=int(environment.get("LOCAL_RANK", "0")),
        local_size=int(environment.get("LOCAL_WORLD_SIZE", str(size))),
        restarts=int(environment.get("TORCHELASTIC_RESTART_COUNT", "0")),
        timeout_seconds=float(environment.get("PROCESS_GROUP_TIMEOUT_SECONDS", "600")),
    )


def usable_cores() -> int:
    """Cores this process may run on: its affinity, cut by the container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
    except (OSError, ValueError):
        return cores
    return cores if quota == "max" else max(1, min(cores, int(quota) // int(period)))


def prepare(environment: dict[str, str] | os._Environ[str] = os.environ) -> None:
    """Settings that torch, FBGEMM and Arrow read when they load, so call this before any of them is imported.

    Waiting threads must sleep: spinning ones take the cores from those they wait for as soon as anything else runs.
    Arrow's own allocator keeps what it frees, so it would hold several row groups where one is in use.
    """
    local_size = int(environment.get("LOCAL_WORLD_SIZE", "1"))
    environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    environment.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    environment.setdefault("OMP_NUM_THREADS", str(max(1, usable_cores() // local_size)))
    # The dynamic rendezvous of torchrun otherwise hands stale addresses to a restarted gloo group.
    environment.setdefault("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1")


SWITCHES = ("USE_FARM_HASH_TO_BUCKETIZE",)
"""Variables that upstreams read and that change what a config means."""


def switches(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Those that are set, for the front doors that know them."""
    return {name: environment[name] for name in SWITCHES if environment.get(name)}


def seed(environment: Mapping[str, str] = os.environ) -> int | None:
    """A seed from the environment, which wins over the config's."""
    text = environment.get("TORCH_MANUAL_SEED")
    return int(text) if text else None


def object_store_endpoint(environment: Mapping[str, str] = os.environ) -> str | None:
    """Address of an S3 store other than Amazon's, by the variables that its own tools read."""
    return environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL") or None


def object_store_region(environment: Mapping[str, str] = os.environ) -> str | None:
    return environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or None


def cache_folder(environment: Mapping[str, str] = os.environ) -> str | None:
    """Where copies of folders from stores lie while they are in use; None for the place of temporary files."""
    return environment.get("POLYREC_CACHE_DIR") or None


def maxcompute_settings(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What the environment says of MaxCompute: its address, who reads, how long new tables live."""
    return {name: value for name, value in environment.items() if name.startswith(("ODPS_", "ALIBABA_CLOUD_"))}

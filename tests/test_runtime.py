from __future__ import annotations

import subprocess
import sys

from polyrec import runtime


def test_without_a_launcher_there_is_one_process() -> None:
    assert runtime.world({}) == runtime.World(rank=0, size=1, local_rank=0, local_size=1)


def test_a_launcher_says_who_we_are() -> None:
    given = {
        "RANK": "3",
        "WORLD_SIZE": "4",
        "LOCAL_RANK": "1",
        "LOCAL_WORLD_SIZE": "2",
        "TORCHELASTIC_RESTART_COUNT": "5",
    }
    found = runtime.world(given)
    assert (found.rank, found.size, found.local_rank, found.local_size, found.restarts) == (3, 4, 1, 2, 5)
    assert not found.is_first


def test_what_the_user_has_set_stays() -> None:
    environment = {"OMP_NUM_THREADS": "7", "ARROW_DEFAULT_MEMORY_POOL": "mimalloc"}
    runtime.prepare(environment)
    assert environment["OMP_NUM_THREADS"] == "7"
    assert environment["ARROW_DEFAULT_MEMORY_POOL"] == "mimalloc"
    assert environment["OMP_WAIT_POLICY"] == "PASSIVE"


def test_processes_of_one_machine_share_its_cores() -> None:
    environment = {"LOCAL_WORLD_SIZE": "1000"}
    runtime.prepare(environment)
    assert environment["OMP_NUM_THREADS"] == "1"


def test_settings_come_before_the_libraries_that_read_them() -> None:
    program = """
import os
for name in ("ARROW_DEFAULT_MEMORY_POOL", "OMP_WAIT_POLICY"):
    os.environ.pop(name, None)
from polyrec import api
import pyarrow
print(pyarrow.default_memory_pool().backend_name, os.environ["OMP_WAIT_POLICY"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["system", "PASSIVE"]


def test_only_the_switches_that_are_set_are_handed_on() -> None:
    assert runtime.switches({"USE_FARM_HASH_TO_BUCKETIZE": "true", "HOME": "/"}) == {
        "USE_FARM_HASH_TO_BUCKETIZE": "true"
    }
    assert runtime.switches({"USE_FARM_HASH_TO_BUCKETIZE": ""}) == {}

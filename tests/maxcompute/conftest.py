from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_maxcompute import KEY, SECRET, FakeMaxCompute

from polyrec import maxcompute, runtime
from polyrec.maxcompute import sessions


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMaxCompute]:
    """A MaxCompute without tables, and the variables that lead to it."""
    for name in runtime.maxcompute_settings():
        monkeypatch.delenv(name)
    fake = FakeMaxCompute()
    fake.start()
    monkeypatch.setenv("ODPS_ENDPOINT", fake.endpoint)
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", SECRET)
    monkeypatch.setattr(sessions, "WAIT_SECONDS", 0.01)
    monkeypatch.setattr(sessions, "_open", {})
    maxcompute._opened.cache_clear()
    yield fake
    fake.stop()

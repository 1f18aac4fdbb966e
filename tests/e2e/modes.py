"""How much is tested: everything with POLYREC_E2E=full (`make e2e`), else what fits into every run of the tests."""

from __future__ import annotations

import os

import pytest

FULL = os.environ.get("POLYREC_E2E") == "full"

full_only = pytest.mark.skipif(not FULL, reason="takes minutes; make e2e runs it")

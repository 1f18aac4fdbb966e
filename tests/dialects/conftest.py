from __future__ import annotations

import pytest
from own_form import RUN


@pytest.fixture
def run_text() -> str:
    return RUN

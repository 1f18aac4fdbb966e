PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Test processes at a time; each needs up to 2 GB and a core.
TESTERS ?= 2

.PHONY: demo test check bench e2e setup clean

# Thread settings of every command below: one thread per test process, waiting threads sleep.
export OMP_WAIT_POLICY := PASSIVE

demo: $(READY)
	$(BIN)/polyrec demo run --folder demo

test: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(TESTERS) --dist loadfile

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/test_layers.py tests/test_sizes.py

bench: $(READY)
	for file in bench/*.py; do $(BIN)/python $$file || exit 1; done

e2e: $(READY)
	POLYREC_E2E=full OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/e2e

setup: $(READY)

# The set-up is done again when what it installs from has changed.
$(READY): pyproject.toml setup.py packaging/fbgemm-gpu-cpu-shim/pyproject.toml aliases/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "polyrec needs Python 3.11 or later")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -e ./aliases
	touch $@

clean:
	rm -rf $(VENV) demo .pytest_cache .ruff_cache

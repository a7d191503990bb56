# Everything builds its own environment in .venv from pyproject.toml; nothing else need be installed.
PYTHON ?= python3
BIN := .venv/bin
CORES := $(shell nproc 2>/dev/null || echo 2)

.PHONY: demo test test-fast lint bench verify docs pictures clean

demo: .venv/ready
	@mkdir -p demo-output
	$(BIN)/dalembert derive rolling-disk
	$(BIN)/dalembert run rolling-disk --plot demo-output/rolling-disk.png --save demo-output/rolling-disk.nc

test: .venv/ready lint
	$(BIN)/python -m pytest -n $(CORES)

test-fast: .venv/ready
	$(BIN)/python -m pytest -n $(CORES) -m "not slow"

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check heyoka || echo "without heyoka: its columns stay empty"
	$(BIN)/python benchmarks/run.py

verify: .venv/ready
	$(BIN)/python docs/make_verification.py
	$(BIN)/python docs/make_nonholonomic.py

docs: .venv/ready
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_textbook.py
	$(BIN)/python docs/make_tutorials.py
	$(BIN)/python docs/make_thermomechanics.py
	$(BIN)/python docs/make_choosing.py

pictures: .venv/ready
	$(BIN)/python docs/make_pictures.py

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

clean:
	rm -rf .venv demo-output .mypy_cache .ruff_cache .hypothesis build dist

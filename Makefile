# Everything builds its own environment in .venv from pyproject.toml; nothing else need be installed.
PYTHON ?= python3
BIN := .venv/bin
CORES := $(shell nproc 2>/dev/null || echo 2)

# Tests start Python many times; modules that are not kept compiled would be compiled each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-fast lint bench verify docs site pictures clean

demo: .venv/ready
	@mkdir -p demo-output
	$(BIN)/dalembert derive rolling-disk
	$(BIN)/dalembert run rolling-disk --plot demo-output/rolling-disk.png --save demo-output/rolling-disk.nc
	$(BIN)/dalembert run double-pendulum --method gauss --beside rungekutta4 --h 0.03 --until 60 --report demo-output/double-pendulum.html

test: .venv/ready lint
	$(BIN)/python -m pytest -n $(CORES) -m "not verify"

test-fast: .venv/ready
	$(BIN)/python -m pytest -n $(CORES) -m "not slow"

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]" || echo "without peers that could not be installed"
	$(BIN)/python benchmarks/run.py

verify: .venv/ready
	$(BIN)/python -m pytest -n $(CORES) -m verify
	$(BIN)/python docs/make_verification.py
	$(BIN)/python docs/make_nonholonomic.py
	$(BIN)/python docs/make_long_rotations.py
	$(BIN)/python docs/make_inverse.py

docs: .venv/ready
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_textbook.py
	$(BIN)/python docs/make_tutorials.py
	$(BIN)/python docs/make_notebooks.py
	$(BIN)/python docs/make_thermomechanics.py
	$(BIN)/python docs/make_choosing.py

# The first time the gallery takes about twenty minutes; afterwards only what has changed is made again.
site: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[site]"
	$(BIN)/python docs/make_site.py

pictures: .venv/ready
	$(BIN)/python docs/make_pictures.py

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

clean:
	rm -rf .venv demo-output .mypy_cache .ruff_cache .hypothesis build dist

# On a fresh machine with Python >= 3.11 and a C++ compiler:
#   make demo   sets up, runs the main jobs on built-in data, says where the report is
#   make test   sets up, runs all tests
PYTHON ?= python3
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin

# The package is built anew when the kernel changes and when a file comes or goes.
FOLDERS := $(shell find src -type d -not -name __pycache__)
KERNEL := CMakeLists.txt $(wildcard src/assay/kernel/*.?pp)

.PHONY: demo test check bench clean
demo: $(VENV)/demo.stamp
	$(BIN)/assay demo

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -q -n auto --dist worksteal

check: $(VENV)/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/test.stamp
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/muler.py
	$(BIN)/python benchmarks/suite.py
	$(BIN)/python benchmarks/suite_store.py
	$(BIN)/python benchmarks/meta.py
	$(BIN)/python benchmarks/explain.py

clean:
	rm -rf $(VENV) build assay-demo

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "assay needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/demo.stamp: $(VENV)/bin/python pyproject.toml $(KERNEL) $(FOLDERS)
	$(BIN)/python -m pip install --quiet -e '.[report]'
	touch $@

# PyTorch comes first and pinned: left to itself, pip may bring gigabytes for graphics cards.
$(VENV)/test.stamp: $(VENV)/bin/python pyproject.toml $(KERNEL) $(FOLDERS)
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet -e '.[test]'
	touch $@ $(VENV)/demo.stamp

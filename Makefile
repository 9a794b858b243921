# On a fresh machine with Python >= 3.11 and a C++ compiler:
#   make demo   sets up, runs the main jobs on built-in data, says where the report is
#   make test   sets up, runs all tests
#   make quick  sets up without models, runs the tests that take under a minute
#   make wheel  builds a wheel, installs it into an empty environment and tries it
#   make coverage  says which lines of Python and C++ the tests run
PYTHON ?= python3
VENV ?= .venv
# PyTorch, and the index to try first: its own, with builds that need no graphics card.
TORCH ?= torch==2.13.0
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
BIN := $(VENV)/bin

# Byte code of what is imported is kept, whatever the environment says: hundreds of processes of the
# tests import the same.
export PYTHONDONTWRITEBYTECODE :=

# The package is built anew when the kernel changes and when a file comes or goes.
FOLDERS := $(shell find src -type d -not -name __pycache__)
KERNEL := CMakeLists.txt $(wildcard src/assay/kernel/*.?pp)

# What `make coverage` runs; for a part: make coverage TESTS=tests/io
TESTS ?=

.PHONY: demo test quick check coverage coverage-kernel wheel bench mutation clean
demo: $(VENV)/demo.stamp
	$(BIN)/assay demo

# There is a test process for each core: with more threads each, products of matrices wait for one
# another.
test quick: export OPENBLAS_NUM_THREADS ?= 1
test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -q -n auto --dist worksteal

# For the loop while coding: what needs neither models, taggers, servers nor a browser, without the
# files that take long.
quick: $(VENV)/quick.stamp
	$(BIN)/python -m pytest -q -n auto --dist worksteal @.ci/quick.txt

check: $(VENV)/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

coverage: $(VENV)/test.stamp coverage-kernel
	$(BIN)/python -m pytest -q -n auto --dist worksteal --cov --cov-report=term:skip-covered \
	    --cov-report=html:build/coverage/python $(TESTS)

# The C++ code: built once more, with counters, and run by the tests that are about it. On macOS:
# GCOV="xcrun llvm-cov gcov".
GCOV ?= gcov
GCOVR ?= $(BIN)/python -m gcovr
KERNEL_TESTS ?= tests/kernel tests/contract tests/metrics --ignore=tests/metrics/neural \
    --ignore=tests/metrics/tagged
COUNTED := build/coverage/kernel
coverage-kernel: $(VENV)/test.stamp
	rm -rf $(COUNTED)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(COUNTED)/wheel . \
	    -C build-dir=$(COUNTED) -C cmake.build-type=Debug \
	    -C cmake.define.CMAKE_CXX_FLAGS="--coverage -fprofile-update=atomic"
	PYTHONPATH=.ci $(BIN)/python -m pytest -q -p counted_kernel -n auto --dist worksteal $(KERNEL_TESTS)
	mkdir -p build/coverage/cpp
	$(GCOVR) --gcov-executable "$(GCOV)" --gcov-ignore-errors source_not_found --root . \
	    --filter src/assay/kernel/ --object-directory $(COUNTED) --exclude-throw-branches --merge-lines \
	    --txt - --html-details build/coverage/cpp/index.html $(COUNTED)/CMakeFiles/_native.dir

# A wheel, installed without a compiler into an empty environment and used there.
wheel: $(VENV)/bin/python
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python .ci/smoke.py dist/*.whl

bench: $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet -e '.[bench]'
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/muler.py
	$(BIN)/python benchmarks/suite.py
	$(BIN)/python benchmarks/suite_store.py
	$(BIN)/python benchmarks/meta.py
	$(BIN)/python benchmarks/explain.py
	$(BIN)/python benchmarks/shards.py

# Do the tests notice small errors put into the code? Takes long; make mutation ARGS="statistics --count 12"
mutation: $(VENV)/test.stamp
	$(BIN)/python benchmarks/mutation.py $(ARGS)

clean:
	rm -rf $(VENV) .venv-* build dist assay-demo

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "assay needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/demo.stamp: $(VENV)/bin/python pyproject.toml $(KERNEL) $(FOLDERS)
	$(BIN)/python -m pip install --quiet -e '.[report]'
	touch $@

$(VENV)/quick.stamp: $(VENV)/bin/python pyproject.toml $(KERNEL) $(FOLDERS)
	$(BIN)/python -m pip install --quiet -e '.[quick]'
	touch $@ $(VENV)/demo.stamp

# PyTorch comes first and pinned: left to itself, pip may bring gigabytes for graphics cards.
# What PyTorch needs comes with the rest, so that an index that does not answer is asked only once.
$(VENV)/test.stamp: $(VENV)/bin/python pyproject.toml $(KERNEL) $(FOLDERS)
	@echo "$(TORCH), from $(TORCH_INDEX) if it can be had there"
	@$(BIN)/python -m pip install --quiet --no-deps --timeout 5 --retries 0 \
	    --index-url $(TORCH_INDEX) $(TORCH) 2>/dev/null || \
	    $(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet -e '.[test]'
	$(BIN)/python -m compileall -q src  # the folders of byte code are older than the stamp
	touch $@ $(VENV)/quick.stamp $(VENV)/demo.stamp

# Every target sets itself up on a machine that has only Python (3.11 or newer) and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.epro-installed
LOCK := requirements-dev.lock
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup test demo lint types docs format lock clean

help:  ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 16

setup: $(STAMP)  ## the virtual environment, from the lock file

# uv installs the lock file in seconds; where it cannot be had, pip does the same in minutes.
$(STAMP): $(LOCK) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("epro needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@awk '/^uv==/ {on = 1} on {print} on && !/\\$$/ {exit}' $(LOCK) > $(VENV)/uv-requirements.txt
	@if $(BIN)/python -m pip install --quiet --require-hashes -r $(VENV)/uv-requirements.txt \
	    && $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r $(LOCK); \
	then :; else echo "uv did not work here; installing with pip"; \
	    $(BIN)/python -m pip install --quiet --require-hashes -r $(LOCK); fi
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

test: $(STAMP)  ## tests and the examples of the docstrings
	$(BIN)/python -m pytest -n $(JOBS)

demo: $(STAMP)  ## one small problem of each kind, solved by every method
	$(BIN)/python -m epro demo

lint: $(STAMP)  ## ruff, formatting included
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP)  ## let ruff repair what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)  ## pyright
	$(BIN)/pyright

docs: $(STAMP)  ## the documentation with its examples executed; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python -m pytest -q README.md CONTRIBUTING.md docs

lock: $(STAMP)  ## resolve the dependencies again; the lock file names no index
	$(BIN)/uv pip compile pyproject.toml --group dev --all-extras --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet --output-file $(LOCK)

clean:  ## remove everything that make has made
	rm -rf $(VENV) build dist out docs/_build docs/auto_examples docs/api/generated docs/sg_execution_times.rst
	rm -rf .pytest_cache .ruff_cache .hypothesis
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +

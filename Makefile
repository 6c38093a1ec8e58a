# What there is to do.  `make run` and `make test` need nothing but Python 3.11 or later.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
APP_LOCKS := compose/locks/app.lock compose/locks/encoder.lock
DEV_LOCK := compose/locks/dev.lock

.PHONY: run setup setup-dev test test-box lint types contracts check bench lock clean help

help:            ## list the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

run: setup       ## bring the whole box up: http://127.0.0.1:8080
	@exec $(BIN)/permitbox up

setup: $(STAMP)  ## make the app's environment in .venv

# --no-deps: the lock is complete, and one package declares gigabytes that are not needed
# (see compose/locks/encoder.lock).
$(STAMP): $(APP_LOCKS) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "PermitBox needs Python 3.11 or later; this is $$($(PYTHON) -V). Run: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "Installing the app's environment …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes $(APP_LOCKS:%=-r %)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

setup-dev: $(DEV_STAMP)

$(DEV_STAMP): $(STAMP) $(DEV_LOCK)
	@echo "Installing the tools of the tests …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $(DEV_LOCK)
	@touch $@

test: setup-dev  ## everything but what needs the model server
	@$(BIN)/python -m pytest

test-box: setup-dev  ## the tests that start the real model server
	@$(BIN)/python -m pytest -m box

lint: setup-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup-dev
	@$(BIN)/mypy

contracts: setup-dev
	@$(BIN)/lint-imports

check: lint types contracts test  ## all that a change must pass

bench: setup     ## how fast is the encoder on this machine
	@$(BIN)/permitbox bench encoder

UV := uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11
lock:            ## renew the locks (needs uv)
	@$(UV) pyproject.toml compose/locks/app.in -o compose/locks/app.lock
	@$(UV) compose/locks/dev.in -c compose/locks/app.lock -o $(DEV_LOCK)

clean:           ## remove the environment, not your data
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache

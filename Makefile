# What there is to do.  `make run` and `make test` need nothing but Python 3.11 or later.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
APP_LOCKS := compose/locks/app.lock compose/locks/encoder.lock
DEV_LOCK := compose/locks/dev.lock
WORKER := .venv-worker
WORKER_STAMP := $(WORKER)/.installed
WORKER_LOCKS := compose/locks/worker.lock compose/locks/worker-torch-cpu.lock compose/locks/encoder.lock

.PHONY: run setup setup-dev setup-worker test test-box test-worker lint types contracts check bench lock clean help

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

setup-worker: $(WORKER_STAMP)  ## make the environment of the box-class encoders in .venv-worker (2 GB)

# PyPI's torch for Linux is the CUDA build: where pip knows no other place, PyTorch's own index is asked.
WORKER_PIP = $(WORKER)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
	--require-hashes $(WORKER_LOCKS:%=-r %)
$(WORKER_STAMP): $(WORKER_LOCKS)
	@$(PYTHON) -m venv $(WORKER)
	@echo "Installing the environment of the box-class encoders …"
	@$(WORKER_PIP) || $(WORKER_PIP) --extra-index-url https://download.pytorch.org/whl/cpu
	@touch $@

test-worker: setup-worker  ## the tests of the box-class encoders, in their environment
	@$(WORKER)/bin/python -m pytest tests/worker --confcutdir=tests/worker

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
# torch and what only its CUDA build draws in: see compose/locks/worker-torch-cpu.lock.
CUDA := torch triton cuda-bindings cuda-pathfinder cuda-toolkit $(patsubst %,nvidia-%,cublas cuda-cupti \
	cuda-nvrtc cuda-runtime cudnn-cu13 cufft cufile curand cusolver cusparse cusparselt-cu13 nccl-cu13 \
	nvjitlink nvshmem-cu13 nvtx)
lock:            ## renew the locks (needs uv)
	@$(UV) pyproject.toml compose/locks/app.in -o compose/locks/app.lock
	@$(UV) compose/locks/dev.in -c compose/locks/app.lock -o $(DEV_LOCK)
	@$(UV) compose/locks/worker.in -o compose/locks/worker.lock $(CUDA:%=--no-emit-package %)

clean:           ## remove the environment, not your data
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache

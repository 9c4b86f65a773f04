# Two commands for a fresh machine: `make demo` and `make test`. Both may be run again at any time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := pyproject.toml CMakeLists.txt $(wildcard core/*/* bindings/*)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: demo test lint sanitize format clean

demo: $(VENV)/.base
	@$(BIN)/python -m ramify.cli.demo

test: $(VENV)/.dev
	@$(BIN)/python -m pytest --quiet -n auto

lint: $(VENV)/.dev
	@PATH="$(abspath $(BIN)):$$PATH" tools/lint

# The engine's tests against a build with AddressSanitizer and UndefinedBehaviorSanitizer.
sanitize: $(VENV)/.dev
	@tools/sanitize $(abspath $(BIN))/python

format: $(VENV)/.dev
	@$(BIN)/ruff check --quiet --fix . && $(BIN)/ruff format --quiet .
	@$(BIN)/clang-format -i core/*/* bindings/*

$(VENV)/.venv:
	@tools/check-prerequisites $(PYTHON)
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# Editable: Python changes need no new install; a change of the native code rebuilds it.
$(VENV)/.base: $(VENV)/.venv $(NATIVE)
	@echo "ramify: building the native core and installing into $(VENV) (a minute or two)"
	@$(PIP) install --editable '.[cli]'
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@$(PIP) install --editable ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) build dist

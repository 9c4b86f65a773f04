# On a new machine, start with `make demo` or `make test`. Both can be run repeatedly.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := pyproject.toml CMakeLists.txt $(wildcard core/*/* bindings/*)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: demo test test-oldest coverage docs bench bench-compare lint sanitize sanitize-threads fuzz fuzz-sanitized fuzz-coverage format clean

demo: $(VENV)/.base
	@$(BIN)/ramify demo

test: $(VENV)/.dev
	@$(BIN)/python -m pytest --quiet -n auto

# Run the tests with the oldest supported versions of all dependencies.
OLDEST_PYTHON ?= python3.10
OLDEST := .venv-oldest

test-oldest:
	@test -d $(OLDEST) || $(OLDEST_PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip --quiet --disable-pip-version-check install \
	    --constraint constraints/oldest.txt --editable '.[test]'
	@$(OLDEST)/bin/python -m pytest --quiet -n auto $(TESTS)

# Run the tests and print which lines and branches of src and which lines of core they reach. In one
# process: the workers of pytest-xdist end without writing the counts of core.
COVERAGE := .venv-coverage

coverage:
	@test -d $(COVERAGE) || $(PYTHON) -m venv $(COVERAGE)
	@CXXFLAGS='--coverage -fprofile-update=atomic' $(COVERAGE)/bin/python -m pip --quiet \
	    --disable-pip-version-check install --config-settings=build-dir=build/coverage \
	    --editable '.[test]' gcovr pytest-cov
	@$(COVERAGE)/bin/python -m pytest --quiet -n 0 --cov --cov-report=term:skip-covered $(TESTS)
	@$(COVERAGE)/bin/gcovr --root . --filter core/ --merge-lines --sort uncovered-number \
	    --gcov-suspicious-hits-threshold 0 build/coverage/CMakeFiles/ramify_core.dir

# Build the site into build/docs; warnings are errors. Then check its links and run all blocks.
docs: $(VENV)/.docs
	@$(BIN)/python -m sphinx --builder html --quiet --fail-on-warning --keep-going \
	    --doctree-dir build/doctrees docs build/docs
	@$(BIN)/python tools/check_site build/docs
	@$(BIN)/python -m pytest --quiet docs README.md tests/test_docs.py tests/cli/test_cli_docs.py \
	    tests/cli/test_cli_gene_ontology.py

# Compare ramify with all peers that are installed: a table, a CSV file and a plot in docs/benchmarks.
# make bench QUICK=1 has small data and writes to build/benchmarks/quick.
bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.suite $(if $(QUICK),--quick) $(BENCH)

# Compare a revision with the working tree, in turns: make bench-compare REV=main
REV ?= HEAD

bench-compare: $(VENV)/.dev
	@$(BIN)/python benchmarks/base_and_head.py --revision $(REV) $(BENCH)

lint: $(VENV)/.dev
	@PATH="$(abspath $(BIN)):$$PATH" tools/lint

# Run the native tests with AddressSanitizer and UndefinedBehaviorSanitizer.
sanitize: $(VENV)/.dev
	@tools/sanitize address $(abspath $(BIN))/python

# Run the tests of code with threads with ThreadSanitizer.
sanitize-threads: $(VENV)/.dev
	@tools/sanitize thread $(abspath $(BIN))/python

# Changed model files, damaged data files and unusual input with the sanitizers of `sanitize`.
fuzz-sanitized: $(VENV)/.dev
	@for fuzzer in fuzz_model_fields fuzz_readers fuzz_inputs; do \
	    tools/sanitize address $(abspath $(BIN))/python -m tests.robustness.$$fuzzer \
	        --n $(FUZZ_FILES) --seed $(FUZZ_SEED) || exit 1; done

# Run the long form of tests/robustness: make fuzz FUZZ_FILES=100000 FUZZ_KILLS=100 FUZZ_SEED=1
FUZZ_FILES ?= 10000
FUZZ_KILLS ?= 20
FUZZ_INTERRUPTS ?= 200
FUZZ_SEED ?= 0

fuzz: $(VENV)/.dev
	@$(BIN)/python -m tests.robustness.fuzz_model_files --n $(FUZZ_FILES) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.fuzz_model_fields --n $(FUZZ_FILES) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.fuzz_wrapped --n $(FUZZ_FILES) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.fuzz_readers --n $(FUZZ_FILES) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.fuzz_inputs --n $(FUZZ_FILES) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.kill_studies --kills $(FUZZ_KILLS) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.interrupt_estimators --n $(FUZZ_INTERRUPTS) --seed $(FUZZ_SEED)

# Fuzzers guided by coverage; requires clang and atheris.
FUZZ_SECONDS ?= 600

fuzz-coverage: $(VENV)/.dev
	@tools/fuzz_coverage $(abspath $(BIN))/python $(FUZZ_SECONDS)

format: $(VENV)/.dev
	@$(BIN)/ruff check --quiet --fix . && $(BIN)/ruff format --quiet .
	@$(BIN)/clang-format -i core/*/* bindings/*

$(VENV)/.venv:
	@tools/check-prerequisites $(PYTHON)
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# An editable install: only changes to the native code trigger a rebuild.
$(VENV)/.base: $(VENV)/.venv $(NATIVE)
	@echo "ramify: building the native core and installing into $(VENV) (a minute or two)"
	@$(PIP) install --editable '.[cli]'
	@touch $@

$(VENV)/.dev: $(VENV)/.venv $(NATIVE)
	@echo "ramify: building the native core and installing into $(VENV) (a few minutes)"
	@$(PIP) install --editable ".[dev]"
	@touch $(VENV)/.base $@

$(VENV)/.docs: $(VENV)/.venv $(NATIVE)
	@echo "ramify: building the native core and installing into $(VENV) (a few minutes)"
	@$(PIP) install --editable ".[docs,test]"
	@touch $(VENV)/.base $@

clean:
	rm -rf $(VENV) $(OLDEST) $(COVERAGE) build dist

# On a new machine, start with `make demo` or `make test`. Both can be run repeatedly.
PYTHON ?= python3
VENV := .venv
COMMA := ,
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest --quiet

# tools/install leaves it to the first import to compile a module of Python, which must keep the result.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-process test-all answers test-oldest coverage docs bench bench-compare lint sanitize sanitize-threads fuzz fuzz-sanitized fuzz-coverage format clean
.NOTPARALLEL:

demo: $(VENV)/.installed-cli,tables build/native/.built
	@echo "ramify: comparing models on the bundled animals (usually 10 seconds)"
	@$(BIN)/ramify demo

# What a change needs: all tests but those that start processes.
test: $(VENV)/.installed-test build/native/.built
	@echo "ramify: running the quick tests (usually 4 minutes on two cores)"
	@$(PYTEST) -n auto $(TESTS)

# Tests that start processes and clusters, kill them and wait for them.
test-process: $(VENV)/.installed-test build/native/.built
	@echo "ramify: running the tests that start processes (usually 5 minutes on two cores)"
	@$(PYTEST) -n auto -m process $(TESTS)

test-all: $(VENV)/.installed-test build/native/.built
	@echo "ramify: running all tests (usually 10 minutes on two cores)"
	@$(PYTEST) -n auto -m "" $(if $(PROFILE),--hypothesis-profile=$(PROFILE)) $(TESTS)

# Compare what every estimator answers with tests/golden/answers.json, before and after a change that
# must not change any answer: make answers, or make answers WRITE=1 to replace the table.
answers: $(VENV)/.installed-test build/native/.built
	@echo "ramify: comparing the answers of all estimators (usually 20 seconds)"
	@$(BIN)/python -m tests.support.answers $(if $(WRITE),--write)

# Run the tests with the oldest supported versions of all dependencies.
OLDEST_PYTHON ?= python3.10
OLDEST := .venv-oldest

test-oldest:
	@echo "ramify: installing the oldest dependencies and compiling (usually 5 minutes), then all tests"
	@test -d $(OLDEST) || $(OLDEST_PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip --quiet --disable-pip-version-check install \
	    --constraint constraints/oldest.txt --editable '.[test]'
	@$(OLDEST)/bin/python -m pytest --quiet -n auto -m "" $(TESTS)

# Run the tests and print which lines and branches of src and which lines of core they reach. In one
# process: the workers of pytest-xdist end without writing the counts of core.
COVERAGE := .venv-coverage

coverage:
	@echo "ramify: compiling with counters and running all tests (usually half an hour)"
	@test -d $(COVERAGE) || $(PYTHON) -m venv $(COVERAGE)
	@CXXFLAGS='--coverage -fprofile-update=atomic' $(COVERAGE)/bin/python -m pip --quiet \
	    --disable-pip-version-check install --config-settings=build-dir=build/coverage \
	    --editable '.[test]' gcovr pytest-cov
	@$(COVERAGE)/bin/python -m pytest --quiet -n 0 -m "" --cov --cov-report=term:skip-covered $(TESTS)
	@$(COVERAGE)/bin/gcovr --root . --filter core/ --merge-lines --sort uncovered-number \
	    --gcov-suspicious-hits-threshold 0 build/coverage/CMakeFiles/ramify_core.dir

# Build the site into build/docs; warnings are errors. Then check its links and run all blocks.
docs: $(VENV)/.installed-docs $(VENV)/.installed-test build/native/.built
	@echo "ramify: building the site, with a gallery whose examples run (usually 5 minutes)"
	@$(BIN)/python -m sphinx --builder html --quiet --fail-on-warning --keep-going \
	    --doctree-dir build/doctrees docs build/docs
	@$(BIN)/python tools/check_site build/docs
	@$(BIN)/python -m pytest --quiet docs README.md tests/test_docs.py tests/cli/test_cli_docs.py \
	    tests/cli/test_cli_gene_ontology.py

# Compare ramify with all peers that are installed: a table, a CSV file and a plot in docs/benchmarks.
# make bench QUICK=1 has small data and writes to build/benchmarks/quick.
bench: $(VENV)/.installed-test $(VENV)/.installed-benchmark build/native/.built
	@$(BIN)/python -m benchmarks.suite $(if $(QUICK),--quick) $(BENCH)

# Compare a revision with the working tree, in turns: make bench-compare REV=main
REV ?= HEAD

bench-compare: $(VENV)/.installed-test build/native/.built
	@$(BIN)/python benchmarks/base_and_head.py --revision $(REV) $(BENCH)

# mypy reads the types of the optional dependencies.
lint: $(VENV)/.installed-test $(VENV)/.installed-lint build/native/.built
	@echo "ramify: checking style, types and imports (usually a minute)"
	@PATH="$(abspath $(BIN)):$$PATH" tools/lint

# Run the native tests with AddressSanitizer and UndefinedBehaviorSanitizer, on the same few examples of
# hypothesis each time; PROFILE=random tries as many as the quick tests, new ones in every run.
sanitize: $(VENV)/.installed-test
	@tools/sanitize address $(abspath $(BIN))/python $(if $(PROFILE),--hypothesis-profile=$(PROFILE))

# Run the tests of code with threads with ThreadSanitizer.
sanitize-threads: $(VENV)/.installed-test
	@tools/sanitize thread $(abspath $(BIN))/python $(if $(PROFILE),--hypothesis-profile=$(PROFILE))

# Changed model files, damaged data files and unusual input with the sanitizers of `sanitize`.
fuzz-sanitized: $(VENV)/.installed-test
	@for fuzzer in fuzz_model_fields fuzz_wrapped fuzz_readers fuzz_inputs; do \
	    tools/sanitize address $(abspath $(BIN))/python -m tests.robustness.$$fuzzer \
	        --n $(FUZZ_FILES) --seed $(FUZZ_SEED) || exit 1; done

# Run the long form of tests/robustness: make fuzz FUZZ_FILES=100000 FUZZ_KILLS=100 FUZZ_SEED=1
FUZZ_FILES ?= 10000
FUZZ_KILLS ?= 20
FUZZ_INTERRUPTS ?= 200
FUZZ_SEED ?= 0

fuzz: $(VENV)/.installed-test build/native/.built
	@$(BIN)/python -m tests.robustness.fuzz_model_files --n $(FUZZ_FILES) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.fuzz_model_fields --n $(FUZZ_FILES) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.fuzz_wrapped --n $(FUZZ_FILES) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.fuzz_readers --n $(FUZZ_FILES) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.fuzz_inputs --n $(FUZZ_FILES) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.kill_studies --kills $(FUZZ_KILLS) --seed $(FUZZ_SEED)
	@$(BIN)/python -m tests.robustness.interrupt_estimators --n $(FUZZ_INTERRUPTS) --seed $(FUZZ_SEED)

# Fuzzers guided by coverage; requires clang and atheris.
FUZZ_SECONDS ?= 600

fuzz-coverage: $(VENV)/.installed-test build/native/.built
	@tools/fuzz_coverage $(abspath $(BIN))/python $(FUZZ_SECONDS)

format: $(VENV)/.installed-lint
	@$(BIN)/ruff check --quiet --fix . && $(BIN)/ruff format --quiet .
	@$(BIN)/clang-format -i core/*/* bindings/*

$(VENV)/.created:
	@tools/check-prerequisites $(PYTHON)
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# The dependencies of an extra, which change with pyproject.toml only. The package is used from src.
$(VENV)/.installed-%: pyproject.toml | $(VENV)/.created
	@tools/install $(abspath $(BIN))/python $*
	@touch $@ $(if $(filter docs test,$*),$(VENV)/.installed-cli$(COMMA)tables)

# Any of these installs what the build needs; folders are newer after a file was added or removed.
build/native/.built: $(shell find CMakeLists.txt core bindings -not -name '.*') | $(VENV)/.created
	@tools/build $(abspath $(BIN))/python
	@touch $@

clean:
	rm -rf $(VENV) $(OLDEST) $(COVERAGE) build dist src/ramify/_core*

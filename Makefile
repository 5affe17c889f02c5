# Everything a newcomer needs. `make demo` on a bare Debian or Ubuntu machine does the whole way.

VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= out/demo
WORKERS ?= 2
SECONDS_EACH ?= 600

.DEFAULT_GOAL := help
# Builds and tests start thousands of Python processes: what they import is compiled once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help docs setup setup-dev demo demo-train test test-changed test-full attack fuzz fresh lowest lint tidy compile-commands bench lock clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: ## Install system packages, the virtual environment and the HIP headers
	@VENV=$(VENV) scripts/setup.sh

setup-dev: ## Install what tests and checks need as well
	@VENV=$(VENV) scripts/setup.sh --dev

demo: setup ## Build a data set of aligned pairs from the shipped programs
	$(BIN)/cass build-dataset --config jobs/configs/demo.yaml --out $(OUT)

# What both workers import is compiled once, while the job starts, and not by each of them again.
WORKERS_IMPORT := import ray.train.torch, cass_ray.train.trainer, transformers.models.qwen3.modeling_qwen3, deepspeed

demo-train: setup ## Train a small model on the demo's pairs
	@VENV=$(VENV) scripts/setup.sh --train
	@test -d $(OUT)/pairs || $(BIN)/cass build-dataset --config jobs/configs/demo.yaml --out $(OUT)
	@$(BIN)/python -c '$(WORKERS_IMPORT)' >/dev/null 2>&1 & \
	echo "$(BIN)/cass train --config jobs/configs/train_tiny.yaml --set 'data.pairs=[$(OUT)]' --restart"; \
	$(BIN)/cass train --config jobs/configs/train_tiny.yaml --set 'data.pairs=[$(OUT)]' --restart

test: setup-dev ## Run the tests, without the slow ones
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow" -rs

test-changed: setup-dev ## Run the tests that changes since BASE=main can reach, without the slow ones
	$(BIN)/python -m tests.changed $(or $(BASE),main) -n $(WORKERS)

test-full: setup-dev ## Run all tests
	$(BIN)/python -m pytest -n $(WORKERS) -rs

attack: setup-dev ## Attack sandbox, compilers, verifier and service; table what held
	$(BIN)/python -m tests.security
	$(BIN)/python -m tests.security.forgeries.game

fuzz: setup-dev ## Fuzz every reader of binary files and programs (SECONDS_EACH=600; needs libclang-rt-19-dev)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[fuzz]'
	$(BIN)/python -m tests.security.fuzzers --seconds $(SECONDS_EACH)

fresh: ## Run the two commands on a bare Debian root, as root and as a user (FRESH=--quick: no tests)
	scripts/fresh.sh $(FRESH)

lowest: ## Run the tests with the lowest versions that pyproject.toml allows (no compilers needed)
	scripts/lowest.sh

# `.clang-format-ignore` has those whose bytes are data.
C_SOURCES := '*.c' '*.cc' '*.cl' '*.cpp' '*.cu' '*.cuh' '*.h' '*.hip' '*.hpp'

docs: setup ## Make the picture of README from a run of its commands
	$(BIN)/python scripts/readme_picture.py

lint: setup-dev ## Check style, spelling, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	git ls-files -z $(C_SOURCES) | xargs -0 $(BIN)/clang-format --dry-run -Werror
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

tidy: setup compile-commands ## Look for bugs in the emulator's engine by clang-tidy (ten minutes)
	$(BIN)/python -m pip install --quiet 'clang-tidy==19.1.0'
	git ls-files -z 'cass_ray/emulator/engine/*.cpp' | xargs -0 -n 4 -P $(WORKERS) $(BIN)/clang-tidy -quiet -p .

compile-commands: setup ## Write compile_commands.json, for clangd on the emulator's engine
	$(BIN)/python -m cass_ray.emulator.compile_commands

bench: setup-dev ## Run the benchmarks (benchmarks/README.md says what they measure)
	$(BIN)/python -m benchmarks

lock: setup-dev ## Write the installed versions to constraints.txt
	@{ echo '# Versions that this release was tested with. `make lock` writes this file.'; \
	  $(BIN)/python -m pip freeze --exclude-editable; } > constraints.txt.part
	@mv constraints.txt.part constraints.txt

clean: ## Remove build results (not the virtual environment)
	rm -rf build out .pytest_cache .mypy_cache .ruff_cache .hypothesis

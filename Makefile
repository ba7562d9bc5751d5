# Targets of this project. They need only Python 3.11+ and make; everything else is installed into .venv and .build.
#
#   make install   install the environment of `make run` into .venv
#   make compiled  compile the hot modules with mypyc; without a C compiler everything runs interpreted, at half speed
#   make run       run the rescue scenario, analyse it with Spark and write its report
#   make check     format, lint, types, import contracts, quick tests (some minutes)
#   make test      all tests, with boards and Spark; long campaigns and random examples are shortened
#   make soak      all tests at full size, then long runs: exhaustive arithmetic, many seeds, a flood
#   make bench     benchmarks beside other systems; ONLY=prefix selects some; LARGEST=10000 limits the emulated devices
#   make figures   the same, written with the commit and its plots to docs/
#   make golden    update the golden files and show the diff
#   make lock      update the pinned dependencies (needs uv)
#   make clean     remove everything that these targets made
#
# Environment variables:
#   DENS_PURE=1             use the interpreted modules even if compiled ones exist; results are the same
#   DENS_WITHOUT_BROWSER=1  let `make test` pass without Chromium; reports are then not opened in a browser
#   DENS_WITHOUT_BOARDS=1   let `make test` pass without QEMU, the micro:bit firmware or Node; a warning says so

PYTHON ?= python3
ONLY ?=
LARGEST ?=
BIN := .venv/bin
CODE := dens emulation experiments knowledge_manager plugins spark_analysis watchdog tests benchmarks setup.py compile_engine.py
QUICK := -m "not board and not spark and not slow and not browser"
COMPILE := uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: install compiled run check test static-checks quick-tests all-tests soak bench figures golden lock clean

install: .venv/.installed-run

compiled: install
	@$(BIN)/python compile_engine.py

run: install
	@$(BIN)/dens run rescue --out runs/rescue --force
	@$(BIN)/dens report runs/rescue

check: .venv/.installed-test
	@$(MAKE) --no-print-directory -j 2 static-checks quick-tests

test: .venv/.installed-bench compiled .build/boards/.installed .build/browser/.installed .build/feeds/.installed
	@$(MAKE) --no-print-directory -j 2 static-checks all-tests

static-checks:
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/codespell $(CODE) docs *.md
	@$(BIN)/mypy
	@$(BIN)/lint-imports

quick-tests:
	@$(BIN)/pytest -q -n 2 $(QUICK)

all-tests:
	@$(BIN)/pytest -q -n 2 --dist loadgroup

soak: .venv/.installed-soak .venv/.installed-bench .build/boards/.installed .build/browser/.installed .build/feeds/.installed
	@DENS_SOAK=1 $(BIN)/pytest -q -n 2 --dist loadgroup --ignore tests/soak
	@DENS_SOAK=1 HYPOTHESIS_PROFILE=soak $(BIN)/pytest -q tests/soak tests/plugins tests/watchdog tests/dens

bench: .venv/.installed-bench .build/boards/.installed compiled
	@DENS_BENCH_LARGEST=$(LARGEST) $(BIN)/python -m benchmarks $(if $(ONLY),--only $(ONLY))

figures: .venv/.installed-bench .build/boards/.installed compiled
	@DENS_BENCH_LARGEST=$(LARGEST) $(BIN)/python -m benchmarks --page docs/measurements.md

golden: .venv/.installed-test
	@$(BIN)/pytest -q -n 2 $(QUICK) --renew-golden
	@git --no-pager diff --stat

lock:
	$(COMPILE) requirements/run.in -o requirements/run.txt
	$(COMPILE) requirements/compile.in -c requirements/run.txt -o requirements/compile.txt
	$(COMPILE) requirements/test.in -c requirements/compile.txt -c requirements/run.txt -o requirements/test.txt
	$(COMPILE) requirements/soak.in -c requirements/test.txt -o requirements/soak.txt
	$(COMPILE) requirements/bench.in -c requirements/test.txt -o requirements/bench.txt

clean:
	rm -rf .venv .build build runs benchmarks/latest.jsonl .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dens.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "DENS needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another with: make PYTHON=python3.12 …" >&2; exit 3; }
	@$(PYTHON) -m venv .venv \
		|| { echo "Could not make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 3; }

.venv/.installed-run: requirements/run.txt pyproject.toml setup.py | .venv/bin/python
	@echo "Setting up .venv (pyspark is a large download; the first time takes some minutes) …"
	@$(BIN)/pip install --quiet --progress-bar on --require-hashes -r requirements/run.txt
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable . --editable experiments
	@touch $@

.venv/.installed-test: requirements/test.txt .venv/.installed-run
	@echo "Adding what the tests need …"
	@$(BIN)/pip install --quiet --progress-bar on --require-hashes -r requirements/test.txt
	@touch $@

.venv/.installed-%: requirements/%.txt .venv/.installed-test
	@echo "Adding what \`make $*\` needs …"
	@$(BIN)/pip install --quiet --progress-bar on --require-hashes -r requirements/$*.txt
	@touch $@

.build/boards/.installed: tests/dens/boards/install.py .venv/.installed-test
	@$(BIN)/python tests/dens/boards/install.py
	@mkdir -p $(@D) && touch $@

.build/browser/.installed: tests/browser/install.py .venv/.installed-test
	@$(BIN)/python tests/browser/install.py
	@mkdir -p $(@D) && touch $@

.build/feeds/.installed: tests/knowledge_manager/graphs/install_feeds.py .venv/.installed-test
	@$(BIN)/python tests/knowledge_manager/graphs/install_feeds.py
	@mkdir -p $(@D) && touch $@

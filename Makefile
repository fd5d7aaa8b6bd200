# Two commands from a bare checkout: `make demo` and `make test`. Everything else is for the people who work on boundsmith.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

LINTS := style types contracts dependencies

.PHONY: demo test test-all quick covering bench docs pictures lint $(LINTS) clean

demo: $(STAMP)
	@echo "== induction.vanilla: the theorem, over p and L"
	$(BIN)/boundsmith compare induction.vanilla
	@echo "== induction.vanilla on a real text: examples/harbour.txt"
	$(BIN)/boundsmith compare induction.vanilla --text examples/harbour.txt

test: $(STAMP) lint
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not long"

# What CI runs: the tests marked `long` as well.
test-all: $(STAMP) lint
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

# Before a commit: what lint finds, and the tests of tests/quick.txt, which touch every package; under a minute.
quick: $(STAMP)
	$(MAKE) --no-print-directory -j 3 $(LINTS) covering

covering: $(STAMP)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal @tests/quick.txt

lint: $(STAMP)
	$(MAKE) --no-print-directory -j 2 $(LINTS)

style: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports

dependencies: $(STAMP)
	$(BIN)/deptry .

# The site, in docs/_build/html/index.html; no network is needed, and a warning is an error.
docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -q -j auto -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

pictures: $(STAMP)
	PATH="$(CURDIR)/$(BIN):$$PATH" docs/pictures/draw.sh

bench: $(STAMP)
	$(BIN)/python -m benchmarks.run

# Install aside and move into place only when it is complete, so that an interrupted install is done again.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .benchmarks docs/_build docs/generated

# Two commands from a bare checkout: `make demo` and `make test`. Everything else is for the people who work on boundsmith.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test bench lint clean

demo: $(STAMP)
	@echo "== induction.vanilla: the theorem, over p and L"
	$(BIN)/boundsmith compare induction.vanilla
	@echo "== induction.vanilla on a real text: examples/harbour.txt"
	$(BIN)/boundsmith compare induction.vanilla --text examples/harbour.txt

test: $(STAMP) lint
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .

bench: $(STAMP)
	$(BIN)/python -m benchmarks.run

# Install aside and move into place only when it is complete, so that an interrupted install is done again.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .benchmarks

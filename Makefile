# `make book` and `make test` do everything; `make help` lists the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
HTML := _build/html

# One thread, one hash seed and one of OpenBLAS's kernels, so that numbers agree to the last digit
# from run to run and from processor to processor (of those with AVX2).
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export PYTHONHASHSEED := 0
export OPENBLAS_CORETYPE := Haswell

# A chapter opens only sets that come with the module: it runs as if there were no others here.
STRANGER := FSPCA_DATA= XDG_CACHE_HOME="$(CURDIR)/.cache"
# A container's user often is root, to whom Jupyter refuses a server that is not asked for so.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

TESTS ?= fspca reproduction/fspca_reproduction tests

MODULE := $(shell find fspca reproduction -name '*.py' -not -path '*/build/*')
DATA := $(shell find data fspca/datasets/raw -type f -not -name '.*' 2>/dev/null)
NOTEBOOKS := $(shell find book -name '*.ipynb' -not -path '*/.*' -not -path 'book/assignments/*')
PAGES := _config.yml _toc.yml $(shell find book -type f -not -path '*/.*' -not -name '*.pyc')

.PHONY: book pdf lab test nightly mutants test-lint test-unit test-data test-book test-notebooks reproduce notebooks assignments \
  instructor-archive pages bench release lint clean help
.DELETE_ON_ERROR:

book: $(HTML)/.built  ## build the book and say where to open it
	@echo "The book is built. Open it here: $(CURDIR)/$(HTML)/index.html"

test: test-lint test-unit test-book test-notebooks  ## run every check
	@echo "Every check passed."

nightly: $(HTML)/.built  ## run the checks that take long, but for what passed with this code
	$(BIN)/pytest -n 2 --dist worksteal -m nightly --resume || [ $$? -eq 5 ]  # 5: nothing was left to run
	$(BIN)/python tests/mutants.py --most 40 --seconds 8  # of a module that changed: a minute or two

mutants: $(READY)  ## change the core in one place after another, and see whether its tests notice
	$(BIN)/python tests/mutants.py

test-lint: $(READY)  ## check style, format, spelling and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy

test-unit: $(READY)  ## run unit tests, property tests, doctests and the notebooks' rules: all, or TESTS=tests/test_go.py
	$(BIN)/pytest -n 2 --dist worksteal --doctest-modules $(TESTS) \
	  --ignore tests/test_book.py --ignore tests/test_pages.py --ignore tests/test_take_away.py

test-data: $(READY)  ## run the tests that were skipped for want of the papers' data, which FSPCA_DATA leads to
	$(BIN)/pytest -n 2 --dist worksteal --lacked tests || [ $$? -eq 5 ]  # 5: none was skipped

test-book: $(HTML)/.built  ## build the book, any warning being an error, check its links, and open its pages in a browser
	$(BIN)/pytest -n 2 --dist worksteal tests/test_book.py tests/test_pages.py tests/test_take_away.py

test-notebooks: $(VENV)/.notebooks  ## run the notebooks and compare with their stored outputs

reproduce: $(READY)  ## recompute the stored results (all, or OLDER_THAN=commit) and the ledger, then run all notebooks in place (resumes when interrupted)
	$(BIN)/python -m fspca_reproduction run --resume $(if $(OLDER_THAN),--older-than $(OLDER_THAN))
	$(BIN)/python -m fspca_reproduction ledger
	$(STRANGER) $(BIN)/python book/tools/run_notebooks.py --resume
	rm -f .cache/reproduced.json

notebooks: $(READY)  ## run notebooks in place: all, or CHAPTER=go
	$(STRANGER) $(BIN)/python book/tools/run_notebooks.py $(CHAPTER)

pdf: $(HTML)/.built  ## typeset the whole book, by a browser: _build/book.pdf
	$(BIN)/python book/tools/typeset.py $(HTML) _build/book.pdf

lab: $(READY)  ## open the first chapter in JupyterLab
	$(BIN)/jupyter lab $(AS_ROOT) --ServerApp.root_dir=book book/first_twenty_minutes.ipynb

assignments: $(READY)  ## make the students' copies, their environment and the instructor's guide
	$(BIN)/python book/tools/assignments.py

pages: assignments  ## make what follows from other files: tables, pages, students' copies, citation
	$(BIN)/python book/tools/release.py --pages
	$(BIN)/python book/tools/which_method.py
	$(BIN)/python book/tools/readme_picture.py
	$(BIN)/python book/tools/api_page.py
	$(BIN)/python book/tools/nightly_page.py
	$(BIN)/python book/tools/idea_drawings.py
	$(BIN)/python book/tools/live_instances.py
	$(BIN)/python -m fspca_reproduction ledger

instructor-archive: assignments  ## pack the course with its solutions, for lecturers
	$(BIN)/python book/tools/assignments.py archive

bench: $(READY)  ## time ours beside others, two minutes; ALL=1 times the rest, STORE=1 keeps all of it
	$(BIN)/python -m fspca_reproduction bench $(if $(ALL),--all) $(if $(STORE),--store)

release: $(READY)  ## write what follows from the version and build dist/, the same bytes always
	$(BIN)/python book/tools/release.py

lint: $(READY)  ## mend style and format, and list what to read again
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/codespell
	$(BIN)/python book/tools/prose.py

clean:  ## remove the environment and everything built
	rm -rf $(VENV) _build dist .cache .pytest_cache .ruff_cache *.egg-info reproduction/*.egg-info reproduction/build reproduction/dist

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' Makefile | expand -t 20

# Bytecode is made of what is used; other packages' tests, other languages and the maps of packed
# scripts are of no use here.
$(READY): requirements.txt pyproject.toml reproduction/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, and $(PYTHON) is not: try make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -r requirements.txt
	@find $(VENV)/lib -path '*/site-packages/*' -name tests -type d -prune -exec rm -rf {} +
	@find $(VENV) -path '*/babel/locale-data/*' ! -name 'en*' ! -name root.dat -delete
	@find $(VENV) \( -name '*.[cj]s*.map' -o -path '*/LC_MESSAGES/*' \) -delete
	@touch $@

# All pages are read again: a page that was not read could hide its warnings.
$(HTML)/.built: $(READY) $(PAGES) $(MODULE) $(wildcard data/results/*.json data/results/nightly/*.json)
	rm -rf $(HTML)
	$(BIN)/jupyter-book build . --all -W -n --keep-going
	$(BIN)/python book/tools/finish.py $(HTML)
	@touch $@

# Only the notebooks that changed, or all of them when the code or the data under them did.
$(VENV)/.notebooks: $(READY) $(NOTEBOOKS) $(MODULE) $(DATA)
	$(STRANGER) $(BIN)/pytest -n 2 --dist loadfile --nbval --nbval-current-env --nbval-cell-timeout 600 \
	  $(if $(filter-out %.ipynb,$?),$(NOTEBOOKS),$?)
	@touch $@

# Every target sets up what it needs in .venv and then runs.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
OLDEST := .venv-oldest
STUDIO := .venv-label-studio
# What the exported page runs on; fetched by npm.
ORT_WEB_VERSION := 1.30.0
ORT_WEB := $(VENV)/onnxruntime-web-$(ORT_WEB_VERSION).tgz

.PHONY: demo test lint format tour test-kernels test-oldest test-package test-torch test-export test-adapters test-ray test-browser test-labelstudio bench docs docs-site release-check clean help

help:            ## this list
	@grep -E '^[a-z-]+: .*##|^[a-z-]+:  *##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 16

demo: $(VENV)/demo.stamp      ## set up, learn a stream of digits, print a table and draw a plot
	$(BIN)/i2cansay demo

test: $(VENV)/dev.stamp       ## set up and run the tests
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/dev.stamp       ## ruff, mypy, import contracts, generated documents, records, sources of figures
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/docs.py --check
	$(BIN)/python tools/clean_records.py
	$(BIN)/python tools/result_pages.py --check
	$(BIN)/python tools/figure_sources.py

format: $(VENV)/dev.stamp     ## let ruff format and mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/dev.stamp       ## rewrite the generated documents
	$(BIN)/python tools/docs.py
	$(BIN)/python tools/result_pages.py

docs-site: $(VENV)/site.stamp  ## build the site into build/site/html and run its gallery; warnings are errors
	$(BIN)/python tools/build_site.py

tour: $(VENV)/dev.stamp       ## run docs/tour.md and write what its commands print; needs CIFAR-10
	$(BIN)/python tools/tour.py

test-kernels: $(VENV)/dev.stamp  ## the numerical tests on every BLAS kernel of this processor; FEW=1: two, in part
	$(BIN)/python tools/kernels.py $(if $(FEW),--few)

test-oldest: $(OLDEST)/stamp  ## core and learners on the oldest dependencies that pyproject.toml allows
	$(OLDEST)/bin/python -m pytest -n auto src/i2cansay/core src/i2cansay/learners tests/core tests/learners \
		tests/test_contract.py tests/test_sklearn.py

test-package: $(VENV)/dev.stamp  ## build, install into empty environments, try each
	$(BIN)/python tools/package.py

release-check: docs-site       ## what must hold before a release: version, package, smoke test, links, licences
	$(BIN)/python tools/release_check.py build/site/html

test-torch: $(VENV)/torch.stamp  ## the checks against torch and transformers, and those of EfficientNet-Lite1 and -Lite2
	$(BIN)/python -m pytest -m torch
	$(BIN)/python -m pytest -m "not torch" tests/encoders/test_efficientnet.py

test-export: $(VENV)/export.stamp  ## exports, pipelines by skl2onnx among them, and the blocks of docs/export.md
	$(BIN)/python -m pytest tests/export
	$(BIN)/python -m pytest tests/test_docs.py -k export.md

test-adapters: $(VENV)/adapters.stamp  ## the adapters, and the blocks of docs/ecosystem.md, against the real packages
	I2CANSAY_ADAPTERS=1 $(BIN)/python -m pytest tests/adapters src/i2cansay/adapters tests/test_docs.py

test-ray: $(VENV)/ray.stamp    ## a real cluster of two nodes on this machine, one of them killed in the middle; some four minutes
	$(BIN)/python -m pytest tests/cluster

test-browser: $(VENV)/browser.stamp  ## the pages in a real Chromium, and the API against its own description
	I2CANSAY_BROWSER=1 I2CANSAY_ORT_WEB=$(ORT_WEB) $(BIN)/python -m pytest tests/browser

test-labelstudio: $(VENV)/dev.stamp $(STUDIO)/stamp  ## a real Label Studio, installed beside, with a model as its ML back end
	I2CANSAY_LABEL_STUDIO=$(STUDIO)/bin/label-studio $(BIN)/python -m pytest tests/label_studio

bench: $(VENV)/bench.stamp    ## speed against peers and floors, written to docs/performance.md; some fourteen minutes on two idle cores
	$(BIN)/python benchmarks/bench.py; status=$$?; $(BIN)/python tools/performance_page.py && exit $$status

clean:           ## remove the environment and what the tools left
	rm -rf $(VENV) $(OLDEST) $(STUDIO) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "i2cansay needs Python 3.11 or newer, this is " + sys.version'
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[images,plot]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(OLDEST)/stamp: pyproject.toml tools/oldest.py
	$(PYTHON) -m venv --clear $(OLDEST)
	$(PYTHON) tools/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(OLDEST)/constraints.txt -e '.[test]'
	@touch $@

# An environment of its own: it pins versions of much that we use.
$(STUDIO)/stamp:
	$(PYTHON) -m venv --clear $(STUDIO)
	$(STUDIO)/bin/python -m pip install --quiet --disable-pip-version-check 'label-studio==1.23.*'
	@touch $@

$(VENV)/browser.stamp: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,browser]'
	@command -v chromedriver > /dev/null || apt-get install --yes --no-install-recommends chromium chromium-driver
	@test -e $(ORT_WEB) || npm pack --silent --pack-destination $(VENV) onnxruntime-web@$(ORT_WEB_VERSION)
	@touch $@

$(VENV)/bench.stamp: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,bench]'
	@touch $@

$(VENV)/export.stamp: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,export-test]'
	@touch $@

$(VENV)/adapters.stamp: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,adapters-test]'
	@touch $@

$(VENV)/ray.stamp: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,ray]'
	@touch $@

$(VENV)/site.stamp: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,site]'
	@touch $@

$(VENV)/torch.stamp: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,torch-test]'
	@touch $@

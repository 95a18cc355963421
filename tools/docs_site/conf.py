"""Settings of Sphinx. `tools/build_site.py` stages the sources and calls it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import i2cansay
from i2cansay.learners.facts import LearnerFacts

ROOT = Path(__file__).parents[2]

project = "i2cansay"
author = "the authors of i2cansay"
copyright = author
version = release = i2cansay.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "docs_site.mathml",
]
html_math_renderer = "mathml"
exclude_patterns = ["gallery/**/GALLERY_HEADER.rst"]
smartquotes = False
default_role = "code"

myst_enable_extensions = ["attrs_block", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_default_options = {
    "members": True,
    # What scikit-learn, river and Python define themselves is not shown.
    "inherited-members": "ClassifierMixin,BaseEstimator,_MetadataRequester,ReprHTMLMixin,"
    "_HTMLDocumentationLinkMixin,Base,Estimator,Classifier,MiniBatchClassifier,BaseException,Exception,Warning,tuple,dict,object",
    "member-order": "bysource",
}
autodoc_typehints = "none"
numpydoc_show_class_members = False


def setup(app: Any) -> None:
    """Leave out of the pages of learners what a learner declares about itself: docs/architecture.md has the list."""
    facts = set(vars(LearnerFacts)) | set(LearnerFacts.__annotations__)

    def skip(app: Any, what: str, name: str, *others: object) -> bool | None:
        return True if name in facts or name.endswith("_request") else None

    app.connect("autodoc-skip-member", skip)


sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "docs_site.gallery_order.ByContents",
    "default_thumb_file": str(ROOT / "docs/images/demo.png"),
    "nested_sections": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": True,
    "abort_on_example_error": True,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = "i2cansay"
html_favicon = html_logo = str(ROOT / "src/i2cansay/service/page/icon.svg")
html_static_path = [str(Path(__file__).with_name("style"))]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "logo": {"text": "i2cansay"},
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["site-version"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {"index": []}
templates_path = [str(Path(__file__).with_name("templates"))]

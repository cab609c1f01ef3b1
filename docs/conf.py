"""Sphinx: the build reads nothing from the network, and every warning is an error (see the Makefile)."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import api_pages  # noqa: E402

import epro  # noqa: E402

project = "epro"
author = "The epro developers"
copyright = f"2026, {author}"
version = release = epro.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "plain_formulas",
]
exclude_patterns = ["_build", "examples", "auto_examples/**/*.ipynb", "README.md"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # numpydoc states the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme" if find_spec("pydata_sphinx_theme") else "alabaster"
html_title = "epro"
html_show_sourcelink = False
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}

if sorted((HERE / "examples").glob("plot_*.py")):
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": "examples",
        "gallery_dirs": "auto_examples",
        "filename_pattern": r"plot_",
        "abort_on_example_error": True,
        "download_all_examples": False,
        "show_memory": False,
        "min_reported_time": 1,
    }
else:
    exclude_patterns += ["auto_examples", "sg_execution_times.rst"]  # what an earlier build left

api_pages.write(HERE / "api" / "generated")

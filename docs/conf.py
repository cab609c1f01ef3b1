"""Sphinx: the build reads nothing from the network, and every warning is an error (see the Makefile)."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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

api_pages.write(HERE / "api" / "generated")


def plain_formulas(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings say |x| and a*b as plain text; reStructuredText would take the bars for a substitution.

    Literals, roles and examples stay as they are.
    """
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "..", ":")):
            parts = re.split(r"(``.*?``|`[^`]*`)", line)
            parts[::2] = [re.sub(r"(?<!\\)([|])", r"\\\1", part) for part in parts[::2]]
            lines[number] = "".join(parts)


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", plain_formulas, priority=900)  # after numpydoc

"""Lets docstrings write norms and absolute values as plain text, |x| and ||x||.

reStructuredText would take the bars for a substitution. They are escaped in prose only: literals, roles, directives
(mathematics among them), literal blocks and examples stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

LITERAL = re.compile(r"(``.*?``|`[^`]*`)")


def escape_bars(lines: list[str]) -> list[str]:
    """The same lines with the bars of prose escaped.

    >>> escape_bars(["||x|| and ``|x|``", ".. math::", "", "   |x|", "|y|", ">>> a | b", "|"])
    ['\\\\|\\\\|x\\\\|\\\\| and ``|x|``', '.. math::', '', '   |x|', '\\\\|y\\\\|', '>>> a | b', '|']
    """
    escaped, block, example = [], None, False
    for line in lines:
        text, indent = line.strip(), len(line) - len(line.lstrip())
        if block is not None and text and indent <= block:
            block = None
        example = bool(text) and (example or text.startswith(">>>"))
        opens = text.startswith(".. ") or text.endswith("::")
        escaped.append(line if block is not None or example or opens else _escape(line))
        if block is None and opens:
            block = indent
    return escaped


def _escape(line: str) -> str:
    parts = LITERAL.split(line)
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    return "".join(parts)


def process_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Sphinx's event ``autodoc-process-docstring``."""
    lines[:] = escape_bars(lines)


def setup(app: Any) -> dict[str, bool]:
    """Comes after numpydoc."""
    app.connect("autodoc-process-docstring", process_docstring, priority=900)
    return {"parallel_read_safe": True}

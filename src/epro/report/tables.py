"""Tables: drawn on a terminal, plain text elsewhere, CSV in files."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


PRECISE = {"objective": ".6g", "fun": ".6g"}  # columns whose first digits are often the same


def text(value: Any, name: str = "") -> str:
    """A value as tables show it: whole numbers in full, others to three digits, nothing for what is missing.

    Examples
    --------
    >>> from epro.report.tables import text
    >>> text(12345), text(0.000123456), text(1.0), text(None), text("sgd")
    ('12,345', '1.23e-04', '1', '', 'sgd')
    """
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    number = float(value)
    if math.isnan(number):
        return ""
    if name in PRECISE:
        return format(number, PRECISE[name])
    if number.is_integer() and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:.3g}" if 1e-3 <= abs(number) < 1e4 else f"{number:.2e}"


def columns_of(rows: Sequence[Row]) -> list[str]:
    """All names that occur, in the order of their first occurrence."""
    return list(dict.fromkeys(name for row in rows for name in row))


def print_table(rows: Sequence[Row], title: str = "", columns: Sequence[str] | None = None) -> None:
    """Prints rows as a drawn table on a terminal, and as aligned plain text anywhere else."""
    columns = list(columns or columns_of(rows))
    if sys.stdout.isatty():
        _draw(rows, title, columns)
    else:
        print(plain(rows, title, columns))


def plain(rows: Sequence[Row], title: str = "", columns: Sequence[str] | None = None) -> str:
    """Rows as aligned text; numbers to the right.

    Examples
    --------
    >>> from epro.report.tables import plain
    >>> print(plain([{"method": "sgd", "steps": 2000}, {"method": "epro-sgd", "steps": 8}]))
    method    steps
    sgd       2,000
    epro-sgd      8
    """
    columns = list(columns or columns_of(rows))
    cells = [columns, *([text(row.get(name), name) for name in columns] for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(columns))]
    right = [is_numeric(rows, name) for name in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if r else cell.ljust(width) for cell, width, r in zip(line, widths, right, strict=True)
        )
        for line in cells
    ]
    return "\n".join([title] * bool(title) + [line.rstrip() for line in lines])


def is_numeric(rows: Sequence[Row], name: str) -> bool:
    """Whether a column holds no text."""
    return not any(isinstance(row.get(name), str) for row in rows)


def _draw(rows: Sequence[Row], title: str, columns: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left")
    for name in columns:
        table.add_column(name, justify="right" if is_numeric(rows, name) else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(text(row.get(name), name) for name in columns))
    Console().print(table)


def write_csv(path: Path, rows: Sequence[Row], columns: Sequence[str] | None = None) -> Path:
    """Rows in full precision."""
    columns = list(columns or columns_of(rows))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path

"""Tables: drawn on a terminal, plain text elsewhere, CSV in files."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


PRECISE = ("objective", "fun")  # columns whose first digits are often the same
NAMES = {"memory_mb": "memory (MB)", "norm1": "l1 norm"}


def text(value: Any, name: str = "", digits: int = 6) -> str:
    """A value as tables show it: whole numbers in full, others to three digits (``digits`` where a column's name
    promises close values), nothing for what is missing.

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
        return f"{number:.{digits}g}"
    if number.is_integer() and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:.3g}" if 1e-3 <= abs(number) < 1e4 else f"{number:.2e}"


def texts(rows: Sequence[Row], name: str) -> list[str]:
    """A column as tables show it. Objectives get as many digits (6 to 10) as it takes to tell them apart.

    Examples
    --------
    >>> from epro.report.tables import texts
    >>> texts([{"fun": 0.50075811}, {"fun": 0.50075847}], "fun")
    ['0.50075811', '0.50075847']
    """
    digits = 6
    if name in PRECISE:
        given = (row.get(name) for row in rows)
        values = [float(value) for value in given if value is not None and math.isfinite(value)]
        spread = max(values, default=0.0) - min(values, default=0.0)
        if spread > 0:
            digits = min(max(math.ceil(math.log10(max(map(abs, values)) / spread)) + 1, 6), 10)
    return [text(row.get(name), name, digits) for row in rows]


def heading(name: str) -> str:
    """A column's name as people read it."""
    return NAMES.get(name, name.replace("_", " "))


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
    shown = []
    for name in columns:
        cells = [heading(name), *texts(rows, name)]
        width = max(map(len, cells))
        shown.append([cell.rjust(width) if is_numeric(rows, name) else cell.ljust(width) for cell in cells])
    lines = ["  ".join(line).rstrip() for line in zip(*shown, strict=True)]
    return "\n".join([title] * bool(title) + lines)


def is_numeric(rows: Sequence[Row], name: str) -> bool:
    """Whether a column holds no text."""
    return not any(isinstance(row.get(name), str) for row in rows)


def parts_of(rows: Sequence[Row], columns: Sequence[str], width: int) -> list[list[str]]:
    """The columns in as many tables as it takes for each to fit into so many characters, the first column in all."""
    needed = {name: max(map(len, [heading(name), *texts(rows, name)])) + 3 for name in columns}  # blanks and a line
    first, *others = columns
    parts = [[first]]
    for name in others:
        if sum(needed[column] for column in [*parts[-1], name]) + 1 > width and len(parts[-1]) > 1:
            parts.append([first])
        parts[-1].append(name)
    return parts


def _draw(rows: Sequence[Row], title: str, columns: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for part in parts_of(rows, columns, console.width):
        table = Table(title=title or None, title_justify="left")
        for name in part:
            table.add_column(heading(name), justify="right" if is_numeric(rows, name) else "left", no_wrap=True)
        for line in zip(*(texts(rows, name) for name in part), strict=True):
            table.add_row(*line)
        console.print(table)
        title = ""


def write_csv(path: Path, rows: Sequence[Row], columns: Sequence[str] | None = None) -> Path:
    """Rows in full precision."""
    columns = list(columns or columns_of(rows))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path

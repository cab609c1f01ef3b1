"""Everything that an experiment leaves behind: pictures, tables, curves, and the page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from epro.datasets.progress import Bar
from epro.report.figures import Curve, draw, settings_of
from epro.report.machine import command, machine_info
from epro.report.page import write_page
from epro.report.tables import write_csv


def write_report(
    out: Path, name: str, title: str, curves: Sequence[Curve], rows: Sequence[Mapping[str, Any]],
    notes: Sequence[str] = (),
) -> list[Path]:  # fmt: skip
    """Writes ``<name>_<setting>.png`` for each setting, ``<name>.csv``, ``<name>.json`` and ``<name>.html``.

    Parameters
    ----------
    out : Path
        A directory; made where it is missing.
    name, title : str
    curves : sequence of dict
        One for each method and setting: method, setting, the lists iterations, seconds, objective, projections and
        violation, the dict final, and optionally a text ``options``.
    rows : sequence of dict
        The table; a column ``setting`` says which section a row belongs to.
    notes : sequence of str

    Returns
    -------
    list of Path
        The files, the page first.
    """
    out.mkdir(parents=True, exist_ok=True)
    pictures = {}
    with Bar("Drawing", len(settings_of(curves))) as bar:
        for setting in settings_of(curves):
            pictures[setting] = draw(curves, setting, out / f"{name}_{_file_name(setting)}.png")
            bar.to(len(pictures))
    machine, typed = machine_info(), command()
    saved = out / f"{name}.json"
    content = {"command": typed, "machine": machine, "curves": [_plain(curve) for curve in curves]}
    saved.write_text(json.dumps(content, allow_nan=False), "utf-8")
    page = write_page(
        out / f"{name}.html", title, curves, rows, pictures, notes=notes, machine=machine, command=typed
    )  # fmt: skip
    return [page, *pictures.values(), write_csv(out / f"{name}.csv", rows), saved]


def _plain(value: Any) -> Any:
    """Without what JSON has no word for: numbers that are not finite become null, those of NumPy plain ones."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, str | int):
        return value
    return float(value) if math.isfinite(value) else None


def _file_name(setting: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in setting)

"""``epro reproduce``: the experiments of the paper, with figures, tables and a page."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

EXPERIMENTS = {"lasso": "epro.experiments.figure1_lasso", "lmnn": "epro.experiments.figure2_lmnn"}


def reproduce(experiment: str, scale: str, out: Path, data: Path | None) -> list[Path]:
    """Runs an experiment, prints its table and writes its report; the files, the page first."""
    from epro.report.tables import columns_of, print_table
    from epro.report.write import write_report

    started = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)  # what cannot be written to is found before the work, not after it
    module: Any = importlib.import_module(EXPERIMENTS[experiment])
    curves, rows = module.run(scale=scale, out=out, data=data)[:2]
    for setting in dict.fromkeys(row.get("setting", "") for row in rows):
        here = [row for row in rows if row.get("setting", "") == setting]
        print_table(here, f"{module.TITLE}, setting: {setting}", [c for c in columns_of(here) if c != "setting"])
        print()
    notes = (module.source(scale, data), *module.NOTES)
    files = write_report(out, f"{experiment}_{scale}", f"{module.TITLE} ({scale} scale)", curves, rows, notes)
    print(notes[0])
    print(f"Page: {files[0].resolve()}\nFiles: {', '.join(file.name for file in files[1:])}")
    print(f"Time, with compilation: {time.perf_counter() - started:.0f} s")
    return files

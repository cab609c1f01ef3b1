"""The report of an experiment: tables, pictures, and a page that needs nothing but itself."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from epro.report.figures import above, draw, span
from epro.report.machine import PeakMemory, machine_info
from epro.report.page import TEMPLATE, plot, table
from epro.report.tables import columns_of, parts_of, plain, text, texts, write_csv
from epro.report.write import write_report

LOADING = {"src", "href", "srcset", "data", "poster", "action", "background"}


class Loads(HTMLParser):
    """Collects what a browser would fetch: attributes that name an address, and addresses in style sheets."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []
        self.viewport = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        if values.get("name") == "viewport":
            self.viewport = values.get("content") or ""
        self.found += [v or "" for k, v in attrs if k in LOADING and not (v or "").startswith(("data:", "#"))]

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "style":
            self.found += re.findall(r"@import[^;]*|url\((?!['\"]?data:)[^)]*\)", data)


def loads(page: str) -> Loads:
    parser = Loads()
    parser.feed(page)
    return parser


def curve(method: str, setting: str) -> dict[str, Any]:
    final = {"setting": setting, "method": method, "iterations": 30, "objective": 0.25, "memory_mb": float("nan")}
    return {
        "method": method, "setting": setting, "iterations": [10, 30], "seconds": [0.1, 0.3], "objective": [0.5, 0.25],
        "projections": [1, 2], "violation": [0.0, 0.0], "final": final, "options": f"{method}(lam=</script>)",
    }  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    curves = [curve(method, setting) for setting in ("paper", "real one") for method in ("sgd", "epro <b>")]
    rows = [each["final"] for each in curves]
    return write_report(tmp_path_factory.mktemp("report"), "lasso", "A title & more", curves, rows, ["A note."])


def test_all_files_are_written(report: list[Path]) -> None:
    names = [path.name for path in report]
    assert names == ["lasso.html", "lasso_paper.png", "lasso_real_one.png", "lasso.csv", "lasso.json"]
    assert report[1].read_bytes().startswith(b"\x89PNG")
    assert len(list(csv.DictReader(report[3].read_text().splitlines()))) == 4
    assert json.loads(report[4].read_text())["curves"][0]["iterations"] == [10, 30]


def test_page_loads_nothing_from_elsewhere(report: list[Path]) -> None:
    page = report[0].read_text("utf-8")
    assert loads(page).found == []
    assert "Plotly.newPlot" in page and len(page) > 1_000_000  # the library is inside


@pytest.mark.parametrize(
    "foreign",
    [
        '<script src="https://example.invalid/plotly.js"></script>',
        '<link rel="stylesheet" href="style.css">',
        "<style>@import 'more.css';</style>",
        "<style>body { background: url(picture.png) }</style>",
    ],
)
def test_a_foreign_load_would_be_found(foreign: str) -> None:
    assert loads(f"<html><body>{foreign}</body></html>").found


def test_page_is_for_phones_and_printers() -> None:
    page = TEMPLATE.read_text("utf-8")
    assert "width=device-width" in loads(page).viewport
    assert "@media print" in page and "overflow-x: auto" in page
    assert 'matchMedia("(pointer: coarse)").matches) plot.layout.dragmode = false' in page


def test_page_shows_curves_and_escapes_text(report: list[Path]) -> None:
    page = report[0].read_text("utf-8")
    plots = json.loads(re.search(r"const plots = (.*);\n", page)[1])  # type: ignore[index]
    assert set(plots) == {"plot-0-iterations", "plot-0-seconds", "plot-1-iterations", "plot-1-seconds"}
    assert plots["plot-0-seconds"]["data"][0]["x"] == [0.1, 0.3] and len(plots["plot-1-seconds"]["data"]) == 2
    assert "epro &lt;b&gt;" in page and "lam=&lt;/script&gt;" in page and "A title &amp; more" in page


def test_a_method_far_above_does_not_flatten_the_others() -> None:
    near = [curve(name, "s") | {"objective": [0.5, 0.2 + 0.01 * k]} for k, name in enumerate("abcd")]
    far = curve("far", "s") | {"objective": [9000.0, 800.0]}
    assert span(near, "s") is None and above(near, "s") == []
    low, high = span([*near, far], "s")  # type: ignore[misc]
    assert low < 0.2 and 0.5 < high < 0.6 and above([*near, far], "s") == ["far"]
    assert plot([*near, far], "s", "seconds", "seconds")["layout"]["yaxis"]["range"] == (low, high)


def test_table_leaves_out_what_is_missing() -> None:
    shown = table([{"setting": "s", "method": "a", "memory_mb": float("nan")}])
    assert "<td></td>" in shown.replace(' class="number"', "") and "memory (MB)" in shown and "setting" not in shown


def test_page_can_be_used_with_a_keyboard_and_read_aloud(report: list[Path]) -> None:
    page = report[0].read_text("utf-8").replace('class="number"', "")
    assert page.count("<main>") == page.count("</main>") == 1
    assert page.count('role="region" tabindex="0" aria-label="Results: ') == 2
    assert page.count('role="group" aria-label="Objective against') == 4
    assert '<th scope="row">sgd</th>' in page and '<th scope="col" >iterations</th>' in page


def test_ticks_of_a_short_axis_do_not_overlap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (drawn.append(self), save(self, *a, **k))[1])
    flat = curve("sgd", "s") | {"iterations": [8, 24, 600], "seconds": [0.015, 0.1, 0.7]}
    draw([flat | {"objective": [0.5007581, 0.5007582, 0.5007583]}], "s", tmp_path / "s.png")
    for axes in drawn[0].axes:
        labels = [*axes.get_xticklabels(), *axes.get_xticklabels(minor=True)]
        boxes = sorted((b.x0, b.x1) for label in labels if label.get_text() for b in [label.get_window_extent()])
        assert len(boxes) > 2 and all(one[1] < two[0] for one, two in pairwise(boxes))
        assert axes.yaxis.get_major_formatter().get_offset() == ""


def test_what_is_not_finite_is_null_in_json(report: list[Path]) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    saved = json.loads(report[4].read_text(), parse_constant=refuse)
    assert saved["curves"][0]["final"]["memory_mb"] is None


# -- tables


def test_a_wide_table_is_drawn_in_parts_that_fit() -> None:
    rows = [{"method": "Epro-SGD, clipped", **{f"column_{k}": 1234.5 * k for k in range(9)}}]
    parts = parts_of(rows, columns_of(rows), 80)
    assert [name for part in parts for name in part[1:]] == [f"column_{k}" for k in range(9)]
    assert {part[0] for part in parts} == {"method"} and len(parts) == 2
    assert parts_of(rows, columns_of(rows), 400) == [columns_of(rows)]
    assert all(len(part) == 2 for part in parts_of(rows, columns_of(rows), 10))  # never none at all


def test_close_objectives_are_told_apart() -> None:
    assert texts([{"objective": 0.50075811}, {"objective": 0.50075847}], "objective") == ["0.50075811", "0.50075847"]
    assert texts([{"objective": 0.5}, {"objective": 1 / 3}], "objective") == ["0.5", "0.333333"]
    assert texts([{"objective": None}, {"objective": float("nan")}], "objective") == ["", ""]


def test_plain_table_aligns() -> None:
    lines = plain([{"a": 1, "b": "x"}, {"a": 1000, "b": "yy"}]).splitlines()
    assert lines == ["    a  b", "    1  x", "1,000  yy"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(float("nan"), ""), (None, ""), (2000.0, "2,000"), (0.25, "0.25"), (1e-9, "1.00e-09"), (float("inf"), "inf")],
)
def test_text(value: Any, shown: str) -> None:
    assert text(value) == shown


def test_csv_keeps_full_precision(tmp_path: Path) -> None:
    rows = list(csv.DictReader(write_csv(tmp_path / "t.csv", [{"x": 1 / 3}, {"y": 2}]).read_text().splitlines()))
    assert float(rows[0]["x"]) == 1 / 3 and rows[1] == {"x": "", "y": "2"}


# -- machine


def test_machine_is_described() -> None:
    assert {"processor", "cores", "memory", "Python", "numba", "epro"} <= set(machine_info())


def test_peak_memory_sees_a_large_array() -> None:
    import numpy as np

    with PeakMemory().watched() as peak:
        np.ones(8_000_000)
    assert np.isnan(peak.megabytes) or 55 < peak.megabytes < 90

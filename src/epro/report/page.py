"""One HTML page that needs no other file and no network: plots, table, settings, machine, command."""

from __future__ import annotations

import base64
import html
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from epro.report.figures import PANELS, Curve, above, settings_of, span, styles
from epro.report.tables import columns_of, heading, is_numeric, texts

SYMBOLS = {
    "o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down", "P": "cross", "X": "x",
    "p": "pentagon", "h": "hexagon",
}  # fmt: skip
TEMPLATE = Path(__file__).with_name("page.html")


def write_page(
    path: Path, title: str, curves: Sequence[Curve], rows: Sequence[Mapping[str, Any]], pictures: Mapping[str, Path], *,
    notes: Sequence[str] = (), machine: Mapping[str, str] | None = None, command: str = "",
) -> Path:  # fmt: skip
    """Writes the page.

    Parameters
    ----------
    path : Path
    title : str
    curves, rows : sequences of dict
        What an experiment's ``run`` returns.
    pictures : dict
        A PNG file for each setting, shown in print and where scripts are off.
    notes : sequence of str
        Sentences below the title.
    machine : dict, optional
    command : str, optional
        How to make the page again.
    """
    from plotly.offline import get_plotlyjs

    sections, plots = [], {}
    for k, setting in enumerate(settings_of(curves)):
        names = [f"plot-{k}-{name}" for name, _ in PANELS]
        plots |= {name: plot(curves, setting, *panel) for name, panel in zip(names, PANELS, strict=True)}
        sections.append(
            _section(setting, names, curves, [r for r in rows if r.get("setting") == setting], pictures[setting])
        )
    page = Template(TEMPLATE.read_text("utf-8")).substitute(
        title=html.escape(title),
        notes="".join(f"<li>{html.escape(note)}</li>" for note in notes),
        sections="\n".join(sections),
        machine=_definitions(machine or {}),
        command=html.escape(command),
        plots=json.dumps(plots).replace("</", "<\\/"),
        plotly=get_plotlyjs(),
    )
    path.write_text(page, "utf-8")
    return path


def plot(curves: Sequence[Curve], setting: str, name: str, label: str) -> dict[str, Any]:
    """Data and layout of one interactive plot."""
    style = styles(curves)
    traces = []
    for curve in curves:
        if curve["setting"] != setting:
            continue
        color, marker = style[curve["method"]]
        traces.append({
            "type": "scatter", "mode": "lines+markers", "name": curve["method"],
            "x": _finite(curve[name]), "y": _finite(curve["objective"]), "customdata": list(curve["projections"]),
            "line": {"color": color, "width": 2}, "marker": {"symbol": SYMBOLS.get(marker, "star"), "size": 6},
            "hovertemplate": f"%{{y:.6g}} at %{{x:.4g}} {name}, %{{customdata}} projections",
        })  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": label}, "type": "log", "automargin": True},
        "yaxis": {"title": {"text": "objective"}, "automargin": True, "range": span(curves, setting)},
        "margin": {"l": 60, "r": 12, "t": 12, "b": 50}, "hovermode": "closest", "height": 360 + 20 * len(traces),
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        "font": {"family": "system-ui, sans-serif", "size": 13},
        "modebar": {"bgcolor": "rgba(0,0,0,0)"},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _finite(values: Sequence[float]) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


def _section(
    setting: str, names: Sequence[str], curves: Sequence[Curve], rows: Sequence[Mapping[str, Any]], picture: Path
) -> str:
    encoded = base64.b64encode(picture.read_bytes()).decode("ascii")
    label = html.escape(f"setting {setting}; the table below has the numbers")
    divs = "".join(
        f'<div class="plot" id="{name}" role="group" aria-label="Objective against {against}, {label}"></div>'
        for name, (against, _) in zip(names, PANELS, strict=True)
    )
    options = {c["method"]: c["options"] for c in curves if c["setting"] == setting and c.get("options")}
    beyond = html.escape(", ".join(above(curves, setting)))
    alt = html.escape(f"Objective against iterations and seconds, setting {setting}")
    return (
        f"<section><h2>Setting: {html.escape(setting)}</h2>"
        f'<div class="plots">{divs}</div><img class="still" alt="{alt}" src="data:image/png;base64,{encoded}">'
        + (f"<p>Above the plots (see the table): {beyond}.</p>" if beyond else "")
        + table(rows, setting)
        + (f"<details open><summary>Options</summary>{_definitions(options)}</details>" if options else "")
    ) + "</section>"


def table(rows: Sequence[Mapping[str, Any]], what: str = "") -> str:
    """Rows as an HTML table, named for those who do not see it; the setting is in the heading above it."""
    columns = [name for name in columns_of(rows) if name != "setting"]
    kinds = {name: ' class="number"' if is_numeric(rows, name) else "" for name in columns}
    head = "".join(f'<th scope="col"{kinds[name]}>{html.escape(heading(name))}</th>' for name in columns)
    body = ""
    for line in zip(*(texts(rows, name) for name in columns), strict=True):
        first, *others = (f"{kinds[name]}>{html.escape(cell)}" for name, cell in zip(columns, line, strict=True))
        body += f'<tr><th scope="row"{first}</th>' + "".join(f"<td{cell}</td>" for cell in others) + "</tr>"
    label = html.escape(f"Results: {what}")
    return (
        f'<div class="table" role="region" tabindex="0" aria-label="{label}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _definitions(pairs: Mapping[str, str]) -> str:
    return "<dl>" + "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in pairs.items()) + "</dl>"

"""The two plots of each figure: objective against iterations, and against seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Curve = dict[str, Any]

# Told apart by people who confuse red and green (Okabe and Ito), and by their markers in black and white.
COLORS = (
    "#000000", "#0072b2", "#009e73", "#d55e00", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f", "#4b2991",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "p", "h")
FAR = 10.0  # times the middle half of all objectives: what lies farther above would flatten everything else
PANELS = (("iterations", "iterations (stochastic gradients)"), ("seconds", "seconds"))


def settings_of(curves: Sequence[Curve]) -> list[str]:
    """The settings that occur, in order."""
    return list(dict.fromkeys(str(curve["setting"]) for curve in curves))


def styles(curves: Sequence[Curve]) -> dict[str, tuple[str, str]]:
    """A colour and a marker for each method, the same in every setting."""
    methods = list(dict.fromkeys(str(curve["method"]) for curve in curves))
    return {name: (COLORS[k % len(COLORS)], MARKERS[k % len(MARKERS)]) for k, name in enumerate(methods)}


def ceiling(curves: Sequence[Curve], setting: str) -> float:
    """The largest objective that a plot has room for; infinite where all of them fit.

    Examples
    --------
    >>> from epro.report.figures import ceiling
    >>> near = [{"setting": "s", "objective": [0.5, 0.4, 0.3]}] * 3
    >>> ceiling(near, "s"), ceiling([*near, {"setting": "s", "objective": [700.0, 90.0]}], "s")
    (inf, 0.5)
    """
    values = np.array([v for c in curves if c["setting"] == setting for v in c["objective"] if np.isfinite(v)])
    if values.size == 0:
        return np.inf
    low, high = np.quantile(values, (0.25, 0.75))
    near = values[values <= high + FAR * (high - low)]
    return np.inf if near.size == values.size or near.min() == near.max() else float(near.max())


def above(curves: Sequence[Curve], setting: str) -> list[str]:
    """The methods whose curves leave the plot."""
    top = ceiling(curves, setting)
    return [c["method"] for c in curves if c["setting"] == setting and max(c["objective"], default=-np.inf) > top]


def span(curves: Sequence[Curve], setting: str) -> tuple[float, float] | None:
    """Ends of the objective axis; None where the plotting library may choose them."""
    top = ceiling(curves, setting)
    if top == np.inf:
        return None
    low = min(v for c in curves if c["setting"] == setting for v in c["objective"] if np.isfinite(v))
    return low - 0.05 * (top - low), top + 0.05 * (top - low)


def _tick(x: float, kept: str) -> str:
    """The label of a tick whose first digit is among those kept; Matplotlib's own overlap on short axes."""
    if f"{x:e}"[0] not in kept:
        return ""
    return f"{x:g}" if x < 1e4 else f"{x:.0e}".replace("e+0", "e").replace("e+", "e")


def draw(curves: Sequence[Curve], setting: str, path: Path) -> Path:
    """Both plots of one setting, as a PNG file."""
    from matplotlib.figure import Figure

    style = styles(curves)
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    for axes, (name, label) in zip(figure.subplots(1, 2, sharey=True), PANELS, strict=True):
        for curve in curves:
            if curve["setting"] == setting:
                color, marker = style[curve["method"]]
                axes.plot(
                    curve[name], curve["objective"], color=color, marker=marker, markersize=4, linewidth=1.3,
                    label=curve["method"],
                )  # fmt: skip
        axes.set(xscale="log", xlabel=label, ylabel="objective" if name == "iterations" else "")
        low, high = axes.get_xlim()
        axes.xaxis.set_major_formatter(lambda x, _: _tick(x, "1"))
        axes.xaxis.set_minor_formatter(lambda x, _, kept="25" if high <= 100 * low else "": _tick(x, kept))
        axes.ticklabel_format(axis="y", useOffset=False)
        axes.grid(alpha=0.3)
    if (ends := span(curves, setting)) is not None:
        figure.axes[0].set_ylim(ends)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    beyond = ", ".join(above(curves, setting))
    figure.suptitle(f"Setting: {setting}" + (f" (above: {beyond})" if beyond else ""), fontsize="medium")
    figure.savefig(path, dpi=130)
    return path

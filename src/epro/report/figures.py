"""The two plots of each figure: objective against iterations, and against seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

Curve = dict[str, Any]

# Told apart by people who confuse red and green (Okabe and Ito), and by their markers in black and white.
COLORS = ("#000000", "#0072b2", "#009e73", "#d55e00", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
PANELS = (("iterations", "iterations (stochastic gradients)"), ("seconds", "seconds"))


def settings_of(curves: Sequence[Curve]) -> list[str]:
    """The settings that occur, in order."""
    return list(dict.fromkeys(str(curve["setting"]) for curve in curves))


def styles(curves: Sequence[Curve]) -> dict[str, tuple[str, str]]:
    """A colour and a marker for each method, the same in every setting."""
    methods = list(dict.fromkeys(str(curve["method"]) for curve in curves))
    return {name: (COLORS[k % len(COLORS)], MARKERS[k % len(MARKERS)]) for k, name in enumerate(methods)}


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
        axes.grid(alpha=0.3)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    figure.suptitle(f"Setting: {setting}", fontsize="medium")
    figure.savefig(path, dpi=130)
    return path

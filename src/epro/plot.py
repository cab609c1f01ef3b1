"""Pictures of results, with matplotlib; every function takes axes and returns them."""

from __future__ import annotations

from typing import Any

import numpy as np

from epro.result import Result


def convergence(result: Result, ax: Any = None, *, against: str = "steps") -> Any:
    """The objective above the best proven bound, the certified gap and the projections, along a run.

    Parameters
    ----------
    result : Result
        Of `epro.minimize`.
    ax : matplotlib Axes, optional
        A new figure by default.
    against : {"steps", "seconds", "epoch"}
        The horizontal axis.

    Returns
    -------
    matplotlib Axes
        Projections are on its twin axis on the right.

    Examples
    --------
    >>> import numpy as np
    >>> import epro
    >>> X, y = np.eye(2), np.array([1.0, 3.0])
    >>> problem = epro.Problem(epro.losses.Squared(X, y), epro.regularizers.Ridge(0.5), epro.constraints.L1Ball(1.0))
    >>> result = epro.minimize(problem, method="sgd", max_steps=500)
    >>> epro.plot.convergence(result).get_xlabel()
    'stochastic gradients'
    """
    labels = {"steps": "stochastic gradients", "seconds": "seconds", "epoch": "epoch"}
    if against not in labels:
        raise ValueError(f"convergence: against must be one of {', '.join(labels)}, got {against!r}")
    if not result.history:
        raise ValueError("convergence: the result's history is empty, as the run ended before its first epoch")
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(layout="constrained")[1]
    history = result.history
    where, fun, gap = history[against], history["fun"], history["gap"]
    bound = result.lower_bound if np.isfinite(result.lower_bound) else float(np.nanmin(fun))
    what = "proven bound" if np.isfinite(result.lower_bound) else "best value seen"
    ax.plot(where, _positive(fun - bound), "o-", markersize=3, label=f"objective above the {what}")
    if np.isfinite(gap).any():
        ax.plot(where, _positive(gap), "s--", markersize=3, label="certified gap")
    ax.set(yscale="log", xlabel=labels[against], ylabel="gap", title=str(result.get("method", "")))
    if len(where) > 1 and where[0] > 0 and where[-1] > 20 * where[0]:
        ax.set_xscale("log")
    ax.grid(alpha=0.3)
    right = ax.twinx()
    right.step(where, history["projections"], where="post", color="0.6", linewidth=1.0, label="projections")
    right.set_ylabel("projections", color="0.4")
    right.set_ylim(bottom=0)
    handles = [*ax.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
    ax.legend(handles, [str(handle.get_label()) for handle in handles], fontsize="small")
    return ax


def _positive(values: Any) -> Any:
    """What a logarithmic axis can show."""
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)

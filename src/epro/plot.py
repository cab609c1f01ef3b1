"""Pictures of results, with matplotlib; every function takes axes and returns them."""

from __future__ import annotations

import math
import textwrap
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


def coefficients(estimator: Any, ax: Any = None, *, output: int = 0) -> Any:
    """The coefficients of a fitted linear estimator, those at a bound or in an active constraint marked.

    Parameters
    ----------
    estimator : ConstrainedRegressor or ConstrainedClassifier
        Fitted.
    ax : matplotlib Axes, optional
        A new figure by default.
    output : int, default 0
        Which class, for several.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> import epro
    >>> X, y = np.eye(3), np.array([1.0, -1.0, 2.0])
    >>> ax = epro.plot.coefficients(epro.ConstrainedRegressor(positive=True).fit(X, y))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0', 'x1', 'x2']
    """
    from sklearn.utils.validation import check_is_fitted

    from epro.estimators.shorthands import coefficient_names

    check_is_fitted(estimator, "coef_")
    w = np.atleast_2d(estimator.coef_)[output]
    ax = _axes(ax, (6.4, min(max(2.5, 1.5 + 0.25 * len(w)), 20.0)))
    active = estimator.active_constraints_
    active = active[output] if isinstance(active, list) else active
    held = _columns_of(active, len(w))
    place = np.arange(len(w))
    ax.axvline(0.0, color="0.7", linewidth=0.8, zorder=0)
    ax.hlines(place, 0.0, w, color="C0", linewidth=1.5)
    ax.plot(w[~held], place[~held], "o", color="C0", label="free")
    ax.plot(w[held], place[held], "s", color="C3", label="held by a constraint")
    shown = place[:: math.ceil(len(w) / 80)]  # more names would overlap
    ax.set(yticks=shown, xlabel="coefficient")
    ax.set_yticklabels([str(name) for name in coefficient_names(estimator, len(w))[shown]])
    counts = ", ".join(f"{argument}\xa0{_count(pieces)}" for argument, pieces in active.items())
    ax.set_title("\n".join(textwrap.wrap(f"active: {counts}" if counts else "no constraints", 50)))
    ax.set_ylim(len(w) - 0.5, -0.5)
    if held.any():
        ax.legend(fontsize="small", framealpha=0.6, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def path(
    estimator: Any, X: Any, y: Any, radii: Any, ax: Any = None, *, constraint: Any = None, cv: Any = None
) -> Any:  # fmt: skip
    """Show coefficients along a growing constraint, each fit started from the one before, and cross-validated scores.

    Parameters
    ----------
    estimator : ConstrainedRegressor or ConstrainedClassifier
        Not changed; clones of it are fitted. Its first output is shown.
    X, y : arrays
        The data, as for `fit`.
    radii : sequence of float
        Tried from the smallest up.
    ax : matplotlib Axes, optional
        A new figure by default.
    constraint : callable, optional
        From a radius to a constraint; ``epro.constraints.L1Ball`` by default.
    cv : int or splitter, optional
        Draws the mean score on a twin axis, and marks the best radius.

    Returns
    -------
    matplotlib Axes
        ``ax.path_`` holds the radii, the coefficients and the scores.

    Examples
    --------
    >>> import numpy as np
    >>> import epro
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 3))
    >>> ax = epro.plot.path(epro.ConstrainedRegressor(), X, X @ [2.0, 1.0, 0.0], [0.5, 1.0, 2.0, 4.0])
    >>> ax.path_["coef"].shape
    (4, 3)
    """
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    from epro.constraints import L1Ball
    from epro.estimators.shorthands import coefficient_names

    ax, made, radii = _axes(ax), constraint or L1Ball, np.sort(np.asarray(radii, dtype=float))
    model: Any = clone(estimator)
    model.set_params(warm_start=True)
    coef: Any = []
    scores = []
    for radius in radii:
        model.set_params(constraint=made(radius)).fit(X, y)
        coef.append(np.atleast_2d(model.coef_)[0].copy())
        if cv is not None:
            one: Any = clone(model).set_params(constraint=made(radius))  # type: ignore[union-attr]
            scores.append(float(np.mean(cross_val_score(one, X, y, cv=cv))))
    coef = np.array(coef)
    _lines(ax, radii, coef, coefficient_names(model, coef.shape[1]))
    ax.set(xlabel="radius of the constraint", ylabel="coefficient")
    handles = ax.get_legend_handles_labels()[0]
    if cv is not None:
        twin, best = ax.twinx(), radii[int(np.argmax(scores))]
        handles += twin.plot(radii, scores, "k--", linewidth=1.0, label="cross-validated score (right)")
        handles += [ax.axvline(best, color="0.5", linewidth=0.8, label=f"best radius, {best:.3g}")]
        twin.set_ylabel("cross-validated score")
    place = {"loc": "upper left", "bbox_to_anchor": (1.0 if cv is None else 1.2, 1.0)}
    ax.legend(handles, [str(handle.get_label()) for handle in handles], fontsize="small", **place)
    ax.path_ = {"radii": radii, "coef": coef, "scores": np.array(scores)}
    return ax


def _lines(ax: Any, radii: Any, coef: Any, names: Any) -> None:
    """One line per column; the ten that become largest are named, the others grey."""
    largest = np.sort(np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:10])
    ax.plot(radii, np.delete(coef, largest, axis=1), color="0.8", linewidth=0.8)
    for j in largest:
        ax.plot(radii, coef[:, j], label=str(names[j]))


def _axes(ax: Any, size: Any = None) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained", figsize=size)[1]


def _columns_of(active: Any, d: int) -> Any:
    """Which columns the active pieces name: those at a bound, and both ends of tied pairs."""
    held = np.zeros(d, dtype=bool)

    def visit(piece: Any) -> None:
        if isinstance(piece, tuple) and len(piece) == 2 and isinstance(piece[1], int):
            for column in piece[1:] if isinstance(piece[0], str) else piece:
                held[column] = True
        elif isinstance(piece, list):
            for part in piece:
                visit(part)

    for pieces in active.values():
        visit(pieces)
    return held


def _count(pieces: Any) -> int:
    nested = isinstance(pieces, list) and bool(pieces) and all(isinstance(piece, list) for piece in pieces)
    return sum(map(len, pieces)) if nested else len(pieces)

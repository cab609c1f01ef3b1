"""What a run returns: the result, its closed list of statuses, and the history."""

from __future__ import annotations

import enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.optimize as so

if TYPE_CHECKING:
    from epro.constraints.base import Constraint


class Status(enum.IntEnum):
    """How a run ended; each member has a sentence, `Status.sentence`."""

    CONVERGED = 0
    MAX_STEPS = 1
    TIME_LIMIT = 2
    STOPPED = 3
    INTERRUPTED = 4
    DIVERGED = 5
    STALLED = 6

    @property
    def sentence(self) -> str:
        """What the status means."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.CONVERGED: "The certified gap is below tol * max(1, |fun|).",
    Status.MAX_STEPS: "max_steps is used up before the gap was certified below the tolerance.",
    Status.TIME_LIMIT: "The time limit is used up before the gap was certified below the tolerance.",
    Status.STOPPED: "A callback asked to stop.",
    Status.INTERRUPTED: "Interrupted; x is the last feasible point.",
    Status.DIVERGED: "The iterates overflowed; x is the last feasible point.",
    Status.STALLED: "The method cannot improve further at this precision.",
}


COLUMNS = ["epoch", "steps", "projections", "seconds", "fun", "gap", "violation", "lam", "step_size"]


class History(list[dict[str, Any]]):
    """One row per epoch; ``history["fun"]`` is a column."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return np.array([row[key] for row in self])
        return super().__getitem__(key)

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("history.to_frame() needs pandas: pip install 'epro[frames]'") from None
        return pd.DataFrame(list(self), columns=None if self else COLUMNS)


class Result(so.OptimizeResult):
    """The answer and what is known about it.

    Attributes
    ----------
    x : array
        A feasible point.
    fun : float
        f(x) + g(x), recomputed from the data.
    success : bool
        Whether ``gap <= tol * max(1, abs(fun))`` was certified.
    status : Status
        A closed enumeration; ``message`` is its sentence, with details.
    gap, lower_bound : float
        ``fun - lower_bound``, and a proven lower bound on the optimal value (infinite gap where there is none).
    violation : float
        c(x), recomputed; at most rounding error above zero.
    n_steps, n_epochs : int
        Stochastic gradients (a full gradient counts n), epochs.
    n_projections, n_cuts : int
        Projections and evaluations of c by the method. What a certificate needed beyond them is
        ``n_certificate_projections``; cuts that could be left out (see `epro.kernels.skipping`) are ``n_cuts_skipped``.
    seconds : float
        Time in the method; evaluating the objective for the history is excluded.
    history : History
        One row per epoch.
    guarantee : Guarantee
        Which theorem covers the run, with which constants, or why none does.
    choice : str
        What ``method="auto"`` chose, and why.
    normal : array or None
        A vector normal to the set near x, equal to minus the gradient of the objective up to what the gap allows (at a
        kink: to minus the subgradient that is optimal); None where no bound was proven.
    multipliers
        One for each piece of the constraint, at least zero for an inequality: the price of its right-hand side. The
        constraint's own `multipliers` says in which form. None without a ``normal``.
    active : list
        The pieces of the constraint that hold with equality at x.
    """

    def belongs_to(self, constraint: Constraint) -> None:
        """Whose multipliers and pieces `multipliers` and `active` are; both are computed when they are asked for."""
        self.__dict__["_constraint"] = constraint

    @cached_property
    def multipliers(self) -> Any:
        """The price of each piece of the constraint."""
        constraint = self.__dict__["_constraint"]
        return None if self.normal is None else constraint.multipliers(np.asarray(self.x, float), self.normal)

    @cached_property
    def active(self) -> list[Any]:
        """The pieces of the constraint that hold with equality."""
        return self.__dict__["_constraint"].active(self.x)

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds what was computed, not the constraint, which may be made of functions."""
        if "_constraint" not in self.__dict__:
            return self.__dict__
        return {"multipliers": self.multipliers, "active": self.active}

    def __repr__(self) -> str:
        shown = ["fun", "gap", "violation", "n_steps", "n_epochs", "n_projections", "n_cuts", "seconds"]
        lines = [f"{self.get('method', 'epro')}: {self.status.name}. {self.message}"]
        for name in shown:
            value = self[name]
            lines.append(f"  {name:<14} {value:.6g}" if isinstance(value, float) else f"  {name:<14} {value}")
        return "\n".join(lines)

"""What a solver yields after each epoch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from epro.protocols import Array


@dataclass(frozen=True)
class State:
    """The end of an epoch. A run can be stopped here, and resumed from here bit for bit."""

    x: Array  # a feasible point, the start of the next epoch
    epoch: int = 0  # epochs completed
    steps: int = 0  # stochastic gradients used
    step_size: float = np.nan  # eta_k of the epoch that ends here
    lam: float = np.nan  # penalty weight
    violation: float = np.nan  # c before projecting
    lower_bound: float = -np.inf  # of the optimal value, where the method knows one
    normal: Array | None = None  # to the set near x, against minus the gradient: what proved ``lower_bound``
    fun: float = np.nan  # f + g at x, where the method knows it
    exact: bool = False  # whether fun is that of this very x, summed over the data in double precision
    memory: dict[str, Any] = field(default_factory=dict)  # what else the method needs to continue: arrays and numbers
    answer: bool = True  # whether x is the method's answer so far (False: a look at a run that projects at its end)
    done: str = ""  # a reason, where the method cannot go on

    def after(self, x: Array, steps: int, **known: Any) -> State:
        """The state at the end of the next epoch, which took ``steps`` stochastic gradients."""
        fresh = {"lower_bound": -np.inf, "normal": None, "fun": np.nan, "exact": False}
        return replace(self, x=x, epoch=self.epoch + 1, steps=self.steps + steps, **{**fresh, **known})

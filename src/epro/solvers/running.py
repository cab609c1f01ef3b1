"""What SGD and OneProj share: one long epoch, looked at when the steps have doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from epro.oracles import Oracles
from epro.protocols import Array
from epro.state import State


def running_average(
    oracles: Oracles, state: State, steps: int, etas: Callable[[Array], Array], penalty: Any, move: Any, domain: Any, *,
    batch: int = 1, project: Callable[[Array], Array] | None = None,
) -> Iterator[State]:  # fmt: skip
    """One epoch of ``steps`` steps with sizes etas(t), t = 1, 2, ..; states at 8, 24, 56, .. steps and at the end.

    The state's point is ``project`` of the average so far (without ``project``, the start); the iterate itself goes on
    from where it was.
    """
    x = state.memory.get("x", state.x).copy()
    total = state.memory.get("total", np.zeros_like(x)).copy()
    done = state.steps // batch
    while done < steps:
        now = min(done + 8 * 2**state.epoch, steps)
        t = np.arange(done + 1, now + 1, dtype=float)
        oracles.steps(x, total, etas(t), penalty, move, domain, batch)
        average = oracles.finite(total / x.dtype.type(now), float(etas(t[-1:])[0]))
        state = state.after(
            state.x if project is None else project(average), (now - done) * batch, step_size=float(etas(t[-1:])[0]),
            lam=float(getattr(penalty, "lam", np.nan)), violation=oracles.violation_seen(average),
            answer=project is not None, memory=state.memory | {"x": x.copy(), "total": total.copy(), "taken": now},
        )  # fmt: skip
        yield state
        done = now

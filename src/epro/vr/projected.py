"""Accelerated projected steps, one at a time, that go on where a run was stopped."""

from __future__ import annotations

from typing import Any

from epro.oracles import Oracles
from epro.protocols import Array
from epro.solvers.apg import APG
from epro.state import State


class ProjectedSteps:
    """Those of `solvers.APG`, from x or from where they were."""

    def __init__(self, oracles: Oracles, x: Array, memory: dict[str, Any]) -> None:
        self.now = State(memory.get("x", x), memory={name: value for name, value in memory.items() if name != "x"})
        self.states = APG().states(oracles, self.now, 2**62)

    def step(self) -> None:
        self.now = next(self.states)

    def point(self) -> Array:
        """The last point."""
        return self.now.x

    def memory(self) -> dict[str, Any]:
        """What a resumed run needs."""
        return {"x": self.now.x} | self.now.memory

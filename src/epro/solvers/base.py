"""What every solver is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from epro.oracles import Oracles
from epro.problem import Problem
from epro.solvers.plans import NoGuarantee
from epro.state import State


class Solver:
    """A method: a frozen record of options that yields states.

    A subclass is a frozen dataclass with the method's options and one generator, `states`. It must be able to start
    from any state that it yielded, since that is how a run is resumed: what it needs beyond x, it keeps in
    ``state.memory``.
    """

    name: ClassVar[str]
    passes: ClassVar[int] = 50  # default budget, in passes over the data
    certifies: ClassVar[bool] = False  # whether its states bring a lower bound

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        """The states at the ends of the epochs that complete within T stochastic gradients."""
        raise NotImplementedError

    def check(self, problem: Problem) -> None:
        """Raises, naming the missing piece, where the method cannot solve the problem."""

    def guarantee(self, problem: Problem, x0: Any, T: int) -> Any:
        """The theorem that covers a run of T steps, or why none does."""
        return NoGuarantee(f"the paper states no theorem for {self.name}")

    def estimates(self, problem: Problem, x0: Any, T: int) -> tuple[str, ...]:
        """Sentences that name the estimates used where options were left out."""
        return ()

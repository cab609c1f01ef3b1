"""What every solver is."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Iterator
from typing import Any, ClassVar, Self

from epro.oracles import Oracles
from epro.problem import Problem
from epro.schedules import count
from epro.solvers.plans import NoGuarantee
from epro.state import State
from epro.validation import positive

# options that are positive numbers
POSITIVE = (
    "lam", "gamma", "eta", "eta0", "eta1", "smoothness", "step_size", "epoch_length", "smoothing", "rows_per_column",
)  # fmt: skip
WHOLE = ("t1", "batch", "inner")  # options that are whole numbers of at least one


class Solver:
    """A method: a frozen record of options that yields states.

    A subclass is a frozen dataclass with the method's options and one generator, `states`. It must be able to start
    from any state that it yielded, since that is how a run is resumed: what it needs beyond x, it keeps in
    ``state.memory``. Options named as in `POSITIVE` and `WHOLE` are checked here.
    """

    name: ClassVar[str]
    passes: ClassVar[int] = 50  # default budget, in passes over the data
    certifies: ClassVar[bool] = False  # whether its states bring a lower bound

    def __new__(cls, *args: Any, **options: Any) -> Self:
        known = [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []
        for name in options:
            if name not in known:
                close = difflib.get_close_matches(name, known, 1)
                hint = f"; did you mean {close[0]}?" if close else ""
                listed = ", ".join(known) or "none"
                raise TypeError(f"{cls.__name__} has no option {name!r}{hint} (its options: {listed})")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value: Any = getattr(self, field.name)
            name = f"{type(self).__name__}: {field.name}"
            if value is None and field.default is None:
                continue
            if field.name in POSITIVE and not (value == math.inf and self.takes_infinite(field.name)):
                object.__setattr__(self, field.name, positive(value, name))
            elif field.name in WHOLE:
                object.__setattr__(self, field.name, count(value, name))  # type: ignore[arg-type]
            elif isinstance(field.default, bool) and not isinstance(value, bool):
                raise TypeError(f"{name} must be True or False, got {value!r}")

    def takes_infinite(self, option: str) -> bool:
        """Whether an option may be infinite."""
        return False

    def states(self, oracles: Oracles, state: State, T: int) -> Iterator[State]:
        """The states at the ends of the epochs that complete within T stochastic gradients."""
        raise NotImplementedError

    def finish(self, oracles: Oracles, state: State) -> State:
        """The last state made an answer, whether the run completed or was stopped early."""
        return state

    def check(self, problem: Problem) -> None:
        """Raises, naming the missing piece, where the method cannot solve the problem."""

    def guarantee(self, problem: Problem, x0: Any, T: int) -> Any:
        """The theorem that covers a run of T steps, or why none does."""
        return NoGuarantee(f"the paper states no theorem for {self.name}")

    def estimates(self, problem: Problem, x0: Any, T: int) -> tuple[str, ...]:
        """Sentences that name the estimates used where options were left out."""
        return ()

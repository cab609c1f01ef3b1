"""What a solver may ask for: epochs of steps, projections, gradients; counted, timed, on the engine that fits.

Solvers hold no arithmetic and no bookkeeping: they call these verbs and yield states.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from epro.clock import Stopwatch
from epro.constraints import Everywhere, L2Ball
from epro.constraints.base import Counted, PythonConstraint
from epro.kernels.orda import orda_steps
from epro.kernels.records import compilable
from epro.kernels.sgd import Parts, batch_gradient, sgd_steps
from epro.kernels.skipping import Skipping, new_memo
from epro.own_parts import HUGE, ask
from epro.packing import PackedEpoch, packable, packed_form, packed_steps
from epro.penalties import Hinge, NoPenalty
from epro.problem import Problem
from epro.protocols import Array, Index
from epro.schedules import Epoch
from epro.sparse_epochs import active_epoch

BLOCK = 1 << 15  # draws made at a time: fixed, so that timing never changes a trajectory
CHUNK_SECONDS = 0.2  # a kernel call lasts about that long, so that Ctrl-C is heard


class Diverged(ArithmeticError):
    """The iterates of an epoch overflowed."""


class Oracles:
    """The problem as a solver sees it.

    Parameters
    ----------
    problem : Problem
    rng : numpy.random.Generator
    engine : {"auto", "python", "compiled"}
        "auto" compiles wherever no part is written in plain Python.
    """

    skip_cuts = True  # leave out dear cuts that cannot be violated; no bit of a trajectory depends on it
    packing = True  # take metric learning to its packed kernel

    def __init__(self, problem: Problem, rng: np.random.Generator, engine: str = "auto") -> None:
        self.problem, self.rng, self.engine = problem, rng, engine
        loss, shape, dtype = problem.loss, problem.shape, problem.dtype
        self.counts = np.zeros(3, np.int64)  # cuts, projections, cuts left out
        self.work = problem.constraint.work(shape)
        self.constraint = Counted(problem.constraint.record(shape, dtype), self.counts)
        g = problem.regularizer.record(shape, dtype)
        self.parts = Parts(loss.atoms, loss.y, loss.weights, loss.link, g, self.constraint)
        self.everywhere = Everywhere().record(shape, dtype)
        self.clock = Stopwatch()
        self.choice, self.target = "", 1e-6  # what method="auto" chose and why; the relative gap that is asked for
        self._seconds_per_step = 0.0
        self._compiled: set[Any] = set()
        if engine == "compiled" and not compilable(self.parts):
            raise ValueError(
                "engine='compiled' needs built-in parts (or NamedTuple records of your own), but a part is plain Python"
            )

    # -- counts

    @property
    def n_cuts(self) -> int:
        """Evaluations of c so far."""
        return int(self.counts[0])

    @property
    def n_projections(self) -> int:
        """Projections so far."""
        return int(self.counts[1])

    @property
    def n_cuts_skipped(self) -> int:
        """Cuts left out, because c is Lipschitz and was negative enough nearby."""
        return int(self.counts[2])

    # -- the verbs

    def project(self, x: Array) -> Array:
        """The nearest feasible point."""
        self.counts[1] += 1
        with self._overflows(x, np.nan):
            p = ask(self.problem.constraint, "project", self.finite(x), shape=x.shape)
        return np.ascontiguousarray(p, dtype=x.dtype)

    def finite(self, x: Array, step_size: float = np.nan) -> Array:
        """x itself; `Diverged` where it is not finite."""
        if not np.isfinite(x).all():
            size = "" if np.isnan(step_size) else f" of {step_size:.3g}"
            raise Diverged(f"a step size{size} made the iterates overflow")
        return x

    @contextmanager
    def _overflows(self, x: Array, step_size: float) -> Iterator[None]:
        """An error that a part raises because x overflowed is `Diverged`."""
        try:
            yield
        except ValueError:  # LinAlgError is one
            self.finite(np.where(np.abs(x) < HUGE, x, np.inf), step_size)
            raise

    def violation(self, x: Array) -> float:
        """c(x)"""
        self.counts[0] += 1
        return self.problem.violation(x)

    def violation_seen(self, x: Array) -> float:
        """c(x) for the history: no step depends on it, so it is neither counted nor on the clock."""
        with self.clock.paused():
            return self.problem.violation(x)

    def epoch(self, x: Array, epoch: Epoch, penalty: Any, move: Any, domain: Any = None, batch: int = 1) -> Array:
        """One epoch of stochastic steps from x; the average of its points x_1 .. x_T."""
        domain = self.everywhere if domain is None else domain
        total = active_epoch(self, x, epoch.step_sizes(), penalty, move, domain, batch)
        if total is None:
            x, total = x.copy(), np.zeros_like(x)
            self.steps(x, total, epoch.step_sizes(), penalty, move, domain, batch)
        return self.finite(total / x.dtype.type(epoch.steps), float(np.max(epoch.step_size)))

    def steps(
        self, x: Array, total: Array, etas: Array, penalty: Any, move: Any, domain: Any = None, batch: int = 1
    ) -> None:
        """len(etas) stochastic steps, moving x in place and adding x_1 .. x_T to ``total``."""
        domain = self.everywhere if domain is None else domain
        if self._packs(penalty, move, domain, batch):
            packed = PackedEpoch(self._packed, penalty, move, x, total, self.work)
            if packed.fits:
                return self._packed_steps(packed, x, total, etas, batch)
        chunks = self._chunks(etas, batch)
        self.run_steps(self.parts_under(penalty), x, total, chunks, penalty, move, domain, self.work)

    def run_steps(
        self, parts: Parts, x: Array, total: Array, chunks: Iterable[tuple[Index, Array]], penalty: Any, move: Any,
        domain: Any, work: Array,
    ) -> None:  # fmt: skip
        """Steps with these draws and step sizes, in as many kernel calls as there are chunks."""
        kernel = self._engine(sgd_steps, parts, penalty, domain, move)
        for draws, etas in chunks:
            self._warm_up(kernel, parts, penalty, domain, move, x, total, work, draws[:0], etas[:0])
            with self._overflows(x, etas[0]):
                kernel(parts, penalty, domain, move, x, total, work, draws, etas)
            self.finite(x, etas[-1])

    def _packs(self, penalty: Any, move: Any, domain: Any, batch: int) -> bool:
        """Whether the steps go to the packed kernel of metric learning."""
        return self.engine != "python" and domain is self.everywhere and packable(self._packed, penalty, move, batch)

    @functools.cached_property
    def _packed(self) -> Any:
        with self.clock.paused():  # packing compiles its own small kernels
            return packed_form(self.parts, self.problem.shape, self.counts, self.skip_cuts) if self.packing else None

    def _packed_steps(self, packed: PackedEpoch, x: Array, total: Array, etas: Array, batch: int) -> None:
        self._warm_up(packed_steps, *packed.arguments(np.empty((0, batch), np.int64), etas[:0]))
        for draws, etas_part in self._chunks(etas, batch):
            with self._overflows(packed.x, etas_part[0]):
                packed_steps(*packed.arguments(draws, etas_part))
            self.finite(packed.x, etas_part[-1])
        packed.leave(x, total)

    def parts_under(self, penalty: Any) -> Parts:
        """The problem as this penalty needs it: without the constraint, or leaving out cuts that cannot matter."""
        if isinstance(penalty, NoPenalty):
            return self.parts._replace(constraint=self.everywhere)
        return self._skipping if isinstance(penalty, Hinge) else self.parts

    @functools.cached_property
    def _skipping(self) -> Parts:
        constraint, record = self.problem.constraint, self.constraint.inner_record
        if not (self.skip_cuts and constraint.dear and constraint.lipschitz and hasattr(record, "above")):
            return self.parts
        pays = self.problem.shape[0] // 10 if getattr(record, "budget", 0) else 0
        reference = np.zeros(math.prod(self.problem.shape), self.problem.dtype)
        skipping = Skipping(self.constraint, constraint.lipschitz, pays, reference, new_memo(), self.counts[2:])
        return self.parts._replace(constraint=skipping)

    def orda(
        self, x1: Array, steps: int, eta: float, lam: float, query_u: bool, batch: int = 1, domain: Any = None
    ) -> Array:
        """Algorithm 2: ``steps`` iterations of ORDA from x1; its last point."""
        domain = self.everywhere if domain is None else domain
        x, z, dual = x1.copy(), x1.copy(), np.zeros_like(x1)
        kernel = self._engine(orda_steps, self.parts, domain)
        t0, nothing = 1, np.empty((0, batch), np.int64)
        self._warm_up(kernel, self.parts, domain, lam, eta, query_u, t0, x1, x, z, dual, self.work, nothing)
        for draws, _ in self._chunks(np.empty(steps), batch):
            with self._overflows(x, eta):
                kernel(self.parts, domain, lam, eta, query_u, t0, x1, x, z, dual, self.work, draws)
            t0 += len(draws)
            self.finite(x, eta)
        return x

    def every_step(self) -> Any:
        """The constraint as a domain to project on at every step."""
        record = self.constraint.inner_record
        if hasattr(record, "project"):
            return self.constraint
        return Counted(PythonConstraint(self.problem.constraint), self.counts)

    def ball(self, radius: float | None) -> Any:
        """A ball around the origin as a domain for every step; everywhere, where the radius is not finite."""
        if radius is None or not np.isfinite(radius):
            return self.everywhere
        return L2Ball(radius).record(self.problem.shape, self.problem.dtype)

    def gradient(self, x: Array) -> Array:
        """A subgradient of f + g at x."""
        return self.problem.gradient(x)

    def batch_gradient(self, x: Array, rows: Index) -> Array:
        """The mean gradient of f over some rows (drawn with replacement, say)."""
        p, slopes = np.empty(rows.size, x.dtype), np.empty(rows.size, x.dtype)
        kernel = self._engine(batch_gradient, self.parts)
        out = np.zeros_like(x)
        self._warm_up(kernel, self.parts, rows[:0], x, p[:0], slopes[:0], out)
        kernel(self.parts, rows, x, p, slopes, out)
        return out

    def draw(self, size: int) -> Index:
        """Rows drawn uniformly with replacement."""
        return self.rng.integers(self.problem.n, size=size)

    # -- engines and chunks

    def _engine(self, kernel: Any, *records: Any) -> Any:
        if self.engine != "python" and all(compilable(record) for record in records):
            return kernel
        return getattr(kernel, "py_func", kernel)

    def _warm_up(self, kernel: Any, *arguments: Any) -> None:
        """Compiles a kernel, by a call with no steps, while the clock stands still."""
        key = (kernel, *map(type, arguments[:4]))
        if key not in self._compiled:
            with self.clock.paused():
                kernel(*arguments)
            self._compiled.add(key)

    def blocks(self, etas: Array, batch: int) -> Iterator[tuple[Index, Array]]:
        """Draws for these steps, in blocks of fixed size, with their step sizes."""
        for block in range(0, len(etas), BLOCK):
            part = etas[block : block + BLOCK]
            yield self.rng.integers(self.problem.n, size=(len(part), batch)), part

    def _chunks(self, etas: Array, batch: int) -> Iterator[tuple[Index, Array]]:
        """Blocks of draws, cut into kernel calls of about `CHUNK_SECONDS`."""
        for draws, part in self.blocks(etas, batch):
            first = 0
            while first < len(part):
                size = max(1, int(CHUNK_SECONDS / self._seconds_per_step)) if self._seconds_per_step else 64
                started = time.perf_counter()
                yield draws[first : first + size], part[first : first + size]
                done = len(part[first : first + size])
                self._seconds_per_step = max((time.perf_counter() - started) / done, 1e-9)
                first += done

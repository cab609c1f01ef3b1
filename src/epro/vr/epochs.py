"""The state of `EproVR` between epochs: anchor, step size, epoch length, and which method goes on."""

from __future__ import annotations

import copy
import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from epro import costs, passes
from epro.certificate import Certificate, Certifier
from epro.curvature import mean_smoothness, row_smoothness
from epro.kernels.vr import vr_steps
from epro.losses.smoothed import smoothed
from epro.oracles import Oracles
from epro.protocols import Array
from epro.state import State
from epro.vr import white
from epro.vr.domain import inner_domain
from epro.vr.projected import ProjectedSteps
from epro.vr.white import WhiteSteps

if TYPE_CHECKING:
    from epro.solvers.epro_vr import EproVR

LONGEST = 16.0  # passes of inner steps
SMALLEST = 0.01  # step size, of the first one
CHEAP_PROJECTION = 0.05  # of a gradient: below it accelerated projected steps are tried at once
SAMPLING = 0.2  # of all rows one by one: below it a gradient is too cheap to sample rows
BLOCK = 10  # accelerated steps between two certificates
ANCHOR = (
    "eta", "first_eta", "length", "mu", "failures", "mode", "rate_vr", "rate_apg", "theta", "idle", "normal", "lower",
)  # fmt: skip
KEPT = (*ANCHOR, "u", "given_up")  # the last two belong to the certifier
FAST = "fast_"  # what a memory's names of the accelerated steps begin with


class VarianceReduced:
    """Anchor and adaptation."""

    def __init__(self, options: EproVR, oracles: Oracles, state: State) -> None:
        self.options, self.oracles, self.problem = options, oracles, oracles.problem
        self.loss = self.problem.loss
        self.certifier = Certifier(self.problem, oracles.project)
        self.domain, domain_cost = inner_domain(oracles)
        self.batch = options.batch or self._batch(domain_cost)
        self.projection_cost = costs.projection_cost(self.problem.constraint, self.problem.shape)
        self.gradient_cost = costs.gradient_cost(self.loss)
        self.slopes = np.empty(self.loss.n, self.loss.dtype)
        self.fast: ProjectedSteps | WhiteSteps | None = None  # accelerated steps, where they have begun
        self._begin(state)

    # -- the state

    def _begin(self, state: State) -> None:
        self.x, n = state.x, self.loss.n
        self.length = self.options.epoch_length * n
        passes_cost = costs.row_cost(self.loss) * n
        # where a sum over all rows costs less than a few of them (triplets), there is nothing to sample; and in white
        # coordinates accelerated steps need few passes
        whole = self.gradient_cost < SAMPLING * passes_cost or white.applies(self.problem)
        self.mode = "apg" if self.options.accelerate and whole else "vr"
        self.failures, self.rate_vr, self.rate_apg = 0, -math.inf, math.inf
        self.mu, self.lower, self.normal = 0.0, -math.inf, np.zeros(self.x.shape)
        self.eta, self.first_eta = math.nan, math.nan  # of inner steps, once there have been some
        self.theta, self.idle = 0.0, 0
        known = {name: state.memory[name] for name in KEPT if name in state.memory}
        if self.loss.smoothness is None and not known:
            first = passes.tangent(self.loss, self.x)
            size = max(first.magnitude, 1e-12)
            self.mu = self.options.smoothing or 0.1 * max(first.fun, 1e-3) / size
        for name, value in known.items():
            owner = self.certifier if name in ("u", "given_up") else self
            setattr(owner, name, str(value) if name == "mode" else value)
        if known:
            self.length, self.failures, self.idle = float(self.length), int(self.failures), int(self.idle)
            self.tangent = passes.tangent(self.loss, self.x, self.mu, self.slopes)
            self.fun = self.tangent.fun + float(self.problem.regularizer.value(self.tangent.x))
        else:
            self._take(self.x, self._certificate(self.x))
        self._enter_mu()
        fast = {name.removeprefix(FAST): value for name, value in state.memory.items() if name.startswith(FAST)}
        if fast:
            self.fast = self._fast_steps(fast)

    def memory(self) -> dict[str, Any]:
        """What a resumed run needs beyond x."""
        owners = {"u": self.certifier.u, "given_up": self.certifier.given_up}
        values = {name: owners[name] if name in owners else getattr(self, name) for name in KEPT}
        fast = {} if self.fast is None else {FAST + name: value for name, value in self.fast.memory().items()}
        return {name: value for name, value in values.items() if value is not None} | fast

    @property
    def gap(self) -> float:
        return self.fun - self.lower

    def _certificate(self, x: Array) -> Certificate:
        """At x, which may become the anchor: its slopes are kept where it does."""
        self.fresh = np.empty_like(self.slopes)
        return self.certifier.from_tangent(passes.tangent(self.loss, x, self.mu, self.fresh))

    def _take(self, x: Array, c: Certificate) -> None:
        self.x, self.tangent, self.slopes, self.fun = x, c.tangent, self.fresh, c.fun
        if c.normal is not None:
            size, change = float(np.linalg.norm(c.normal)), float(np.linalg.norm(c.normal - self.normal))
            self.normal, self.theta = c.normal, self.options.centring * max(0.0, 1.0 - 4.0 * change / max(size, 1e-300))
        self.lower = max(self.lower, c.lower_bound)

    def _enter_mu(self) -> None:
        """The problem with this mu, as the inner steps see it."""
        self.inner_problem = smoothed(self.problem, self.mu)
        view = copy.copy(self.oracles)
        view.problem, view.parts = self.inner_problem, self.oracles.parts._replace(link=self.inner_problem.loss.link)
        self.view, self.fast, self.fitted = view, None, False

    def _fit_step_size(self) -> None:
        """A step size that the smoothness with this mu allows, as much of it as was left with the last mu."""
        loss, ridge = self.inner_problem.loss, self.problem.regularizer.ridge
        mean, row = mean_smoothness(loss) + ridge, row_smoothness(loss) + ridge
        first = 1.0 / max(2.0 * mean + 4.0 * row / self.batch, 1e-300)  # zero: data of zeros
        if math.isnan(self.eta):
            self.eta = self.options.step_size or first
        else:
            self.eta *= first / self.first_eta
        self.first_eta, self.fitted = first, True

    def _batch(self, domain_cost: float) -> int:
        """So many rows that the dense part of a step costs no more than they do."""
        rest = 3.0 * math.prod(self.problem.shape) + domain_cost
        size = max(1.0, rest / costs.row_cost(self.loss))
        if len(self.problem.shape) == 2:
            size = max(size, 100.0)  # rank-one updates of matrices are worth a call of BLAS
        return int(min(2 ** math.ceil(math.log2(size)), max(1, self.loss.n // 8)))

    # -- steps

    @property
    def next_steps(self) -> int:
        """Stochastic gradients of the next call of `advance`."""
        return int(self.length) + self.loss.n if self.mode == "vr" else (BLOCK + 1) * self.loss.n

    def advance(self, state: State) -> State:
        """One epoch, or one block of accelerated steps, with its certificate."""
        if self.mode == "vr" and not self.fitted:
            self._fit_step_size()
        before, mode, eta, steps, mu = self.gap, self.mode, self.eta, self.next_steps, self.mu
        cost = self._epoch() if mode == "vr" else self._accelerated()
        rate = math.log(max(before, 1e-300) / max(self.gap, 1e-300)) / cost if self.gap > 0 else math.inf
        if mode == "vr":
            self.rate_vr = rate
            self._adapt(before)
        else:
            self.rate_apg = rate
        self._shrink_mu()
        self._choose()
        self.idle = 0 if self.gap < before or mu != self.mu else self.idle + 1
        return state.after(
            self.x, steps, step_size=eta, fun=self.fun, lower_bound=self.lower, memory=self.memory(),
            violation=self.violation, normal=self.normal if self.normal.any() else None,
            done="The steps no longer improve the point at this precision." if self.idle >= 8 else "",
        )  # fmt: skip

    def _epoch(self) -> float:
        """Inner steps from the anchor, a projection, a certificate; returns its multiply-adds."""
        steps = max(2, int(self.length) // self.batch)
        x, total = self.x.copy(), np.zeros_like(self.x)
        G = (self.tangent.slope + self.theta * self.normal).astype(x.dtype)
        half = steps // 2
        parts, oracles = self.view.parts, self.oracles
        kernel = oracles._engine(vr_steps, parts, self.domain)
        none = np.empty((0, self.batch), np.int64)
        oracles._warm_up(kernel, parts, self.domain, self.slopes, G, x, total, none, self.eta)
        for count, reset in ((half, True), (steps - half, False)):
            for draws, _ in oracles._chunks(np.empty(count), self.batch):
                kernel(parts, self.domain, self.slopes, G, x, total, draws, self.eta)
            if reset:
                total[...] = 0.0
        average = total / x.dtype.type(steps - half)
        self.violation = math.nan
        if np.isfinite(average).all():
            self.violation = self.problem.violation(average)
            self._offer(oracles.project(average))
        else:
            self.eta *= 0.25
        inner = costs.row_cost(self.loss) * self.batch * steps * 2.0
        return inner + self.gradient_cost + 2.0 * self.projection_cost

    def _offer(self, x: Array) -> None:
        """The new anchor, where it is better; its bound counts either way."""
        c = self._certificate(x)
        if c.fun <= self.fun or not math.isfinite(self.fun):
            self._take(x, c)
        else:
            self.lower = max(self.lower, c.lower_bound)

    def _accelerated(self) -> float:
        """`BLOCK` accelerated projected steps that keep their momentum from block to block."""
        if self.fast is None:
            self.fast = self._fast_steps({})
        for _ in range(BLOCK):
            self.fast.step()
        last = self.fast.point()
        self.violation = self.problem.violation(last)
        self._offer(last)
        return (BLOCK + 1) * (self.gradient_cost + self.projection_cost)

    def _fast_steps(self, memory: dict[str, Any]) -> ProjectedSteps | WhiteSteps:
        """Accelerated steps from the anchor, or from where they were."""
        if not white.applies(self.problem):
            return ProjectedSteps(self.view, self.x, memory)
        W, inverse = self._whitening
        return WhiteSteps(self.inner_problem, self.x, W, inverse, self.oracles.counts, memory)

    @functools.cached_property
    def _whitening(self) -> tuple[Array, Array]:
        return white.whitening(self.problem)

    # -- adaptation

    def _adapt(self, before: float) -> None:
        if self.gap <= 0.5 * before:
            self.failures = 0
            return
        self.failures += 1
        if self.failures % 2 == 1 and self.length < LONGEST * self.loss.n:
            self.length *= 2.0
        elif self.eta > SMALLEST * self.first_eta:
            self.eta *= 0.5

    def _shrink_mu(self) -> None:
        """Smaller where what the smoothing gives up, the anchor's loss above its affine bound, is most of the gap."""
        if self.mu > 0.0 and self.gap <= 1.5 * (self.tangent.fun - self.tangent.height):
            self.mu *= 0.25
            self.length = min(2.0 * self.length, LONGEST * self.loss.n)
            self.failures = 0
            self._enter_mu()
            self.tangent = passes.tangent(self.loss, self.x, self.mu, self.slopes)

    def _choose(self) -> None:
        if self.gradient_cost < SAMPLING * costs.row_cost(self.loss) * self.loss.n:
            return
        cheap = self.projection_cost <= CHEAP_PROJECTION * self.gradient_cost
        if not self.options.accelerate or not (cheap or self.failures >= 3 or self.mode == "apg"):
            return
        if self.mode == "vr" and not self.rate_vr > self.rate_apg:
            self.mode = "apg"
        elif self.mode == "apg" and self.rate_apg < 0.5 * self.rate_vr:
            self.mode, self.fast, self.rate_apg = "vr", None, 2.0 * max(self.rate_apg, 0.0)

"""Runs that end before their time: what their result may still claim, and that there is one."""

import numpy as np
import pytest
from tests.catalog import small_problem

import epro
from epro import constraints
from epro.regularizers import Ridge
from epro.result import Status

METHODS = ["epro-sgd", "epro-orda", "oneproj", "apg", "epro-newton"]


def run(problem, method="epro-sgd", **kwargs):
    return epro.minimize(problem, method, **{"max_steps": 1000, "engine": "python", "tol": 0} | kwargs)


def covered_problem():
    return epro.Problem(small_problem().loss, Ridge(0.1), constraints.L2Ball(0.5))


@pytest.mark.parametrize(("method", "steps"), [("epro-sgd", 8 + 16), ("epro-orda", 129 + 257)])
def test_the_guarantee_is_that_of_the_steps_taken(method, steps):
    stopped = run(covered_problem(), method, callbacks=[lambda problem, state: state.epoch == 2]).guarantee
    assert (stopped.T, stopped.epochs) == (steps, 2)
    assert stopped.bound >= stopped.bound_after(2)
    assert stopped.bound > run(covered_problem(), method).guarantee.bound


def test_no_epoch_no_guarantee():
    def watcher(problem, state): ...

    def at_once(run):
        raise KeyboardInterrupt

    watcher.attach = at_once
    none = run(covered_problem(), callbacks=[watcher]).guarantee
    assert str(none).startswith("no theorem covers this run: no epoch was completed (of 6 within 1000")


class Interrupting(constraints.L1Ball):
    """Ctrl-C in the ``at``-th projection or value."""

    verb, at, calls = "", 0, 0

    def _call(self, verb):
        if verb == self.verb:
            type(self).calls += 1
            if type(self).calls == self.at:
                raise KeyboardInterrupt

    def value(self, x):
        self._call("value")
        return super().value(x)

    def project(self, x):
        self._call("project")
        return super().project(x)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("verb", ["value", "project"])
def test_an_interruption_while_the_result_is_made_loses_nothing(method, verb):
    """The last call belongs to the last certificate, or to the last look at the violation."""

    def solve(at):
        kind = type("Counting", (Interrupting,), {"verb": verb, "at": at, "calls": 0})
        problem = epro.Problem(small_problem().loss, Ridge(0.1), kind(0.7))
        return run(problem, method, max_steps=3000), kind

    whole, kind = solve(at=0)
    result, _ = solve(at=kind.calls)
    assert result.status is Status.INTERRUPTED
    assert np.array_equal(result.x, whole.x)
    assert result.violation <= 1e-9

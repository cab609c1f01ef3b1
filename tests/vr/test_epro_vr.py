"""epro-vr: certified on every kind of problem, with few projections."""

from __future__ import annotations

import numpy as np
import pytest

import epro
from epro import constraints, losses, regularizers
from epro.callbacks import Checkpoint
from epro.losses.hinge import HingeLink
from epro.losses.smoothed import Smoothed, SmoothedLink
from epro.solvers import EproVR
from epro.vr.white import WhiteSteps, whitening


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def data(rng, n=2000, d=10):
    X = rng.standard_normal((n, d))
    return X, X @ np.linspace(-0.3, 0.5, d) + rng.standard_normal(n)


SETS = {
    "none": None,
    "l1": constraints.L1Ball(0.5),
    "monotone": constraints.Monotone(),
    "polyhedron": constraints.Polyhedron(np.vstack([np.tril(np.ones((10, 10))), -np.eye(10)]), np.full(20, 0.2)),
    "affine": constraints.Affine(np.ones((1, 10)), [0.5]),
    "intersection": constraints.Intersection([constraints.L2Ball(0.5), constraints.Monotone()]),
}


@pytest.mark.parametrize("name", ["Squared", "Logistic", "Hinge", "Absolute"])
@pytest.mark.parametrize("kind", SETS)
def test_certified_on_all_kinds_of_problems(name, kind, rng):
    X, y = data(rng)
    target = np.where(y > 0, 1.0, -1.0) if name in ("Logistic", "Hinge") else y
    problem = epro.Problem(getattr(losses, name)(X, target), regularizers.Ridge(1e-2), SETS[kind])
    result = epro.minimize(problem, "epro-vr", tol=1e-3)
    assert result.success and result.gap <= 1e-3 * max(1.0, abs(result.fun))
    assert result.violation <= 1e-9 and result.n_certificate_projections == 0


def test_few_projections_on_a_polyhedron(rng):
    X, y = data(rng, 20_000, 20)
    A, b = -np.diff(np.eye(20), axis=0), np.zeros(19)
    loss = losses.Logistic(X, np.where(y > 0, 1.0, -1.0))
    problem = epro.Problem(loss, regularizers.Ridge(1e-3), constraints.Polyhedron(A, b))
    result = epro.minimize(problem, EproVR(accelerate=False), tol=1e-6)
    assert result.success and result.n_projections <= 20


def test_the_same_seed_gives_the_same_bits(rng):
    X, y = data(rng)
    problem = epro.Problem(losses.Squared(X, y), regularizers.Ridge(1e-2), constraints.Monotone())
    first, second = (epro.minimize(problem, "epro-vr", tol=1e-6, random_state=3) for _ in range(2))
    assert np.array_equal(first.x, second.x) and first.n_steps == second.n_steps


def test_engines_agree(rng):
    X, y = data(rng, 300, 5)
    problem = epro.Problem(losses.Squared(X, y), regularizers.Ridge(1e-1), constraints.L1Ball(0.5))
    method = EproVR(accelerate=False, batch=2)
    runs = [epro.minimize(problem, method, tol=0.0, max_steps=2500, engine=e) for e in ("python", "compiled")]
    np.testing.assert_allclose(runs[0].x, runs[1].x, rtol=1e-12, atol=1e-14)


def test_an_envelope_is_one(rng):
    """Below the loss by at most mu slope^2/2, with slopes of the loss and its own derivative."""
    link, envelope = HingeLink(), SmoothedLink(HingeLink(), 0.5)
    for p in np.linspace(-2, 3, 51):
        s = envelope.slope(p, 1.0)
        assert 0.0 <= link.loss(p, 1.0) - envelope.loss(p, 1.0) <= 0.25 * link.slope(p, 1.0) ** 2 + 1e-15
        change = (envelope.loss(p + 1e-6, 1.0) - envelope.loss(p - 1e-6, 1.0)) / 2e-6
        assert change == pytest.approx(s, abs=1e-5)
        t = envelope.implicit(p, 1.0, 0.3)
        assert t == pytest.approx(envelope.slope(p - 0.3 * t, 1.0), abs=1e-12)


def triplet_problem(rng, floor=0.0):
    X = rng.standard_normal((60, 6)) * np.logspace(0, -1, 6)
    classes = X[:, 0] > 0
    a = rng.integers(60, size=200)
    same = [rng.choice(np.flatnonzero(classes == classes[i])) for i in a]
    other = [rng.choice(np.flatnonzero(classes != classes[i])) for i in a]
    loss = losses.TripletHinge(X, np.column_stack([a, same, other]))
    return epro.Problem(loss, regularizers.Ridge(1e-2), constraints.PSD(floor))


@pytest.mark.parametrize("floor", [0.0, 0.1])
def test_metric_learning_in_white_coordinates(floor, rng):
    problem = triplet_problem(rng, floor)
    result = epro.minimize(problem, "epro-vr", tol=1e-4)
    assert result.success and np.linalg.eigvalsh(result.x)[0] >= floor - 1e-9


def test_white_steps_descend_to_the_optimum_of_the_smoothed_loss(rng):
    problem = triplet_problem(rng, 0.1)
    inner = epro.Problem(Smoothed(problem.loss, 0.1), problem.regularizer, problem.constraint)
    x = problem.constraint.project(np.zeros(problem.shape))
    steps = WhiteSteps(inner, x, *whitening(problem), np.zeros(3, np.int64), {})
    for _ in range(100):
        steps.step()
    best = epro.minimize(inner, "apg", tol=1e-9)
    assert best.success and inner.value(steps.point()) <= best.fun + 1e-8


class Killed(Exception):
    pass


def three_kinds(kind, rng):
    """Problems whose epochs are inner steps, accelerated projected steps, and those in white coordinates."""
    if kind == "white":
        return triplet_problem(rng), EproVR()
    X, y = data(rng, 300)
    if kind == "accelerated":  # columns over three decades, so that it takes more than a few steps
        X, y = X * np.logspace(0, -3, 10), 0.1 * y
    problem = epro.Problem(losses.Huber(X, y), regularizers.Ridge(1e-6), constraints.L1Ball(0.5))
    return problem, EproVR(accelerate=kind == "accelerated")


@pytest.mark.parametrize("at", [2, 5])
@pytest.mark.parametrize("kind", ["inner", "accelerated", "white"])
def test_a_killed_run_resumes_bit_for_bit(kind, at, tmp_path):
    def kill(problem, state):
        if state.epoch == at:
            raise Killed

    def run(**options):
        problem, method = three_kinds(kind, np.random.default_rng(0))
        return epro.minimize(problem, method, tol=1e-13, **options)

    path, limit = tmp_path / "run.ckpt", 300 * 120
    whole = run(max_steps=limit)
    assert whole.n_epochs > 6
    with pytest.raises(Killed):
        run(max_steps=limit, callbacks=[Checkpoint(path, every=0), kill])
    resumed = run(resume=path)
    assert np.array_equal(whole.x, resumed.x)
    for name in ("fun", "gap", "n_steps", "n_epochs", "n_projections", "status"):
        assert whole[name] == resumed[name], name
    for column in ("fun", "gap", "step_size", "projections"):
        assert np.array_equal(whole.history[column], resumed.history[column], equal_nan=True), column


def test_metrics_in_single_precision_come_as_near_as_rounding_allows():
    """A model that lies below the objective by rounding alone does not shorten the accelerated steps for good."""
    X = np.random.default_rng(0).standard_normal((60, 6)).astype(np.float32)
    i = np.arange(60)
    loss = losses.TripletHinge(X, np.column_stack([i, (i + 3) % 60, (i + 1) % 60]))
    problem = epro.Problem(loss, regularizers.Ridge(0.1), constraints.PSD(0.1))
    result = epro.minimize(problem, "epro-vr", tol=1e-5, max_steps=60_000)
    assert result.x.dtype == np.float32
    assert result.gap <= 5e-5

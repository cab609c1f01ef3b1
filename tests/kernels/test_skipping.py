"""Leaving cuts out changes no bit; the packed kernel walks where the general one walks."""

import numpy as np
import pytest

import epro
from epro import constraints, losses
from epro.datasets import make_cora_like, make_triplets
from epro.moves import Explicit, Implicit, Proximal
from epro.oracles import Oracles
from epro.penalties import Hinge, PrimalDual, ProxLinear, Softplus
from epro.regularizers import Linear, OffDiagonalL1, Ridge

D = 40


def metric(kind="csr", floor=1e-3, budget=8):
    X, y = make_cora_like(0, d=D, sizes=(30, 40, 20), words=6)
    pull = np.cov(X.toarray().T)
    g = Ridge(0.1) + OffDiagonalL1(0.01) + Linear((pull + pull.T) / 2)
    points = X if kind == "csr" else X.toarray()
    return epro.Problem(losses.TripletHinge(points, make_triplets(y, 200)), g, constraints.PSD(floor, budget=budget))


HINGE, EXPLICIT = Hinge(5.0), Explicit()


def walk(
    problem, start, *, steps=30, eta=0.01, penalty=HINGE, move=EXPLICIT, batch=1, packing=True, skip=True,
    engine="auto",
):  # fmt: skip
    """The last point, the sum of the points, and the oracles."""
    oracles = Oracles(problem, np.random.default_rng(0), engine)
    oracles.packing, oracles.skip_cuts = packing, skip
    x = start.astype(problem.dtype)
    total = np.zeros_like(x)
    oracles.steps(x, total, np.full(steps, eta), penalty, move, None, batch)
    return x, total, oracles


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize(
    "kind, penalty, move",
    [
        ("csr", Hinge(5.0), Explicit()), ("dense", Hinge(5.0), Explicit()), ("csr", Hinge(5.0), Implicit()),
        ("csr", Softplus(5.0, 0.01), Proximal()), ("csr", ProxLinear(np.inf), Implicit()),
    ],
)  # fmt: skip
def test_packed_and_general_kernels_agree(kind, batch, penalty, move):
    problem, start = metric(kind), 1e-3 * np.eye(D)
    x, total, packed = walk(problem, start, penalty=penalty, move=move, batch=batch)
    y, sums, general = walk(problem, start, penalty=penalty, move=move, batch=batch, engine="python")
    assert packed._packs(penalty, move, packed.everywhere, batch)
    assert np.abs(x - start).max() > 1e-2
    np.testing.assert_allclose(x, y, rtol=0, atol=1e-12)
    np.testing.assert_allclose(total, sums, rtol=0, atol=1e-12)
    assert packed.n_cuts == general.n_cuts == 30
    assert np.array_equal(x, x.T)


def test_the_multiplier_of_the_primal_dual_penalty_agrees():
    multipliers = np.zeros(1), np.zeros(1)
    points = [
        walk(metric(), 1e-3 * np.eye(D), penalty=PrimalDual(m, 0.1), engine=engine)[0]
        for m, engine in zip(multipliers, ("auto", "python"), strict=True)
    ]
    np.testing.assert_allclose(points[0], points[1], rtol=0, atol=1e-12)
    assert multipliers[0][0] == pytest.approx(multipliers[1][0], abs=1e-12) and multipliers[0][0] > 0


def test_what_does_not_fit_is_left_to_the_general_kernel():
    skewed = 1e-3 * np.eye(D)
    skewed[0, 1] = 1e-4  # not symmetric
    x = walk(metric(), skewed, packing=True)[0]
    assert np.array_equal(x, walk(metric(), skewed, packing=False)[0])
    single = metric()
    oracles = Oracles(single, np.random.default_rng(0))
    assert not oracles._packs(ProxLinear(1.0), Explicit(), oracles.everywhere, 1)
    assert not oracles._packs(Hinge(1.0), Explicit(), oracles.ball(3.0), 1)
    assert Oracles(metric(budget="exact"), np.random.default_rng(0))._packed is None


@pytest.mark.parametrize("engine", ["auto", "python"])
@pytest.mark.parametrize("budget", [8, "exact"])
def test_skipped_matrix_cuts_change_no_bit(engine, budget):
    """From a start well inside; packed, compiled or interpreted."""
    problem, options = metric(budget=budget), {"steps": 200, "eta": 0.002, "engine": engine}
    x, total, skipping = walk(problem, 0.3 * np.eye(D), **options)
    y, sums, plain = walk(problem, 0.3 * np.eye(D), skip=False, **options)
    assert np.array_equal(x, y) and np.array_equal(total, sums)
    assert plain.n_cuts == 200 and plain.n_cuts_skipped == 0
    assert skipping.n_cuts + skipping.n_cuts_skipped == 200
    assert skipping.n_cuts_skipped > 10
    assert problem.violation(x) > -0.3 + 1e-3  # it has moved towards the boundary


def test_a_run_that_meets_the_boundary_is_the_same_bit_for_bit():
    problem, options = metric(), {"steps": 200, "eta": 0.01, "penalty": Hinge(2.0)}
    x, _, skipping = walk(problem, np.eye(D), **options)
    y, _, plain = walk(problem, np.eye(D), skip=False, **options)
    assert problem.violation(y) > 0
    assert np.array_equal(x, y)
    assert 0 < skipping.n_cuts_skipped < 200 == plain.n_cuts


def half_spaces(rows=40, d=5, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rows, d))
    X, y = rng.standard_normal((60, d)), rng.standard_normal(60)
    return epro.Problem(losses.Huber(X, y), Ridge(0.1), constraints.Polyhedron(A, np.full(rows, 0.5)))


def test_skipped_cuts_of_a_polyhedron_change_no_bit():
    problem, start = half_spaces(), np.zeros(5)
    x, total, skipping = walk(problem, start, steps=400, penalty=Hinge(3.0))
    y, sums, plain = walk(problem, start, steps=400, penalty=Hinge(3.0), skip=False)
    assert np.array_equal(x, y) and np.array_equal(total, sums)
    assert skipping.n_cuts_skipped > 10 and skipping.n_cuts + skipping.n_cuts_skipped == plain.n_cuts == 400


def test_penalties_that_look_at_c_inside_get_every_cut():
    oracles = walk(half_spaces(), np.zeros(5), penalty=Softplus(3.0, 0.1))[2]
    assert oracles.n_cuts_skipped == 0 and oracles.n_cuts == 30


def test_a_result_says_how_many_cuts_were_skipped():
    result = epro.minimize(half_spaces(), epro.solvers.EproSGD(lam=3.0, eta1=0.1), max_steps=500, tol=0)
    assert result.n_cuts_skipped > 0
    assert result.n_cuts + result.n_cuts_skipped >= result.n_steps

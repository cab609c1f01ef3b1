"""Every solver against CVXPY with Clarabel, and with parts of one's own."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.catalog import LOSSES, SOLVERS, Expectile, Pull, small_problem

import epro
from epro import constraints, solvers
from epro.regularizers import L1, Ridge

N, D, RIDGE = 40, 4, 0.1
CVX_LOSSES = {
    "squared": lambda p, y: cp.square(p - y) / 2,
    "logistic": lambda p, y: cp.logistic(-cp.multiply(y, p)),
    "hinge": lambda p, y: cp.pos(1 - cp.multiply(y, p)),
    "squared-hinge": lambda p, y: cp.square(cp.pos(1 - cp.multiply(y, p))),
    "huber": lambda p, y: cp.huber(p - y, 0.7) / 2,
    "absolute": lambda p, y: cp.abs(p - y),
    "quantile": lambda p, y: cp.maximum(0.8 * (y - p), 0.2 * (p - y)),
    "expectile (own)": lambda p, y: 0.9 * cp.square(cp.pos(y - p)) + 0.1 * cp.square(cp.pos(p - y)),
}
A, B = np.array([[1.0, 1.0, 0.0, 0.5], [-1.0, 0.5, 2.0, 0.0]]), np.array([0.2, 0.1])
SETS = {
    "l1 ball": (constraints.L1Ball(0.5), lambda x: [cp.norm1(x) <= 0.5]),
    "l2 ball": (constraints.L2Ball(0.4), lambda x: [cp.norm(x) <= 0.4]),
    "box": (constraints.Box(-0.1, 0.2), lambda x: [x >= -0.1, x <= 0.2]),
    "simplex": (constraints.Simplex(), lambda x: [x >= 0, cp.sum(x) == 1]),
    "polyhedron": (constraints.Polyhedron(A, B), lambda x: [A @ x <= B]),
    "everywhere": (None, lambda x: []),
}


def reference(problem, loss, members):
    x = cp.Variable(problem.shape)
    p, g = problem.loss.atoms.X @ x, problem.regularizer
    f = cp.sum(CVX_LOSSES[loss](p, problem.loss.y)) / problem.n
    objective = f + g.ridge / 2 * cp.sum_squares(x) + g.l1 * cp.norm1(x)
    model = cp.Problem(cp.Minimize(objective), members(x))
    model.solve(solver="CLARABEL", tol_gap_abs=3e-9, tol_gap_rel=3e-9, tol_feas=3e-9)
    return x.value, model.value


def build(loss, name, seed=0, g=None):
    return small_problem(loss, SETS[name][0], n=N, d=D, seed=seed, g=g)


SMOOTH = [name for name in LOSSES if LOSSES[name].build(np.eye(2), np.ones(2)).smoothness is not None]


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("name", SETS)
@settings(max_examples=2)
@given(seed=st.integers(0, 10**6))
def test_full_gradients_reach_the_reference(loss, name, seed):
    problem = build(loss, name, seed)
    x, value = reference(problem, loss, SETS[name][1])
    result = epro.minimize(problem, "apg", tol=1e-10, max_steps=10**6)
    assert result.fun <= value + 1e-7
    assert result.x == pytest.approx(x, abs=1e-4)
    assert result.violation <= 1e-9
    assert result.lower_bound <= value + 1e-7


@pytest.mark.parametrize("name", ["l1 ball", "polyhedron"])
def test_full_gradients_with_an_l1_norm_reach_the_reference(name):
    problem = build("squared", name, g=Ridge(RIDGE) + L1(0.05))
    x, value = reference(problem, "squared", SETS[name][1])
    result = epro.minimize(problem, "apg", tol=1e-10, max_steps=10**6)
    assert result.fun == pytest.approx(value, abs=1e-7)
    assert result.x == pytest.approx(x, abs=1e-4)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_reaches_the_reference(name):
    line, problem = SOLVERS[name], build("logistic", "l1 ball")
    _, value = reference(problem, "logistic", SETS["l1 ball"][1])
    result = epro.minimize(problem, line.solver, tol=0, max_steps=60_000)
    assert -1e-7 <= result.fun - value <= line.reaches * max(1.0, abs(value))
    assert result.violation <= 1e-9
    assert result.lower_bound <= value + 1e-7


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("loss", CVX_LOSSES)
def test_every_loss_on_every_set(loss, name):
    """Short interpreted runs of the method that asks for no constants."""
    problem = build(loss, name)
    _, value = reference(problem, loss, SETS[name][1])
    result = epro.minimize(problem, solvers.EproSGD(robust=True, eta1=1.0), tol=0, max_steps=1100, engine="python")
    assert -1e-7 <= result.fun - value <= 0.05 * max(1.0, abs(value))
    assert result.violation <= 1e-9
    assert result.lower_bound <= value + 1e-7


# -- parts of one's own, in every solver


def own_ball(**more):
    return constraints.Custom(lambda x: np.abs(x).sum() - 0.5, np.sign, constraints.L1Ball(0.5).project, **more)


class Duck:
    """Three verbs, of no class of the library's."""

    value, subgradient, project = own_ball().value, own_ball().subgradient, own_ball().project


OWN = {
    "loss": lambda X, y: epro.Problem(Expectile(X, y), Ridge(RIDGE), constraints.L1Ball(0.5)),
    "constraint": lambda X, y: epro.Problem(epro.losses.Squared(X, y), Ridge(RIDGE), own_ball()),
    "object with three verbs": lambda X, y: epro.Problem(epro.losses.Squared(X, y), Ridge(RIDGE), Duck()),
    "regularizer": lambda X, y: epro.Problem(epro.losses.Squared(X, y), Pull(), constraints.L1Ball(0.5)),
    "all three": lambda X, y: epro.Problem(Expectile(X, y), Pull(), own_ball(radius_bound=0.5)),
}


@pytest.mark.parametrize("part", OWN)
@pytest.mark.parametrize("name", SOLVERS)
def test_parts_of_ones_own_work_in_every_solver(name, part):
    rng = np.random.default_rng(0)
    problem = OWN[part](rng.standard_normal((30, 3)), rng.standard_normal(30))
    best = epro.minimize(problem, "apg", tol=1e-8, max_steps=10**5)
    assert best.success
    result = epro.minimize(problem, SOLVERS[name].solver, tol=0, max_steps=1500)
    assert result.violation <= 1e-9
    assert best.lower_bound - 1e-9 <= result.fun <= best.fun + 0.15


def test_the_smoothness_of_ones_own_loss_is_estimated_and_named():
    class Absolute(epro.losses.Loss):
        def loss(self, p, y):
            return abs(p - y)

        def slope(self, p, y):
            return np.sign(p - y)

    X, y = np.eye(3), np.array([1.0, -2.0, 0.0])
    assert Expectile(X, y).smoothness == pytest.approx(1.8)
    assert Absolute(X, y).smoothness is None
    result = epro.minimize(epro.Problem(Expectile(X, y), Ridge(RIDGE)), "apg")
    assert result.estimates == ("smoothness = 1.8, from differences of the slopes of Expectile, which declares none",)
    with pytest.raises(ValueError, match="apg needs a smooth loss, and Absolute is not"):
        epro.minimize(epro.Problem(Absolute(X, y)), "apg")


def test_a_set_of_ones_own_without_end_has_no_linear_minimisation():
    half_space = constraints.Custom(
        lambda x: x[0] - 1, lambda x: np.eye(3)[0], lambda x: np.append(min(x[0], 1), x[1:])
    )
    problem = epro.Problem(epro.losses.Squared(np.eye(3), np.ones(3)), Ridge(RIDGE), half_space)
    with pytest.raises(ValueError, match="frank-wolfe needs a bounded set"):
        epro.minimize(problem, "frank-wolfe")

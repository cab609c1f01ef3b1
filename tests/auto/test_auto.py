"""method="auto": certifies what it solves, says what it chose, and does not depend on units."""

from __future__ import annotations

import numpy as np
import pytest
from tests.auto.problems import in_units, polyhedral, rows
from tests.certificate.problems import random_problem, reference

import epro
from epro import constraints, losses, regularizers
from epro.callbacks import Checkpoint
from epro.solvers import auto


@pytest.mark.parametrize("first", range(0, 30, 6))
def test_thirty_problems_are_certified_with_default_arguments(first):
    for seed in range(first, first + 6):
        problem, description = random_problem(1000 + 7 * seed + seed % 7)
        result = epro.minimize(problem)
        assert result.success, (description, result)
        assert result.gap <= 1e-4 * max(1.0, abs(result.fun))
        best = reference(problem)
        assert result.lower_bound <= best + 1e-7 * max(1.0, abs(best)), description


@pytest.mark.parametrize("loss", ["Squared", "Logistic", "SquaredHinge", "Huber", "Hinge", "Absolute", "Quantile"])
@pytest.mark.parametrize("name", ["l1", "box", "simplex", "monotone", "l2"])
def test_columns_over_six_decades_are_certified(loss, name):
    units = 10.0 ** np.linspace(-3, 3, 8)
    X, y = rows(loss, 200, 8, 0, units)
    sets = {
        "l1": constraints.L1Ball(1.0), "box": constraints.Box(-1.0, 1.0), "simplex": constraints.Simplex(),
        "monotone": constraints.Monotone(), "l2": constraints.L2Ball(1.0),
    }  # fmt: skip
    problem = epro.Problem(getattr(losses, loss)(X, y), regularizers.Ridge(1e-4), sets[name])
    result = epro.minimize(problem)
    assert result.success, result


@pytest.mark.parametrize("loss", ["Squared", "Logistic", "Huber", "Absolute"])
def test_units_of_the_columns_do_not_matter(loss):
    units = 10.0 ** np.array([0.0, 3.0, -3.0, 1.0, -1.0])
    plain, scaled = epro.minimize(in_units(loss, np.ones(5))), epro.minimize(in_units(loss, units))
    assert plain.success and scaled.success
    assert abs(plain.fun - scaled.fun) <= 2e-4 * max(1.0, plain.fun)


@pytest.mark.parametrize("loss", ["Squared", "Absolute", "Quantile"])
@pytest.mark.parametrize("target", [1e-3, 1e4])
def test_the_unit_of_the_target_does_not_matter(loss, target):
    power = 2 if loss == "Squared" else 1
    plain = epro.minimize(in_units(loss, np.ones(5)), tol=1e-8)
    scaled = epro.minimize(in_units(loss, np.ones(5), target), tol=1e-8)
    assert scaled.success, scaled
    assert scaled.fun / target**power == pytest.approx(plain.fun, rel=1e-3 if target > 1 else 0.1)


def test_a_constraint_that_makes_no_difference_changes_nothing():
    X, y = rows("Logistic", 300, 5, 0)
    free = epro.minimize(epro.Problem(losses.Logistic(X, y), regularizers.Ridge(0.1)), tol=1e-9)
    wide = constraints.Box(-100.0, 100.0)
    boxed = epro.minimize(epro.Problem(losses.Logistic(X, y), regularizers.Ridge(0.1), wide), tol=1e-9)
    assert np.allclose(free.x, boxed.x, atol=1e-4)


def test_the_result_says_what_was_chosen_and_why():
    assert epro.minimize(polyhedral("Squared")).choice.startswith("gram: least squares")
    result = epro.minimize(polyhedral("Hinge"))
    assert result.choice.startswith("epro-newton:")
    assert "a gradient takes" in result.choice and "a projection" in result.choice


def costs(gradient, projection, flop):
    return auto.Costs(gradient, projection, flop)


def test_plans_follow_the_costs():
    problem = polyhedral("Logistic", n=5000, d=20)
    slow_flops = costs(1e-3, 1e-5, 1e-7)
    assert auto.plan(problem, slow_flops)[0] == ["apg", "epro-newton", "epro-vr"]
    assert auto.plan(problem, costs(1e-3, 1.0, 1e-9))[0] == ["epro-newton", "epro-vr"]
    assert auto.plan(polyhedral("Absolute"), slow_flops)[0] == ["epro-newton", "epro-vr"]
    assert auto.plan(polyhedral("Squared"), costs(1e-3, 1e-5, 1e-10))[0][0] == "gram"
    X, y = rows("Logistic", 10, 3001, 0)
    assert auto.plan(epro.Problem(losses.Logistic(X, y)), slow_flops)[0] == ["epro-vr"]


def test_a_trial_that_does_not_pay_is_given_up(monkeypatch):
    problem = epro.Problem(
        losses.Logistic(*rows("Logistic", 400, 8, 0, 10.0 ** np.linspace(-2, 2, 8))), regularizers.Ridge(1e-6),
        constraints.Monotone(),
    )  # fmt: skip
    monkeypatch.setattr(auto, "plan", lambda problem, costs: (["apg", "epro-newton"], "for the test"))
    result = epro.minimize(problem, tol=1e-8)
    assert result.success
    assert result.choice == "apg, then epro-newton: for the test"


class Killed(Exception):
    pass


def killer(problem, state):
    if state.epoch == 2:
        raise Killed


def test_a_killed_run_resumes_with_the_method_it_had(tmp_path):
    path = tmp_path / "run.ckpt"
    whole = epro.minimize(polyhedral("Hinge"), tol=1e-7)
    with pytest.raises(Killed):
        epro.minimize(polyhedral("Hinge"), tol=1e-7, callbacks=[Checkpoint(path, every=0), killer])
    resumed = epro.minimize(polyhedral("Hinge"), tol=1e-7, resume=path)
    assert np.array_equal(whole.x, resumed.x)
    assert whole.n_steps == resumed.n_steps


def test_a_large_map_is_not_read_before_the_first_pass(tmp_path, monkeypatch):
    from epro.atoms import build

    path = tmp_path / "X.dat"
    X = np.memmap(path, np.float64, "w+", shape=(200, 3))
    X[:] = np.random.default_rng(0).standard_normal((200, 3))
    X[150, 1] = np.nan
    monkeypatch.setattr(build, "MAPPED", 10)
    problem = epro.Problem(losses.Squared(X, np.ones(200)), None, constraints.Simplex())
    with pytest.raises(ValueError, match="NaN or infinite"):
        epro.minimize(problem, "gram")
    assert not epro.minimize(problem, "epro-newton").success

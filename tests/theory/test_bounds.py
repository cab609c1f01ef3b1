"""The bounds of Theorems 1, 2 and 3 on runs of textbook loops: problems with known constants and optimum."""

import numpy as np
import pytest

from epro import schedules, theory

from . import problems, textbook

RUNS = 30


def suboptimality(problem, ends):
    """f - f* of every run after every epoch, shape (epochs, runs); and every point is feasible."""
    assert problem.domain.violation(ends).max() <= 1e-9
    gaps = problem.value(ends) - problem.value(problem.x_star)
    assert gaps.min() >= -1e-9, "no feasible point is better than the optimum"
    return gaps


def read(stated, reading):
    return {"stated": stated, "proven": stated.proven, "sharp": stated.sharp}[reading]


@pytest.mark.parametrize("name", sorted(problems.ALL))
def test_the_known_optimum_is_optimal(name):
    """Against random feasible points, in the guard ball; and the gradients keep to G1."""
    problem = problems.ALL[name]()
    rng = np.random.default_rng(0)
    x = textbook.into_ball(rng.normal(size=(5000, problem.x_star.size)) * 2, problem.guard)
    near = problem.x_star + rng.normal(size=x.shape) * 10 ** rng.uniform(-6, 0, size=(5000, 1))
    for point in (x, near):
        assert (problem.value(problem.domain.project(point)) >= problem.value(problem.x_star) - 1e-12).all()
    assert np.linalg.norm(problem.x_star) < problem.guard
    stochastic = problem.gradient(x) + problem.sigma * textbook.unit_noise(rng, x.shape)
    assert np.linalg.norm(stochastic, axis=1).max() <= problem.constants.G1


@pytest.mark.parametrize("reading", ["stated", "proven", "sharp"])
@pytest.mark.parametrize("name", sorted(problems.ALL))
def test_theorem_1_at_every_epoch(name, reading):
    problem = problems.ALL[name]()
    lam = 2 * problem.constants.G1
    g = read(theory.theorem1(problem.constants, lam, 4100), reading)
    gaps = suboptimality(problem, textbook.epro_sgd(problem, g.schedule, lam, RUNS, seed=1)).mean(axis=1)
    assert len(gaps) == 9
    assert (gaps <= [g.bound_after(k) for k in range(1, 10)]).all()
    assert gaps[-1] <= g.bound


@pytest.mark.parametrize("reading", ["stated", "proven", "sharp"])
@pytest.mark.parametrize("name", sorted(problems.ALL))
def test_theorem_3_at_every_epoch(name, reading):
    problem = problems.ALL[name]()
    lam = 2 * problem.constants.G1
    g = read(theory.theorem3(problem.constants, lam, 4200), reading)
    gaps = suboptimality(problem, textbook.epro_orda(problem, g.schedule, lam, RUNS, seed=2)).mean(axis=1)
    assert len(gaps) == (5 if reading == "proven" else 8)
    assert (gaps <= [g.bound_after(k) for k in range(1, len(gaps) + 1)]).all()
    assert gaps[-1] <= g.bound


@pytest.mark.parametrize("reading", ["stated", "proven", "sharp"])
@pytest.mark.parametrize("name", ["half-space", "kinked"])
def test_theorem_2_in_the_stated_share_of_runs(name, reading):
    problem, delta = problems.ALL[name](), 0.1
    lam = 2 * problem.constants.G1
    g = read(theory.theorem2(problem.constants, lam, 4000, delta, D=2 * problem.guard), reading)
    gaps = suboptimality(problem, textbook.epro_sgd(problem, g.schedule, lam, 200, seed=3))
    assert g.epochs >= 5
    assert (gaps[-1] <= g.bound).mean() >= g.probability == 1 - delta
    for k, gap in enumerate(gaps, start=1):
        assert (gap <= g.bound_after(k)).mean() >= 1 - delta


def test_theorem_1_on_a_problem_that_comes_near_its_bound():
    """Within a factor of 50 of the sharp bound: the tests here would notice a wrong constant or a lost halving."""
    problem = problems.kinked()
    lam = 2 * problem.constants.G1
    g = theory.theorem1(problem.constants, lam, 10**4).sharp
    gaps = suboptimality(problem, textbook.epro_sgd(problem, g.schedule, lam, RUNS, seed=0)).mean(axis=1)
    assert (gaps <= [g.bound_after(k) for k in range(1, g.epochs + 1)]).all()
    assert gaps[-1] >= g.bound_after(g.epochs) / 50


# -- the rate


def slope(totals, gaps):
    """Of log(gap) against log(T), by least squares, over T between 1e3 and 1e6."""
    keep = (totals >= 1e3) & (totals <= 1e6)
    return np.polyfit(np.log(totals[keep]), np.log(gaps[keep]), 1)[0]


@pytest.mark.parametrize("theorem", [theory.theorem1, theory.theorem3])
def test_the_gap_falls_like_one_over_T(theorem):
    problem = problems.half_space()
    lam = 2 * problem.constants.G1
    stated = theorem(problem.constants, lam, 10**6)
    readings = (
        (stated, stated.sharp) if stated.schedule == stated.proven.schedule else (stated, stated.proven, stated.sharp)
    )
    for g in readings:
        ends = textbook.long_runs(problem, g.schedule, lam, 12 if g.overhead else 4, seed=4, orda=g.overhead == 1)
        totals = np.cumsum([e.steps + g.overhead for e in g.schedule])
        gaps = suboptimality(problem, ends).mean(axis=1)
        assert totals[-1] > 5e5
        assert slope(totals, gaps) <= -0.9
        assert (gaps <= [g.bound_after(k) for k in range(1, g.epochs + 1)]).all()


def test_without_shrinking_steps_it_does_not():
    """The negative control of the test above: the same epochs at a constant step size."""
    problem = problems.half_space()
    lam = 2 * problem.constants.G1
    g = theory.theorem1(problem.constants, lam, 10**5)
    kept = list(schedules.within(schedules.doubling(g.t1, g.eta1 / 8, shrink=1.0), 10**5))
    gaps = suboptimality(problem, textbook.long_runs(problem, kept, lam, 8, seed=5)).mean(axis=1)
    assert slope(np.cumsum([e.steps for e in kept]), gaps) > -0.5


def test_the_compiled_loop_is_the_textbook():
    """Without noise the two have the same trajectory."""
    problem = problems.half_space(sigma=0.0)
    lam = 2 * problem.constants.G1
    for theorem, loop in ((theory.theorem1, textbook.epro_sgd), (theory.theorem3, textbook.epro_orda)):
        g = theorem(problem.constants, lam, 1100)
        compiled = textbook.long_runs(problem, g.schedule, lam, 1, seed=0, orda=g.overhead == 1)
        np.testing.assert_allclose(compiled, loop(problem, g.schedule, lam, 1, seed=0), atol=1e-12)


def test_textbook_algorithm_1_by_hand():
    """Two epochs of 1 and 2 steps in one dimension: f = (x - 2)^2 / 2, x <= 1, lam = 3."""
    problem = problems.Quadratic(problems.HalfSpace(np.ones(1), 1.0), np.array([2.0]), 1.0, 0.0, guard=10.0)
    epochs = list(schedules.within(schedules.doubling(1, 0.75), 3))
    ends = textbook.epro_sgd(problem, epochs, 3.0, 1, seed=0)[:, 0, 0]
    # epoch 1 averages x_1 = 0; epoch 2 averages x_1 = 0 and x_2 = 0.375 * 2
    assert ends.tolist() == [0.0, 0.375]
    # x_2 = 1.5 is outside: x_3 = 1.5 - 0.75 (-0.5 + 3) = -0.375, x_4 = 1.40625
    assert textbook.epro_sgd(problem, [schedules.Epoch(4, 0.75)], 3.0, 1, seed=0).item() == (1.5 - 0.375 + 1.40625) / 4

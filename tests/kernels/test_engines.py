"""Same draws, same trajectory: interpreted, compiled, and the textbook loop."""

import numpy as np
import pytest
from tests.catalog import difference_matrices, some_triplets, sparse
from tests.kernels import textbook
from tests.kernels.textbook import Plain

import epro
from epro import constraints, losses, solvers
from epro.callbacks import Trace
from epro.regularizers import L1, OffDiagonalL1, Ridge

T = 300


def sigmoid_slope(p, y):
    return -y / (1 + np.exp(y * p))


def vectors(kind="dense", dtype=np.float64):
    """Logistic regression with weights and an elastic net under an l1 ball, and its naive form.

    Cuts fire within the epochs of the cases below, but the averages at their ends lie inside: an epoch that starts on
    the boundary would leave it to the last bit of c whether its first cut fires.
    """
    rng = np.random.default_rng(5)
    X = np.where(rng.random((30, 6)) < 0.4, 0.0, rng.standard_normal((30, 6))).astype(dtype)
    y, weights = np.where(rng.random(30) < 0.5, -1.0, 1.0), rng.uniform(0.5, 2.0, 30)
    loss = losses.Logistic(sparse(X) if kind == "csr" else X, y, sample_weight=weights)
    ball = constraints.L1Ball(0.5)
    problem = epro.Problem(loss, Ridge(0.2) + L1(0.01), ball)
    plain = Plain(
        X.astype(float), y, sigmoid_slope, ball.value, np.sign, ball.project, 0.2, 0.01, loss.weights.astype(float),
    )  # fmt: skip
    return problem, plain


def matrices(kind):
    """Metric learning on triplets under positive semidefiniteness, and its naive form, for one long epoch."""
    X = np.random.default_rng(6).standard_normal((9, 3))
    loss = losses.TripletHinge(sparse(X) if kind == "sparse triplets" else X, some_triplets(9))
    problem = epro.Problem(loss, Ridge(0.2) + OffDiagonalL1(0.05), constraints.PSD(0.3))

    def bottom(M):
        w, u = np.linalg.eigh((M + M.T) / 2)
        return w[0], u[:, 0]

    def project(M):
        w, u = np.linalg.eigh((M + M.T) / 2)
        return (u * np.maximum(w, 0.3)) @ u.T

    plain = Plain(
        difference_matrices(X), -np.ones(12), lambda p, y: -y * (1 - y * p > 0), lambda M: 0.3 - bottom(M)[0],
        lambda M: -np.outer(bottom(M)[1], bottom(M)[1]), project, 0.2, 0.05 * (1 - np.eye(3)),
    )  # fmt: skip
    return problem, plain


def build(kind, dtype=np.float64):
    return matrices(kind) if "triplets" in kind else vectors(kind, dtype)


def trajectory(problem, solver, engine, seed=3):
    trace = Trace()
    result = epro.minimize(
        problem, solver, tol=0, max_steps=T, random_state=seed, callbacks=[trace], engine=engine, x0=start(problem)
    )
    looks = not isinstance(solver, solvers.OneProj | solvers.OneProjGeneral)
    return trace.points if looks else [result.x]


def start(problem):
    """Inside the set: on its boundary, rounding would decide whether a cut fires."""
    return np.eye(3) if len(problem.shape) == 2 else np.linspace(-0.05, 0.08, 6).astype(problem.dtype)


def implicit(p, y, step):
    """The root of s - slope(p - step s), by bisection."""
    low, high = -1.0, 1.0
    for _ in range(100):
        s = 0.5 * (low + high)
        low, high = (low, s) if s > sigmoid_slope(p - step * s, y) else (s, high)
    return s


def vertex(a):
    j = np.abs(a).argmax()
    return -0.5 * np.sign(a[j]) * np.eye(len(a))[j]


Epro, Orda = solvers.EproSGD, solvers.EproORDA
CASES = {
    "Algorithm 1": ("dense", Epro(lam=2.0, eta1=0.3), lambda *a: textbook.epro_sgd(*a, lam=2.0, eta1=0.3)),
    "Algorithm 1, csr": ("csr", Epro(lam=2.0, eta1=0.3), lambda *a: textbook.epro_sgd(*a, lam=2.0, eta1=0.3)),
    "Algorithm 1, sparse triplets": (
        "sparse triplets",
        Epro(lam=2.0, eta1=0.1, t1=128),
        lambda *a: textbook.epro_sgd(*a, lam=2.0, eta1=0.1, t1=128),
    ),
    "Algorithm 1 in a ball": (
        "dense",
        Epro(lam=2.0, eta1=0.3, guard=True),
        lambda *a: textbook.epro_sgd(*a, lam=2.0, eta1=0.3, guard=0.5),
    ),
    "Algorithm 1, batches": (
        "dense",
        Epro(lam=2.0, eta1=0.3, batch=4),
        lambda *a: textbook.epro_sgd(*a, lam=2.0, eta1=0.3, batch=4),
    ),
    "Eq. cb": (
        "dense",
        Epro(lam=2.0, eta1=0.3, proximal=True),
        lambda *a: textbook.epro_sgd(*a, lam=2.0, eta1=0.3, proximal=True),
    ),
    "Eq. cb, triplets": (
        "triplets",
        Epro(lam=2.0, eta1=0.1, t1=64, proximal=True, batch=3),
        lambda *a: textbook.epro_sgd(*a, lam=2.0, eta1=0.1, t1=64, proximal=True, batch=3),
    ),
    "robust": (
        "dense",
        Epro(eta1=2.0, robust=True),
        lambda *a: textbook.robust_epro_sgd(*a, eta1=2.0, rho=1.0, implicit=implicit),
    ),
    "Algorithms 2 and 3": ("dense", Orda(lam=2.0, eta1=0.5), lambda *a: textbook.epro_orda(*a, lam=2.0, eta1=0.5)),
    "Algorithm 2 at x": (
        "dense",
        Orda(lam=2.0, eta1=0.5, query="x", batch=2),
        lambda *a: textbook.epro_orda(*a, lam=2.0, eta1=0.5, query="x", batch=2),
    ),
    "Algorithms 2 and 3, triplets": (
        "triplets",
        Orda(lam=2.0, eta1=0.1, t1=128),
        lambda *a: textbook.epro_orda(*a, lam=2.0, eta1=0.1, t1=128),
    ),
    "SGD": ("dense", solvers.SGD(eta0=1.0), lambda *a: textbook.sgd(*a, eta0=1.0)),
    "SGD, csr": ("csr", solvers.SGD(eta0=1.0, batch=2), lambda *a: textbook.sgd(*a, eta0=1.0, batch=2)),
    "Epoch-SGD": ("dense", solvers.EpochSGD(eta1=1.0), lambda *a: textbook.epoch_sgd(*a, eta1=1.0)),
    "OneProj": (
        "dense",
        solvers.OneProj(lam=2.0, gamma=0.1, eta0=1.0),
        lambda *a: textbook.oneproj(*a, lam=2.0, gamma=0.1, eta0=1.0, radius=0.5),
    ),
    "OneProj, general": (
        "dense",
        solvers.OneProjGeneral(gamma=0.3, eta=0.1),
        lambda *a: textbook.oneproj_general(*a, gamma=0.3, eta=0.1, radius=0.5),
    ),
    "LogT": ("dense", solvers.LogTSGD(eta=0.3, inner=5), lambda *a: textbook.logt_sgd(*a, eta=0.3, inner=5)),
}


@pytest.mark.parametrize("name", CASES)
def test_engines_and_textbook_agree(name):
    kind, solver, loop = CASES[name]
    problem, plain = build(kind)
    expected = list(loop(plain, start(problem), T, np.random.default_rng(3)))
    for engine in ("python", "compiled"):
        found = trajectory(problem, solver, engine)
        assert len(found) == len(expected)
        assert max(np.abs(f - e).max() for f, e in zip(found, expected, strict=True)) <= 1e-12
    assert np.abs(expected[-1] - start(problem)).max() > 1e-2, "the trajectory stands still"


def test_frank_wolfe_agrees_with_its_textbook():
    problem, plain = vectors()
    smooth = epro.Problem(problem.loss, Ridge(0.2), problem.constraint)
    plain.l1 = 0.0
    expected = list(textbook.frank_wolfe(plain, start(problem), T, np.random.default_rng(3), vertex=vertex))
    found = trajectory(smooth, solvers.FrankWolfe(), "compiled")
    assert len(found) == len(expected) > 3
    assert max(np.abs(f - e).max() for f, e in zip(found, expected, strict=True)) <= 1e-12


@pytest.mark.parametrize(
    ("kind", "solver", "engine"),
    [
        ("dense", Epro(lam=2.0, eta1=0.3, t1=128), "python"),
        ("dense", Epro(lam=2.0, eta1=0.3, t1=128), "compiled"),
        ("dense", Orda(lam=2.0, eta1=0.5, t1=128), "compiled"),
        ("csr", solvers.SGD(eta0=1.0), "python"),
    ],
)
def test_single_precision_follows_double_precision(kind, solver, engine):
    narrow, wide = (trajectory(vectors(kind, dtype)[0], solver, engine) for dtype in (np.float32, np.float64))
    assert all(x.dtype == np.float32 for x in narrow)
    assert max(np.abs(f - e).max() for f, e in zip(narrow, wide, strict=True)) <= 1e-5


def test_single_precision_does_not_cut_along_singular_vectors_of_rounding():
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((6, 2)) @ rng.standard_normal((2, 5))).astype(np.float32)  # of rank two
    work = np.empty_like(x)
    constraints.NuclearNormBall(1.0).record(x.shape, x.dtype).cut(x, work)
    assert np.linalg.norm(work) == pytest.approx(np.sqrt(2), rel=1e-5)


# -- reductions


def test_without_a_constraint_epro_sgd_is_epoch_sgd():
    problem = epro.Problem(vectors()[0].loss, Ridge(0.2))
    a = trajectory(problem, Epro(lam=2.0, eta1=1.0, t1=4), "python")
    b = trajectory(problem, solvers.EpochSGD(eta1=1.0, t1=4), "python")
    assert all(np.array_equal(x, z) for x, z in zip(a, b, strict=True))


def test_without_a_regularizer_the_proximal_form_is_algorithm_1():
    problem = epro.Problem(vectors()[0].loss, None, constraints.L1Ball(0.5))
    a, b = (trajectory(problem, Epro(lam=2.0, eta1=1.0, proximal=flag), "python") for flag in (False, True))
    assert all(np.array_equal(x, z) for x, z in zip(a, b, strict=True))


def test_oneproj_with_no_smoothing_is_sgd_on_the_hinge():
    problem, plain = vectors()
    (found,) = trajectory(problem, solvers.OneProj(lam=2.0, gamma=1e-9, eta0=1.0), "python")
    rng, total, x = np.random.default_rng(3), np.zeros(6), start(problem)
    for t, rows in enumerate(textbook._blocks(rng, plain, T), start=1):
        total += x
        push = 2.0 * plain.v(x) if plain.c(x) > 0 else 0.0
        x = textbook.into_ball(x - (plain.gradient(rows, x) + push) / t, 0.5)
    assert np.abs(found - plain.project(total / T)).max() <= 1e-9


def test_a_schedule_can_be_given():
    problem, _ = vectors()
    epochs = [epro.schedules.Epoch(8, 0.3), epro.schedules.Epoch(16, 0.15), epro.schedules.Epoch(32, 0.075)]
    given = Epro(lam=2.0, schedule=epochs, guard=False)
    generated = Epro(lam=2.0, schedule=epro.schedules.doubling(8, 0.3), guard=False)
    expected = trajectory(problem, Epro(lam=2.0, eta1=0.3), "python")
    for solver in (given, generated, generated):  # a generator serves more than one run
        found = trajectory(problem, solver, "python")
        assert np.array_equal(found[2], expected[2])
    assert len(trajectory(problem, given, "python")) == 3

"""The metric learning experiment: L in its three forms, the accuracy, and who runs in which setting."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core import event
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from epro import datasets
from epro.experiments.figure2_lmnn import runner
from epro.experiments.figure2_lmnn.competitors import BATCH, tuned
from epro.experiments.figure2_lmnn.problem import FLOOR, Data, accuracy, load, make_problem, pull_matrix


@pytest.fixture(scope="module")
def points() -> Data:
    X, y = datasets.make_cora_like(0, d=40, sizes=(9, 12, 15), words=8)
    return Data(X[:30], y[:30], X[30:], y[30:])


@pytest.fixture(scope="module")
def triplets(points: Data) -> np.ndarray:
    return datasets.make_triplets(points.y, 25, 2)


def outer(X: np.ndarray, i: int, j: int) -> np.ndarray:
    return np.outer(X[i] - X[j], X[i] - X[j])


def test_pull_is_the_sum_of_outer_products(points: Data, triplets: np.ndarray) -> None:
    X, y, n = points.X.toarray(), points.y, 30
    pairs = sum(outer(X, i, j) for i, j, _ in triplets) / len(triplets)
    weighted = sum(outer(X, i, j) for i in range(n) for j in range(n) if y[i] == y[j]) / (n * (n - 1))
    means = np.array([X[y == label].mean(axis=0) for label in y])
    covariance = (X - means).T @ (X - means) / n
    for kind, naive in (("pairs", pairs), ("weighted", weighted), ("covariance", covariance)):
        found = pull_matrix(points.X, y, triplets, kind)  # type: ignore[arg-type]
        assert sparse.issparse(found) and np.allclose(found.toarray(), naive, atol=1e-12)
    with pytest.raises(ValueError, match="pull must be"):
        pull_matrix(points.X, y, triplets, "nearest")  # type: ignore[arg-type]


def test_objective_is_that_of_the_paper(points: Data, triplets: np.ndarray) -> None:
    problem = make_problem(points, triplets, trade_off=0.5, ridge=1e-4, l1_off=1e-3, pull="pairs")
    B = np.random.default_rng(0).standard_normal((40, 40))
    A, X = B @ B.T, points.X.toarray()
    hinge = [max(0.0, 1.0 + np.sum(A * (outer(X, i, j) - outer(X, i, k)))) for i, j, k in triplets]
    L = pull_matrix(points.X, points.y, triplets, "pairs").toarray()
    off = np.abs(A).sum() - np.abs(np.diag(A)).sum()
    stated = 0.5 * np.mean(hinge) + 0.5 * np.trace(A @ L) + 0.5e-4 * np.sum(A * A) + 1e-3 * off
    assert problem.value(A) == pytest.approx(stated, rel=1e-12)
    assert problem.violation(0.5 * FLOOR * np.eye(40)) == pytest.approx(0.5 * FLOOR)


def test_accuracy_is_that_of_nearest_neighbours() -> None:
    data = load("small", None, unit_norm=True)
    model = KNeighborsClassifier(3, algorithm="brute").fit(data.X.toarray(), data.y)
    expected = model.score(data.X_test.toarray(), data.y_test)
    assert accuracy(data, np.eye(150)) == pytest.approx(expected, abs=0.05)  # ties are broken differently
    assert len(data.y_test) == 82 and len(data.y) == 328


def test_every_scaling_triplet_and_form_of_L_has_a_setting() -> None:
    found = list(runner.settings("small", 1500))
    assert {each.unit_norm for each in found} == {each.neighbors for each in found} == {False, True}
    assert {each.pull for each in found} == {"pairs", "weighted", "covariance"}
    for each in found[:5]:
        assert {"SGD", "OneProj", "LogT", "Epro-SGD", "Epro-ORDA"} <= {method.name for method in each.competitors}
    assert f"Epro-SGD, {BATCH} triplets" in runner.QUICK


def test_no_compilation_while_the_clock_runs(points: Data) -> None:
    """After `warm_up` nothing is left to compile."""
    compiled = []

    class Listener(event.Listener):
        def on_start(self, event):
            compiled.append(event.data["dispatcher"])

        def on_end(self, event):
            pass

    problem = runner.problem_of(points, datasets.make_triplets(points.y, 15, 2), "pairs")
    for competitor in tuned(64, np.inf, problem.n, 8, False):
        runner.warm_up(points, competitor, d=36)
        with event.install_listener("numba:compile", Listener()):
            curve = runner.curve(problem, points, runner.Setting("s", False, False, ()), competitor, 0)
        assert not compiled, (competitor.name, compiled)
        assert curve["violation"][-1] < 1e-9 and 0 <= curve["final"]["accuracy"] <= 1


def test_unknown_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="scale must be 'small' or 'full', got 'huge'"):
        runner.run("huge")

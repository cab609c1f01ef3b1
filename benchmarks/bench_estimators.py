"""The estimators against scikit-learn's: objectives, accuracies and processor time in one run, one thread.

    EPRO_DATA=... OPENBLAS_NUM_THREADS=1 python benchmarks/bench_estimators.py [linear] [fit] [digits isolet usps cora]

Times are of the process, not of the wall clock, and the best of ``REPEATS``: other work on the machine does not count.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

import epro

DATA = Path(os.environ.get("EPRO_DATA", "data"))
REPEATS = 3
METRICS = ("digits", "isolet", "usps", "cora")


def timed(fit: Any, repeats: int = REPEATS) -> tuple[Any, float]:
    """The last result, and the shortest time."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        found = fit()
        seconds.append(time.process_time() - start)
    return found, min(seconds)


def points(name: str) -> tuple[Any, Any, Any, Any]:
    """Training and test points and labels; the file's own split for usps, else 70/30."""
    if name == "usps":
        train, test = (np.load(DATA / f"usps_{part}.npz") for part in ("train", "test"))
        return train["X"].astype(float), test["X"].astype(float), train["y"], test["y"]
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    elif name == "isolet":
        file = np.load(DATA / "isolet_train_isolet1.npz")
        X, y = file["X"].astype(float), file["y"]
    else:
        X, y = sp.load_npz(DATA / "cora.npz").astype(float).tocsr(), np.load(DATA / "cora.npz")["y"]
    return tuple(train_test_split(X, y, test_size=0.3, random_state=0, stratify=y))  # type: ignore[return-value]


def accuracy(model: Any, a: Any, b: Any, ya: Any, yb: Any) -> float:
    """Of three nearest neighbours, in the model's coordinates."""
    a, b = (a, b) if model is None else (model.transform(a), model.transform(b))
    return KNeighborsClassifier(3).fit(a, ya).score(b, yb)


def metric(name: str) -> None:
    """Euclidean distance, NCA and LMNN."""
    a, b, ya, yb = points(name)
    print(f"{name}: {a.shape}, Euclidean {accuracy(None, a, b, ya, yb):.4f}")
    repeats = 1 if name in ("usps", "cora") else REPEATS
    model, seconds = timed(lambda: epro.LMNN().fit(a, ya), repeats + 1)
    print(f"  LMNN {accuracy(model, a, b, ya, yb):.4f} in {seconds:.2f} s")
    if name != "cora":
        model, seconds = timed(lambda: NeighborhoodComponentsAnalysis(max_iter=50, random_state=0).fit(a, ya), repeats)
        print(f"  NCA, 50 iterations {accuracy(model, a, b, ya, yb):.4f} in {seconds:.2f} s")
    print(f"  largest memory so far {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


def linear(alpha: float = 1e-4) -> None:
    """The objective of logistic regression on a9a and w8a; lbfgs as it comes, and tightened until it agrees to 1e-6."""
    for name in ("a9a", "w8a"):
        X, y = sp.load_npz(DATA / f"{name}.npz").astype(float).tocsr(), np.load(DATA / f"{name}.npz")["y"]
        problem = epro.Problem(epro.losses.Logistic(X, y, intercept=True), epro.regularizers.Ridge(alpha))

        def value(model: Any, problem: epro.Problem = problem) -> float:
            return problem.value(np.append(model.coef_[0], model.intercept_))

        ours, seconds = timed(lambda X=X, y=y: epro.ConstrainedClassifier(alpha=alpha).fit(X, y), REPEATS + 1)
        print(f"{name} epro: objective {value(ours):.9f} in {seconds:.3f} s, certified gap {ours.gap_:.1e}")
        for tol in (1e-4, 1e-5, 1e-6, 1e-7):
            lbfgs = LogisticRegression(C=1.0 / (alpha * X.shape[0]), tol=tol, max_iter=10_000)
            theirs, spent = timed(lambda lbfgs=lbfgs, X=X, y=y: lbfgs.fit(X, y))
            print(f"{name} lbfgs, tol {tol:g}: objective {value(theirs):.9f} in {spent:.3f} s")
            if value(theirs) <= value(ours) + 1e-6:
                break


def fit() -> None:
    """Import, construct and fit 1,000 x 20; with an empty EPRO_CACHE_DIR this compiles."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 20))
    start = time.perf_counter()
    epro.ConstrainedRegressor(positive=True).fit(X, X @ np.ones(20))
    epro.ConstrainedClassifier(positive=True).fit(X, X[:, 0] > 0)
    print(f"first fits of both: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    for part in sys.argv[1:] or ["fit", "linear", *METRICS]:
        metric(part) if part in METRICS else {"linear": linear, "fit": fit}[part]()

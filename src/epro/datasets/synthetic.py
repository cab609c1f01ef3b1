"""Small generated problems for tests, demonstrations and benchmarks."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from scipy import sparse

from epro.datasets.algebra import make_algebra
from epro.datasets.cora_like import make_cora_like
from epro.datasets.local import Dataset

Array = Any


def make_regression(
    n: int = 1000,
    d: int = 20,
    *,
    informative: int | None = None,
    density: float = 1.0,
    condition: float = 1.0,
    noise: float = 0.1,
    seed: int = 0,
    dtype: Any = np.float64,
    return_truth: bool = False,
) -> Any:
    """y = X truth + noise, with Gaussian rows whose columns may differ in scale by decades.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    informative : int, optional
        Number of nonzero coefficients; all by default. Their part of the prediction has variance 1 in all.
    density : float
        Share of nonzeros, in (0, 1]. Below 1, X is a CSR matrix.
    condition : float
        Largest over smallest scale of a column, at least 1; scales are evenly spaced in the logarithm, in random order.
    noise : float
        Standard deviation of the noise.
    seed : int
    dtype : dtype
    return_truth : bool
        Whether to return the coefficients too.

    Returns
    -------
    X, y[, truth]

    Examples
    --------
    >>> from epro.datasets import make_regression
    >>> X, y, truth = make_regression(n=50, d=8, informative=3, noise=0.0, return_truth=True)
    >>> X.shape, int((truth != 0).sum()), bool(abs(X @ truth - y).max() < 1e-12)
    ((50, 8), 3, True)
    """
    rng = np.random.default_rng(seed)
    X, truth = _features(rng, n, d, informative, density, condition)
    y = X @ truth + noise * rng.standard_normal(n)
    X, y = X.astype(dtype), y.astype(dtype)
    return (X, y, truth.astype(dtype)) if return_truth else (X, y)


def make_classification(
    n: int = 1000,
    d: int = 20,
    *,
    informative: int | None = None,
    density: float = 1.0,
    condition: float = 1.0,
    noise: float = 0.1,
    flip: float = 0.0,
    seed: int = 0,
    dtype: Any = np.float64,
    return_truth: bool = False,
) -> Any:
    """y = sign(X truth + noise), -1 or 1, a share ``flip`` of the labels turned over; X as in `make_regression`.

    Parameters
    ----------
    n, d, informative, density, condition, noise, seed, dtype, return_truth
        See `make_regression`.
    flip : float
        Probability that a label is turned over, in [0, 1].

    Returns
    -------
    X, y[, truth]

    Examples
    --------
    >>> from epro.datasets import make_classification
    >>> X, y = make_classification(n=50, d=8, density=0.25)
    >>> type(X).__name__, sorted(set(y.tolist()))
    ('csr_matrix', [-1.0, 1.0])
    """
    if not 0 <= flip <= 1:
        raise ValueError(f"flip must be between 0 and 1, got {flip}")
    rng = np.random.default_rng(seed)
    X, truth = _features(rng, n, d, informative, density, condition)
    y = np.where(X @ truth + noise * rng.standard_normal(n) < 0, -1.0, 1.0)
    y[rng.random(n) < flip] *= -1
    X, y = X.astype(dtype), y.astype(dtype)
    return (X, y, truth.astype(dtype)) if return_truth else (X, y)


def _features(
    rng: np.random.Generator, n: int, d: int, informative: int | None, density: float, condition: float
) -> tuple[Any, Array]:
    informative = d if informative is None else informative
    if n < 1 or d < 1 or not 1 <= informative <= d:
        raise ValueError(f"n and d must be at least 1, and informative between 1 and d; got {n}, {d}, {informative}")
    if not 0 < density <= 1:
        raise ValueError(f"density must be above 0 and at most 1, got {density}")
    if not (np.isfinite(condition) and condition >= 1):
        raise ValueError(f"condition must be a finite number, at least 1; got {condition}")
    scales = rng.permutation(np.exp(-log(condition) * np.linspace(0, 1, d)))
    if density < 1:
        places = np.sort(rng.choice(n * d, max(1, round(density * n * d)), replace=False))
        rows, columns = np.divmod(places, d)
        X = sparse.csr_matrix((rng.standard_normal(len(places)) * scales[columns], (rows, columns)), shape=(n, d))
    else:
        X = rng.standard_normal((n, d)) * scales
    truth = np.zeros(d)
    support = rng.choice(d, informative, replace=False)
    truth[support] = rng.standard_normal(informative)
    # var <a, truth> = density * sum (scale * truth)^2
    truth /= np.sqrt(density) * np.linalg.norm(scales * truth)
    return X, truth


def make_polyhedron(m: int, d: int, seed: int = 0, x_inside: Any = None, *, slack: float = 1.0) -> tuple[Array, Array]:
    """Random dense inequalities A x <= b, rows of unit norm, with a point strictly inside.

    Parameters
    ----------
    m, d : int
        Inequalities and variables.
    seed : int
    x_inside : array-like, optional
        The point; zero by default. Its distance from each face is exponential with mean ``slack``, plus a tenth of it.
    slack : float
        Positive.

    Returns
    -------
    A : ndarray, shape (m, d)
    b : ndarray, shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from epro.datasets import make_polyhedron
    >>> A, b = make_polyhedron(30, 5, x_inside=np.ones(5))
    >>> A.shape, bool((A @ np.ones(5) < b).all())
    ((30, 5), True)
    """
    if m < 1 or d < 1:
        raise ValueError(f"m and d must be at least 1, got {m} and {d}")
    if not (np.isfinite(slack) and slack > 0):
        raise ValueError(f"slack must be a finite number above zero, got {slack}")
    inside = np.zeros(d) if x_inside is None else np.asarray(x_inside, dtype=float)
    if inside.shape != (d,):
        raise ValueError(f"x_inside must have shape ({d},), got {inside.shape}")
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, d))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return A, A @ inside + slack * (0.1 + rng.standard_exponential(m))


EXAMPLES: dict[str, Any] = {
    "algebra": lambda: make_algebra(n=20_000, d=100_000, nnz_per_row=36, dtype=np.float64, progress=False),
    "cora": lambda: make_cora_like(d=120, sizes=(50, 30, 60, 110, 60, 40, 25), words=8.0),
    "regression": lambda: make_regression(n=1000, d=50, informative=8, noise=0.5),
    "classification": lambda: make_classification(n=1000, d=50, informative=8, flip=0.02),
}


def load_example(name: str) -> Dataset:
    """A small generated set, always the same, for demonstrations without any file.

    Parameters
    ----------
    name : {"algebra", "cora", "regression", "classification"}
        The first two have the kind of the paper's sets, at 20,000 x 100,000 and 375 x 120.

    Returns
    -------
    Dataset
        Unpacks as ``X, y``.

    Examples
    --------
    >>> from epro.datasets import load_example
    >>> X, y = load_example("cora")
    >>> X.shape
    (375, 120)
    """
    if name not in EXAMPLES:
        raise ValueError(f"no example {name!r}; there are {', '.join(map(repr, EXAMPLES))}")
    return Dataset(*EXAMPLES[name]())

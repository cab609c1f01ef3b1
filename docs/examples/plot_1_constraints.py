"""
Choosing a constraint: a picture of every set
=============================================

A constraint is a convex set :math:`\\{x : c(x) \\le 0\\}`. Each has ``value(x)``, which is :math:`c(x)`,
``subgradient(x)`` and ``project(x)``, the nearest point of the set. The pictures below ask for nothing else: they
call ``value`` on a grid, and draw one projection as an arrow.
"""

import matplotlib.pyplot as plt
import numpy as np

from epro import constraints as c

# %%
# Vectors
# -------
#
# The sets in the plane. Blue is the set, grey lines are levels of :math:`c` (how the violation grows), the arrow
# leads from a point to its projection. Where a set has no area (a simplex, an equality), the level zero is drawn as a
# line.

GRID = np.linspace(-2.0, 2.0, 81)


def picture(ax, title, constraint, point, embed=np.asarray, flat=np.asarray):
    """The levels of c over the plane, and the projection of a point of it."""
    values = np.array([[constraint.value(embed((a, b))) for a in GRID] for b in GRID])
    edge = 0.0 if values.min() < -1e-3 else 0.03  # a set without an inside is drawn a little thicker than it is
    ax.contourf(GRID, GRID, values, levels=[-np.inf, edge], colors=["#a8c8ec"])
    ax.contour(GRID, GRID, values, levels=[edge], colors=["#1f5fa8"], linewidths=1.6)
    ax.contour(GRID, GRID, values, levels=[0.5, 1.0, 1.5, 2.0], colors="0.8", linewidths=0.8)
    end = flat(constraint.project(embed(point)))
    look = {"arrowstyle": "-|>", "color": "#c0392b", "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, point, arrowprops=look)
    ax.plot(*point, "o", color="#c0392b", markersize=3)
    ax.set(aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    ax.set_title(title, fontsize=9)
    ax.tick_params(labelsize=7)


triangle = np.array([[1.0, 1.0], [-2.0, 1.0], [0.5, -1.0]]), np.array([1.0, 1.0, 1.0])
sets = [
    ("L1Ball(1)", c.L1Ball(1.0), (1.7, 1.0)),
    ("L2Ball(1)", c.L2Ball(1.0), (1.7, 1.3)),
    ("Box(-1, [0.5, 1])", c.Box(-1.0, [0.5, 1.0]), (1.5, 1.6)),
    ("NonNegative()", c.NonNegative(), (-1.2, 1.0)),
    ("Simplex(1)", c.Simplex(1.0), (1.5, 1.2)),
    ("HalfSpace([1, 2], 1)", c.HalfSpace([1.0, 2.0], 1.0), (1.2, 1.5)),
    ("Affine([[1, 2]], [1])", c.Affine([[1.0, 2.0]], [1.0]), (1.2, 1.5)),
    ("Polyhedron(A, b)", c.Polyhedron(*triangle), (1.5, 1.5)),
    ("Monotone()", c.Monotone(), (1.5, -0.5)),
    ("Ellipsoid(diag(0.5, 3))", c.Ellipsoid(np.diag([0.5, 3.0])), (1.3, 1.5)),
    ("Intersection([L2Ball, Monotone])", c.Intersection([c.L2Ball(1.2), c.Monotone()]), (1.7, 0.5)),
]

# %%
# One more is written here, in plain Python: a function, its gradient, and a projection (found by bisection on one
# unknown). No subgradient is shorter than 1, so a projection moves by at most :math:`c(x)` (Lemma 0 with ``rho =
# 1``), which says where to search. :func:`epro.constraints.check` puts what it says of itself to the test.


def own_set():
    def value(x):
        return float(np.logaddexp(0.0, x[1]) - x[0] - 1.0)

    def subgradient(x):
        return np.array([-1.0, 1.0 / (1.0 + np.exp(-x[1]))])

    def project(x):
        if value(x) <= 0:
            return x
        low, high = x[1] - value(x), x[1]  # the nearest point is (log(1 + e^t) - 1, t) with t between these
        for _ in range(60):
            t = 0.5 * (low + high)
            slope = 1.0 / (1.0 + np.exp(-t))
            if (t - x[1]) + slope * (np.logaddexp(0.0, t) - 1.0 - x[0]) > 0:
                high = t
            else:
                low = t
        return np.array([np.logaddexp(0.0, t) - 1.0, t])

    return c.Custom(value, subgradient, project, lipschitz=2**0.5, rho=1.0, name="Custom(...)")


own = own_set()
c.check(own, shape=2)
sets.append((own.name, own, (-1.6, 1.4)))

figure, axes = plt.subplots(3, 4, figsize=(10, 8), layout="constrained")
for ax, (title, constraint, point) in zip(axes.flat, sets, strict=True):
    picture(ax, title, constraint, point)

# %%
# Vectors of three entries, seen on a plane
# -----------------------------------------
#
# ``GroupL1Ball`` and ``SecondOrderCone`` look like intervals in the plane, so here are slices of three dimensions:
# the group :math:`(x_1, x_2)` against :math:`x_3`, and the cone :math:`\lVert (x_2, x_3)\rVert \le x_1` in the plane
# :math:`x_3 = 0`. The projection of a point of such a slice stays in it.

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
groups = c.GroupL1Ball([[0, 1], [2]], 1.0)
half = np.sqrt(0.5)
slices = [
    ("GroupL1Ball([[0, 1], [2]], 1)\nslice $x_1 = x_2$", groups, lambda p: np.array([half * p[0], half * p[0], p[1]]),
     lambda x: (x[0] / half, x[2]), (1.5, 1.2)),
    ("the same\nslice $x_3 = 0$", groups, lambda p: np.array([p[0], p[1], 0.0]), lambda x: x[:2], (1.5, 1.2)),
    ("SecondOrderCone()\nslice $x_3 = 0$", c.SecondOrderCone(), lambda p: np.array([p[0], p[1], 0.0]), lambda x: x[:2], (-0.3, 1.4)),
]  # fmt: skip
for ax, (title, constraint, embed, flat, point) in zip(axes, slices, strict=True):
    picture(ax, title, constraint, point, embed, flat)

# %%
# Matrices
# --------
#
# Symmetric matrices of two rows :math:`\begin{pmatrix} 1/2 + a & b \\ b & 1/2 - a \end{pmatrix}` for the sets that
# live on trace one, and :math:`\begin{pmatrix} a & b \\ b & 1/2 \end{pmatrix}` for the cone.


def trace_one(p):
    return np.array([[0.5 + p[0], p[1]], [p[1], 0.5 - p[0]]])


def back(X):
    return 0.5 * (X[0, 0] - X[1, 1]), X[0, 1]


def corner(p):
    return np.array([[p[0], p[1]], [p[1], 0.5]])


figure, axes = plt.subplots(1, 4, figsize=(11, 3.2), layout="constrained")
matrices = [
    ("PSD()\n[[a, b], [b, 1/2]]", c.PSD(), (-1.0, 0.0), corner, lambda X: (X[0, 0], X[0, 1])),
    ("PSD(floor=0.3)\n[[a, b], [b, 1/2]]", c.PSD(0.3), (-1.0, 0.0), corner, lambda X: (X[0, 0], X[0, 1])),
    ("NuclearNormBall(1.5)\n[[1/2 + a, b], [b, 1/2 - a]]", c.NuclearNormBall(1.5), (1.4, 1.2), trace_one, back),
    ("Spectraplex()\n[[1/2 + a, b], [b, 1/2 - a]]", c.Spectraplex(), (1.4, 1.2), trace_one, back),
]
for ax, (title, constraint, point, embed, flat) in zip(axes, matrices, strict=True):
    picture(ax, title, constraint, point, embed, flat)

# %%
# Which one?
# ----------
#
# ====================================  ===================================================================
# you want                              take
# ====================================  ===================================================================
# few nonzero coefficients              ``L1Ball(radius)``
# few nonzero groups of coefficients    ``GroupL1Ball(groups, radius)``
# small coefficients                    ``L2Ball(radius)``, or a ``Ridge`` in the objective
# known signs, or bounds                ``NonNegative(mask)``, ``Box(lower, upper)``
# weights that are shares               ``Simplex()``
# a budget                              ``HalfSpace(prices, budget)``, with ``NonNegative()`` beside it
# equalities                            ``Affine(A, b)``
# coefficients in order                 ``Monotone()``, for chains and partial orders
# linear inequalities                   ``Polyhedron(A, b)``, dense or sparse
# a metric, a covariance                ``PSD(floor)``; with unit trace ``Spectraplex()``
# a matrix of low rank                  ``NuclearNormBall(radius)``
# several of these at once              a list of them, or ``Intersection([...])``
# what CVXPY can say                    ``FromCVXPY([...], variable)``
# anything else                         ``Custom(value, subgradient, project)``
# ====================================  ===================================================================
#
# The parts stand alone: a projection is useful without any learning.

print(c.Simplex().project(np.array([0.9, 0.4, -0.2])))

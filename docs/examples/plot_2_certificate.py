"""
The certificate, and what a tolerance means
===========================================

``result.gap`` bounds how far a point is from optimal. This page shows where the bound comes from, how it closes in on
the optimum, and what ``tol`` asks for.
"""

import matplotlib.pyplot as plt
import numpy as np

import epro
from epro import constraints, losses, regularizers, solvers

X, y = epro.datasets.make_classification(2000, 40, condition=30.0, flip=0.05, seed=1)
problem = epro.Problem(losses.Logistic(X, y), regularizers.Ridge(1e-3), constraints.L1Ball(5.0))

# %%
# From the optimal value, two things are known at the end of every epoch: a feasible point lies above it, and a
# **lower bound** below it. One pass over the data gives an affine function below :math:`f`; what that function and
# :math:`g` can reach on the set at best takes one projection to compute. No theorem is needed and no constant of one:
# it holds for the point of any method, and that is why ``gap`` can be trusted where a solver's own stopping rule
# cannot.

result = epro.minimize(problem, "apg", tol=1e-8)
print(result)

# %%
# The objective falls, the lower bound rises, and they meet. Certificates cost a gradient and a projection each, so
# they are not computed after every epoch: between two of them the best bound so far stands.

history = result.history
best = result.lower_bound
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
bound = history["fun"] - history["gap"]
early = history["steps"] <= 30 * problem.n
left.plot(history["steps"][early], history["fun"][early], label="objective at the feasible point")
left.step(history["steps"][early], bound[early], where="post", label="lower bound on the optimum")
left.fill_between(
    history["steps"][early], bound[early], history["fun"][early], step="post", alpha=0.15, color="0.5", label="gap"
)
left.set(xlabel="stochastic gradients (a full one counts n)", ylabel="objective", title="the optimum is in between")
left.set_ylim(bound.min() - 0.01, history["fun"].max() + 0.02)
left.legend(fontsize="small")
epro.plot.convergence(result, right)

# %%
# What ``tol`` asks for
# ---------------------
#
# A run is a success if the gap is at most ``tol * max(1, abs(fun))``. The tolerance therefore speaks of the
# objective, in its own units; it is a promise about the answer and not about the length of the last step. ``tol=0``
# never stops early.

for tol in (1e-2, 1e-4, 1e-8):
    run = epro.minimize(problem, "apg", tol=tol)
    print(f"tol {tol:.0e}: gap {run.gap:.1e}, true distance {run.fun - best:.1e}, passes {run.n_steps / problem.n:.0f}")

# %%
# With a ridge of weight :math:`a`, a gap also bounds the distance to the optimal coefficients: :math:`\lVert x -
# x^*\rVert \le \sqrt{2\,\mathrm{gap}/a}`.

rough = epro.minimize(problem, "apg", tol=1e-4)
allowed = np.sqrt(2 * rough.gap / problem.strong_convexity)
print(f"distance to the optimum {np.linalg.norm(rough.x - result.x):.3f}, at most {allowed:.3f}")

# %%
# Few projections
# ---------------
#
# Epro-SGD moves by cheap cuts and projects once at the end of each epoch. SGD projects at every step. Both get the
# same certificate, computed beside them and not counted among their own projections.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for method in (solvers.EproSGD(robust=True), solvers.SGD()):
    run = epro.minimize(problem, method, max_steps=130_000, tol=0)
    projections, above = run.history["projections"], run.history["fun"] - best
    ax.loglog(projections, above, "o-", markersize=3, label=f"{run.method}: {run.n_projections:,} projections")
ax.set(xlabel="projections", ylabel="objective above the lower bound", title="130,000 stochastic gradients each")
ax.grid(alpha=0.3)
ax.legend()

# %%
# How honest is it?
# -----------------
#
# A lower bound may be loose: the gap then overstates the distance, never the other way. Without a ridge and on an
# unbounded set all that is known here is that losses are not negative, so the bound is zero, the gap is the objective
# itself, and the run says that it used up its budget although its point may be excellent. (Where nothing at all is
# known the gap is infinite.) A small ridge or a bounded set is all it takes.

for g, constraint in (
    (None, constraints.NonNegative()),
    (regularizers.Ridge(1e-4), constraints.NonNegative()),
    (None, constraints.Box(0, 10)),
):
    run = epro.minimize(epro.Problem(losses.Logistic(X, y), g, constraint), "apg", tol=1e-5, max_steps=400_000)
    print(f"{g!s:>14} {constraint!s:>14}: objective {run.fun:.5f}, gap {run.gap:.1e}, {run.status.name}")

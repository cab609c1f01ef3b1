"""
Signed and ordered coefficients
===============================

A table of counters of a busy computer, 8,000 readings of 21 columns (generated here, in the manner of the well-known
``cpusmall`` data), and the share of time in user mode to be predicted from them. What is known beforehand: reading
and writing cannot *raise* that share, nor can waiting processes; and each longer queue must cost at least as much as
the one before. Least squares knows nothing of this; constraints say it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

import epro
from epro import constraints, losses

rng = np.random.default_rng(0)
names = [*(f"io{k}" for k in range(1, 11)), *(f"queue{k}" for k in range(1, 7)), *(f"memory{k}" for k in range(1, 6))]
load = rng.gamma(2.0, 1.0, 8000)
X = np.column_stack([load * rng.lognormal(0.0, 0.35, 8000) for _ in names])  # all columns follow the load
truth = np.concatenate([-np.linspace(0.2, 0.02, 10), -np.linspace(0.0, 1.2, 6), rng.normal(0.0, 0.3, 5)])
y = 95.0 + X @ truth + rng.normal(0.0, 6.0, 8000)

few = 150  # readings to learn from; the rest is for the test
design = np.column_stack([X, np.ones(len(X))])  # the last column is the intercept, which is never constrained

# %%
# Constraints are said in terms of columns. ``NonNegative`` and ``Box`` are about single columns, ``Monotone`` about
# chains of them. A list of constraints is their intersection. Columns that take part in an order must be in the same
# units: here they are.

io, queue = np.arange(0, 10), np.arange(10, 16)
upper = np.full(22, np.inf)
upper[io] = upper[queue] = 0.0
known = [
    constraints.Box(-np.inf, upper),  # io and queue can only lower the share
    constraints.Monotone(chains=[queue[::-1]]),  # the longer the queue, the lower
]
problem = epro.Problem(losses.Squared(design[:few], y[:few]), None, known)
result = epro.minimize(problem, tol=1e-8)
print(result)
print(result.choice)

# %%
# The constraint holds exactly, as recomputed from the coefficients, and prediction improves: what was known is worth
# data.

free = LinearRegression().fit(X[:few], y[:few])
order = result.x[queue]
print("largest io coefficient:", result.x[io].max(), " in order:", bool((np.diff(order) <= 1e-12).all()))
print("wrong signs of least squares:", int((free.coef_[:16] > 0).sum()), "of 16")
for name, prediction in (("least squares", free.predict(X[few:])), ("constrained", design[few:] @ result.x)):
    print(f"{name}: error {np.sqrt(np.mean((prediction - y[few:]) ** 2)):.3f}")

# %%
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
where = np.arange(21)
ax.axvspan(-0.5, 9.5, color="#f2f2f2")
ax.axvspan(9.5, 15.5, color="#e6eef8")
ax.axhline(0.0, color="0.4", linewidth=0.8)
ax.plot(where, truth, "_", color="black", markersize=14, label="truth")
ax.plot(where, free.coef_, "x", color="#c0392b", label="least squares")
ax.plot(where, result.x[:21], "o", color="#1f5fa8", label="constrained")
ax.set(xticks=where, ylabel="coefficient", title="at most zero (grey); at most zero and falling (blue); free")
ax.set_xticklabels(names, rotation=60, ha="right", fontsize=8)
ax.legend()

# %%
# Which constraints are active?
# -----------------------------
#
# ``active`` names the members of the set that hold with equality.

meet = constraints.Intersection(known).bind((22,))
print(len(meet.active(result.x)), "of them hold with equality, among them", meet.active(result.x)[:3])

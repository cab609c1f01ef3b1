"""
Fair classification
===================

A bank learns who repays. It must not treat two groups differently on the whole: the scores may hardly covary with a
sensitive column :math:`s`. That covariance is linear in the coefficients, so a bound on it is a pair of half-spaces
(Zafar and others, 2017):

.. math:: \\Big|\\frac1n\\sum_i (s_i - \\bar s)\\,\\langle A_i, x\\rangle\\Big| \\le t.

A penalty makes unfairness dear; a constraint rules it out, and the answer says by how much.
"""

import matplotlib.pyplot as plt
import numpy as np

import epro
from epro import constraints, losses, regularizers

rng = np.random.default_rng(0)
n, d = 4000, 10
s = (rng.random(n) < 0.4).astype(float)  # the sensitive column is not among the features,
X = rng.standard_normal((n, d))
X[:, :3] += 0.9 * s[:, None]  # but some of them know it
y = np.where(X @ rng.normal(0.3, 0.6, d) + 0.8 * s + rng.logistic(size=n) > 0.8, 1.0, -1.0)
design = np.column_stack([X, np.ones(n)])  # with an intercept
train, test = slice(0, 3000), slice(3000, n)

a = (s[train] - s[train].mean()) @ design[train] / 3000  # <a, x> is the covariance


def fair(t):
    """Logistic regression whose scores covary with s by at most t."""
    both_sides = constraints.Polyhedron(np.array([a, -a]), np.full(2, t))
    problem = epro.Problem(losses.Logistic(design[train], y[train]), regularizers.Ridge(1e-3), both_sides)
    return epro.minimize(problem, tol=1e-6)


# %%
# One bound first. The covariance is what was allowed, and the gap proves that no fair model has a better objective.

result = fair(0.02)
print(result)
print(f"covariance {a @ result.x:.9f}, allowed 0.02")

# %%
# Now the whole trade-off: the accuracy on rows not seen, against the difference between the shares of the two groups
# that are accepted.

bounds = [0.0, 0.01, 0.02, 0.04, 0.08, 0.12, 0.2]
rows = []
for t in bounds:
    run = fair(t)
    accepted = design[test] @ run.x > 0
    difference = accepted[s[test] == 1].mean() - accepted[s[test] == 0].mean()
    rows.append((t, a @ run.x, np.mean(accepted == (y[test] > 0)), difference))
    print("t {:.2f}  covariance {:+.4f}  accuracy {:.3f}  difference {:+.3f}".format(*rows[-1]))

table = np.array(rows)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(table[:, 0], table[:, 3], "o-", color="#c0392b", label="difference of acceptance between the groups")
ax.plot(table[:, 0], table[:, 2], "s-", color="#1f5fa8", label="accuracy")
ax.axhline(0.0, color="0.6", linewidth=0.8)
ax.set(xlabel="bound t on the covariance", ylabel="share", title="what fairness costs")
ax.legend()

# %%
# ``HalfSpace(a, t)`` alone bounds the covariance from one side; ``Affine([a], [0])`` forbids any; more sensitive
# columns are more rows of the polyhedron. The bound is on the scores of the rows learned from: on new rows, and for
# decisions rather than scores, it holds only about, as the picture shows.
#
# The estimator
# -------------
#
# :class:`epro.ConstrainedClassifier` builds the same constraint from the sensitive columns.

model = epro.ConstrainedClassifier(fairness=0.02, alpha=1e-3).fit(X[train], y[train], sensitive=s[train])
scores = model.decision_function(X[train])
print(f"covariance {np.mean((s[train] - s[train].mean()) * scores):.6f}, accuracy {model.score(X[test], y[test]):.3f}")

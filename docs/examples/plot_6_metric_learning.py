"""
Metric learning for k-nearest neighbours
========================================

Which distance should neighbours be found with? A large-margin metric (LMNN, Weinberger and Saul) wants each point
near to a few of its own class (target neighbours), and nearer than any point of another class (impostors). The
unknown is a positive semidefinite matrix :math:`M`, and the distance is :math:`(a - b)^\\top M (a - b)`. This page
builds it from parts.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import epro
from epro import constraints, datasets, losses, regularizers

X, y = load_wine(return_X_y=True)
noise = np.random.default_rng(0).standard_normal((len(X), 12))
X = np.hstack([(X - X.mean(axis=0)) / X.std(axis=0), noise])  # twelve columns say nothing
X /= np.sqrt(X.shape[1])  # distances of about 1, the margin's size
train, test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=3, stratify=y)

# %%
# The objective
# -------------
#
# ``TripletHinge`` is the mean over triplets (point, target neighbour, impostor) of :math:`[1 + d^2(i, j) - d^2(i,
# l)]_+`; the pull towards target neighbours is linear in :math:`M`; a small ridge makes the optimum unique. The
# constraint is the cone.

triplets = datasets.neighbor_triplets(train, y_train)
targets = datasets.target_neighbors(train, y_train, 3)
near = (train[:, None, :] - train[targets]).reshape(-1, train.shape[1])
pull = near.T @ near / len(near)

problem = epro.Problem(
    losses.TripletHinge(train, triplets),
    regularizers.Ridge(0.1) + regularizers.Linear(0.1 * pull),
    constraints.PSD(),
)
result = epro.minimize(problem, tol=1e-2, max_seconds=5)
print(f"{len(triplets)} triplets, a matrix of shape {problem.shape}")
print(result)

# %%
# The metric is exactly positive semidefinite, so :math:`M = LL^\\top`, and the learned distance is the Euclidean one
# between the rows of ``X @ L``.

values, vectors = np.linalg.eigh(result.x)
print("smallest eigenvalue", values.min(), " rank", int((values > 1e-6 * values.max()).sum()), "of", len(values))
L = vectors * np.sqrt(np.maximum(values, 0.0))
plain = KNeighborsClassifier(3).fit(train, y_train).score(test, y_test)
learned = KNeighborsClassifier(3).fit(train @ L, y_train).score(test @ L, y_test)
print(f"3-NN accuracy: {plain:.3f} with the Euclidean distance, {learned:.3f} with the learned one")

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
spread = np.linalg.svd(train - train.mean(axis=0), full_matrices=False)[2][:2].T
for ax, basis, title in (
    (axes[0], spread, "before: the two widest directions"),
    (axes[1], L[:, -2:], "after: the two largest of M"),
):
    for label in np.unique(y):
        ax.plot(*(test[y_test == label] @ basis).T, "o", markersize=4, label=f"class {label}")
    ax.set_title(title, fontsize=10)
axes[0].legend()

# %%
# The estimator
# -------------
#
# :class:`epro.LMNN` does all this by itself: it chooses scales, mines impostors anew between rounds, and has the
# names of scikit-learn and metric-learn.

model = epro.LMNN(n_neighbors=3).fit(train, y_train)
neighbours = KNeighborsClassifier(3).fit(model.transform(train), y_train)
accuracy = neighbours.score(model.transform(test), y_test)
print(f"LMNN: {accuracy:.3f}, with a transformation of shape {model.components_.shape}")

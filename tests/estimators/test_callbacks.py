"""scikit-learn's own callbacks, where the installed version has them."""

from __future__ import annotations

import numpy as np
import pytest

import epro

callback = pytest.importorskip("sklearn.callback")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["regressor", "two classes", "several", "softmax"])
def test_epochs_are_scored(kind):
    X = np.random.default_rng(0).standard_normal((100, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0]
    labels = np.digitize(y, [0.0] if kind == "two classes" else [-0.5, 0.5])
    if kind == "regressor":
        model, target, scoring = epro.ConstrainedRegressor(solver="apg", positive=True), y, "r2"
    else:
        way = "multinomial" if kind == "softmax" else "ovr"
        model, target, scoring = epro.ConstrainedClassifier(solver="apg", multi_class=way), labels, "accuracy"
    monitor = callback.ScoringMonitor(scoring=scoring)
    model.set_callbacks(monitor, callback.ProgressBar()).fit(X, target)
    rows = monitor.get_logs().data
    assert rows[0][scoring] == pytest.approx(model.score(X, target))
    assert (len(rows) > 1) == (kind != "several")  # where all classes are known after each epoch

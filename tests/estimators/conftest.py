"""Data that several files of tests share."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 6)) + 1.0
    y = X @ [1.0, -1.0, 0.5, 0.0, 2.0, -0.3] + 3.0 + 0.3 * rng.standard_normal(150)
    return X, y

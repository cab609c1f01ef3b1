"""`check` finds each kind of mistake and says which."""

import numpy as np
import pytest

from epro.constraints import Custom, check

right = {
    "value": lambda x: np.linalg.norm(x) - 1,
    "subgradient": lambda x: x / max(np.linalg.norm(x), 1e-300),
    "project": lambda x: x / max(1.0, np.linalg.norm(x)),
    "lipschitz": 1.0,
    "rho": 1.0,
}

WRONG = {
    "the subgradient is wrong": {"subgradient": lambda x: -x / np.linalg.norm(x)},
    "lipschitz is too small": {"lipschitz": 0.5},
    "rho is too large": {"rho": 2.0},
    "not feasible": {"project": lambda x: 1.1 * x / max(1.1, np.linalg.norm(x))},
    "moves a feasible x": {"project": lambda x: x / np.linalg.norm(x)},
    "not the nearest": {"project": lambda x: np.clip(x, -0.5, 0.5)[[0, 0, 0]] if np.linalg.norm(x) > 1 else x},
    "not convex": {"value": lambda x: np.sqrt(np.linalg.norm(x)) - 1},
    "NaN": {"value": lambda x: np.nan},
    "shape": {"project": lambda x: x[:2]},
}


def test_a_right_constraint_passes():
    check(Custom(**right), shape=3)


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_one_is_found(words):
    with pytest.raises(ValueError, match=words):
        check(Custom(**{**right, **WRONG[words]}), shape=3)

"""Held-out intervals hold the expectation as often as they say, and say what they are."""

from __future__ import annotations

import numpy as np
import pytest

from epro import losses
from epro.held_out import HeldOut


def test_intervals_cover_as_often_as_they_say():
    rng, x, hits = np.random.default_rng(0), np.array([0.5]), 0
    for _ in range(400):
        X = rng.standard_normal((200, 1))
        estimate = HeldOut(losses.Squared(X, rng.standard_normal(200)), confidence=0.9).loss_at(x)
        hits += estimate.low <= 0.5 * (0.25 + 1.0) <= estimate.high  # E (x a - y)^2 / 2
    assert 0.85 <= hits / 400 <= 0.95


def test_a_paired_difference_is_narrower():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    held = HeldOut(losses.Squared(X, X @ [1.0, 2.0] + rng.standard_normal(300)))
    near, far = np.array([1.0, 2.0]), np.array([1.1, 2.0])
    paired = held.difference(far, near)
    assert paired.high - paired.low < 0.5 * (held.loss_at(near).high - held.loss_at(near).low)
    assert "not a certificate" in str(paired)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="at least 2 held-out rows"):
        HeldOut(losses.Squared(np.ones((1, 1)), np.ones(1)))
    with pytest.raises(ValueError, match="confidence must lie"):
        HeldOut(losses.Squared(np.ones((3, 1)), np.ones(3)), confidence=1.0)

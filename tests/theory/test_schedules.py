"""Schedules: their recursions, their counts, and what they refuse."""

import math
from itertools import islice

import numpy as np
import pytest

from epro import schedules
from epro.schedules import Epoch


def algorithm_1(t1, eta1, T):
    """The while loop of Algorithm 1, word by word."""
    k, total, steps, eta, done = 1, t1, t1, eta1, []
    while total <= T:
        done.append((steps, eta))
        steps, eta, k = 2 * steps, eta / 2, k + 1
        total += steps
    return done


@pytest.mark.parametrize("t1", [1, 4, 8, 29])
def test_doubling_within_is_the_loop_of_algorithm_1(t1):
    for T in [*range(1, 600), 10**5, 2**40 - 9, 2**40 - 8, 2**40]:
        got = schedules.within(schedules.doubling(t1, 0.7), T)
        assert [(e.steps, e.step_size) for e in got] == algorithm_1(t1, 0.7, T)


def test_orda_divides_the_step_size_by_the_root_of_two():
    first, second, third = islice(schedules.epro_orda(16, 3.0), 3)
    assert (first.steps, second.steps, third.steps) == (16, 32, 64)
    assert second.step_size == pytest.approx(3.0 / math.sqrt(2), rel=1e-15)
    assert third.step_size == pytest.approx(1.5, rel=1e-15)


def test_an_epoch_of_orda_costs_one_gradient_more():
    assert [len(list(schedules.within(schedules.epro_orda(16, 1.0), T, overhead=1))) for T in (16, 17, 49, 50)] == [
        0,
        1,
        1,
        2,
    ]


def test_epoch_sgd_starts_with_four_steps_of_one_over_beta():
    got = list(schedules.within(schedules.epoch_sgd(0.5), 28))
    assert got == [Epoch(4, 2.0), Epoch(8, 1.0), Epoch(16, 0.5)]


def test_inverse_time_and_its_chunks():
    (epoch,) = schedules.inverse_time(0.1, 1000)
    assert epoch.steps == 1000
    np.testing.assert_allclose(epoch.step_sizes(), [10.0 / t for t in range(1, 1001)], rtol=1e-15)
    chunks = [epoch.step_sizes(first, min(first + 300, 1000)) for first in range(0, 1000, 300)]
    np.testing.assert_array_equal(np.concatenate(chunks), epoch.step_sizes())


def test_step_sizes_are_a_copy():
    epoch = Epoch(3, np.array([3.0, 2.0, 1.0]))
    epoch.step_sizes()[0] = -1.0
    assert epoch.step_sizes(0, 1) == 3.0
    assert epoch == Epoch(3, np.array([3.0, 2.0, 1.0])) != Epoch(3, 3.0)


def test_constant_never_ends():
    assert list(islice(schedules.constant(5, 0.1), 3)) == [Epoch(5, 0.1)] * 3


def test_a_user_s_own_schedule_is_any_iterable_of_epochs():
    assert list(schedules.within([Epoch(2, 1.0), Epoch(3, 0.5), Epoch(1, 0.1)], 5)) == [Epoch(2, 1.0), Epoch(3, 0.5)]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Epoch(0, 1.0), "Epoch: steps must be at least 1, got 0"),
        (lambda: Epoch(3, -1.0), "Epoch: step_size must be a finite number above zero, got -1"),
        (lambda: Epoch(3, np.ones(2)), "3 of them, one per step, got shape \\(2,\\)"),
        (lambda: Epoch(2, np.array([1.0, 0.0])), "smallest entry 0"),
        (lambda: Epoch(2, np.array([1.0, np.nan])), "NaN or infinite entry"),
        (lambda: Epoch(3, 1.0).step_sizes(2, 5), "the steps 2 to 5 of an epoch of 3 steps"),
        (lambda: schedules.doubling(8, math.inf), "doubling: eta1 must be a finite number above zero, got inf"),
        (lambda: schedules.doubling(8, 1.0, shrink=2.0), "shrink must be above 0 and at most 1, got 2"),
        (lambda: schedules.epoch_sgd(0.0), "epoch_sgd: beta must be a finite number above zero"),
        (lambda: schedules.inverse_time(1.0, -3), "inverse_time: steps must be at least 1, got -3"),
    ],
)
def test_refusals_come_before_the_first_epoch(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_steps_must_be_whole():
    with pytest.raises(TypeError, match=r"t1 must be a whole number, got 8\.5"):
        schedules.doubling(8.5, 1.0)

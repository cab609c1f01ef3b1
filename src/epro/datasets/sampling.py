"""Compiled draws for generated data, each a hash of (seed, row, position): any chunk can be made on its own."""

from __future__ import annotations

from math import cos, exp, log, pi, sqrt

import numpy as np

from epro.kernels.records import kernel

U30, U27, U31, U11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
LENGTHS, VALUES, NOISE, TRUTH = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

NUMERIC = 8  # the most frequent columns hold a number, the others a one
COMMON = 4  # the columns below this rank occur in nearly every row, and would act as an intercept
DENSE_TRUTH = 32.0


@kernel
def mix(key):  # type: ignore[no-untyped-def]
    """A bijection of the 64-bit integers whose outputs look random (the finaliser of SplitMix64)."""
    key = (key ^ (key >> U30)) * FIRST
    key = (key ^ (key >> U27)) * SECOND
    return key ^ (key >> U31)


@kernel
def stream(seed, purpose, row):  # type: ignore[no-untyped-def]
    """The key of one row's draws for one purpose."""
    return mix(mix(np.uint64(seed) * GOLDEN + purpose) + np.uint64(row) * GOLDEN)


@kernel
def uniform(key, position):  # type: ignore[no-untyped-def]
    """A number in [0, 1), with 53 random bits."""
    return float(mix(key + np.uint64(position) * GOLDEN) >> U11) * 2.0**-53


@kernel
def normal(key):  # type: ignore[no-untyped-def]
    """A standard normal number."""
    return sqrt(-2.0 * log(1.0 - uniform(key, 0))) * cos(2.0 * pi * uniform(key, 1))


@kernel
def row_lengths(seed, low, high, first, pointers):  # type: ignore[no-untyped-def]
    """pointers[i + 1] = pointers[i] + the length of row first + i, uniform on low .. high"""
    for i in range(len(pointers) - 1):
        draw = uniform(stream(seed, LENGTHS, first + i), 0)
        pointers[i + 1] = pointers[i] + low + np.int64(draw * (high - low + 1))


@kernel
def weight_of(seed, rank):  # type: ignore[no-untyped-def]
    """The true weight of the column of this rank: nonzero with probability min(1, 32 / rank), then standard normal."""
    key = stream(seed, TRUTH, rank)
    if rank < COMMON or uniform(key, 2) * rank >= DENSE_TRUTH:
        return 0.0
    return normal(key)


@kernel
def scatter(rank, stride, shift, d):  # type: ignore[no-untyped-def]
    """The column of a rank (from 1): a bijection of 0 .. d - 1, since the stride is coprime to d."""
    return (rank * stride + shift) % d


@kernel
def fill_rows(seed, first, noise, d, stride, shift, pointers, indices, data, margins):  # type: ignore[no-untyped-def]
    """Rows first, first + 1, ... into CSR arrays, and the noisy margin <row, truth> of each.

    The ranks of a row of m entries are floor((d + 1)^((j + u_j)/m)), j = 0 .. m - 1, raised by as little as makes
    them differ: one draw from each of m equal parts of a log-uniform law.
    """
    growth = log(d + 1.0)
    start = pointers[0]
    for i in range(len(pointers) - 1):
        begin, stop = pointers[i] - start, pointers[i + 1] - start
        m = stop - begin
        key = stream(seed, VALUES, first + i)
        rank, norm2, margin = np.int64(0), 0.0, 0.0
        for j in range(m):
            draw = np.int64(exp(growth * ((j + uniform(key, j)) / m)))
            rank = min(max(draw, rank + 1), d - (m - 1 - j))
            value = 1.0 - uniform(key, m + j) if rank <= NUMERIC else 1.0
            norm2 += value * value
            margin += value * weight_of(seed, rank)
            column = scatter(rank, stride, shift, d)
            at = begin + j  # insertion: rows are short
            while at > begin and indices[at - 1] > column:
                indices[at], data[at] = indices[at - 1], data[at - 1]
                at -= 1
            indices[at], data[at] = column, value
        scale = 1.0 / sqrt(norm2)
        for at in range(begin, stop):
            data[at] = data[at] * scale
        margins[i] = margin * scale + noise * normal(stream(seed, NOISE, first + i))


@kernel
def true_weights(seed, d, stride, shift, columns, weights):  # type: ignore[no-untyped-def]
    """Writes the nonzero true weights and their columns; returns how many there are."""
    count = 0
    for rank in range(1, d + 1):
        weight = weight_of(seed, rank)
        if weight != 0.0:
            if count < len(columns):
                columns[count], weights[count] = scatter(rank, stride, shift, d), weight
            count += 1
    return count

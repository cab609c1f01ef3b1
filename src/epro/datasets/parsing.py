"""The compiled parser of LIBSVM text: one chunk of whole lines in, arrays of rows out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from epro.kernels.records import kernel

Array = Any

OK, BAD_LABEL, BAD_INDEX, NO_COLON, BAD_VALUE, LOW_INDEX, NOT_INCREASING, HIGH_INDEX, HIGH_VALUE = range(9)

# entries of the array ``state``: where a chunk ended; the number of columns allowed, the index of the first
ROWS, NONZEROS, LINES, ERROR, ERROR_AT, REDONE, LARGEST, LIMIT, BASE = range(9)

TAB, NEWLINE, RETURN, SPACE, HASH, PLUS, COMMA, MINUS, POINT, ZERO, NINE, COLON = b"\t\n\r #+,-.09:"
UPPER_E, LOWER_E, QID = ord("E"), ord("e"), b"qid:"
Q, I, D = QID[0], QID[1], QID[2]

WIDEST = 60  # powers of ten beyond this are left to Python


def _powers() -> Array:
    """10^k, k = -WIDEST .. WIDEST, each as the unevaluated sum of two doubles."""
    table = np.empty((2 * WIDEST + 1, 2))
    for k in range(-WIDEST, WIDEST + 1):
        exact = Fraction(10) ** k
        high = float(exact)
        table[k + WIDEST] = high, float(exact - Fraction(high))
    return table


POWERS = _powers()


@kernel
def scaled(mantissa, exponent, powers):  # type: ignore[no-untyped-def]
    """(mantissa * 10^exponent, whether that is surely the nearest double).

    A mantissa below 2^53 and a power up to 10^22 are exact doubles, so one operation rounds once. Otherwise the product
    of two double-doubles is s + e with a relative error below 2^-100; s is the nearest double unless e lies so
    close to half a unit of s that the error could tip it, and then Python decides.
    """
    if mantissa == 0:
        return 0.0, True
    exact = float(mantissa)
    if mantissa < 9007199254740992 and -22 <= exponent <= 22:
        if exponent < 0:
            return exact / powers[WIDEST - exponent, 0], True
        return exact * powers[WIDEST + exponent, 0], True
    if exponent < -WIDEST or exponent > WIDEST:
        return 0.0, False
    rest = float(mantissa - np.int64(exact))
    high, low = powers[WIDEST + exponent, 0], powers[WIDEST + exponent, 1]
    product = exact * high
    a = 134217729.0 * exact
    a = a - (a - exact)
    b = 134217729.0 * high
    b = b - (b - high)
    error = ((a * b - product) + a * (high - b) + (exact - a) * b) + (exact - a) * (high - b)
    tail = error + (exact * low + rest * high)
    s = product + tail
    e = tail - (s - product)
    return s, s + e * (1.0 + 2.0**-40) == s


@kernel
def power(text, at):  # type: ignore[no-untyped-def]
    """(exponent, where it ends, number of digits) of what follows an "e"."""
    down = text[at] == MINUS
    if down or text[at] == PLUS:
        at += 1
    shift, places = np.int64(0), 0
    while ZERO <= text[at] <= NINE:
        shift = min(shift * 10 + (text[at] - ZERO), np.int64(100000))
        places += 1
        at += 1
    return -shift if down else shift, at, places


@kernel
def number(text, at, powers):  # type: ignore[no-untyped-def]
    """(value, where it ends, 0 malformed | 1 read | 2 for Python to read) of the decimal number at ``at``."""
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    mantissa, exponent, digits, kept = np.int64(0), np.int64(0), 0, 0
    while ZERO <= text[at] <= NINE:
        if kept < 18:
            mantissa = mantissa * 10 + (text[at] - ZERO)
            kept += mantissa > 0
        else:
            kept += 1
            exponent += 1
        digits += 1
        at += 1
    if text[at] == POINT:
        at += 1
        while ZERO <= text[at] <= NINE:
            if kept < 18:
                mantissa = mantissa * 10 + (text[at] - ZERO)
                kept += mantissa > 0
                exponent -= 1
            else:
                kept += 1
            digits += 1
            at += 1
    if digits == 0:
        return 0.0, at, 0
    if text[at] == LOWER_E or text[at] == UPPER_E:
        shift, at, places = power(text, at + 1)
        if places == 0:
            return 0.0, at, 0
        exponent += shift
    value, sure = scaled(mantissa, exponent, powers)
    return -value if negative else value, at, 1 if sure and kept <= 18 else 2


@kernel
def blank(byte):  # type: ignore[no-untyped-def]
    return byte == SPACE or byte == TAB or byte == RETURN


@kernel
def ends(byte):  # type: ignore[no-untyped-def]
    return byte == SPACE or byte == NEWLINE or byte == TAB or byte == RETURN or byte == HASH


@kernel
def label_of(text, at, powers):  # type: ignore[no-untyped-def]
    """(label, where the entries begin, kind as in `number`), with a query identifier skipped.

    The kind is -1 where the query identifier is malformed; it stands where the entries would begin.
    """
    value, at, kind = number(text, at, powers)
    if kind == 0 or not ends(text[at]):
        return value, at, 0
    here = at
    while blank(text[here]):
        here += 1
    if text[here] == Q and text[here + 1] == I and text[here + 2] == D and text[here + 3] == COLON:
        at = here
        here += 4
        first = here
        while not ends(text[here]):
            if not (ZERO <= text[here] <= NINE or (text[here] == MINUS and here == first)):
                return value, at, -1
            here += 1
        if here == first:
            return value, at, -1
        at = here
    return value, at, kind


@kernel
def entries(text, at, huge, powers, indices, values, filled, redo, state):  # type: ignore[no-untyped-def]
    """Reads ``index:value`` up to the end of the line; returns (the newline or an error's place, nonzeros, error)."""
    previous, base, limit = np.int64(-1), state[BASE], state[LIMIT]
    while True:
        while blank(text[at]):
            at += 1
        if text[at] == HASH:
            while text[at] != NEWLINE:
                at += 1
        if text[at] == NEWLINE:
            return at, filled, OK
        start, column = at, np.int64(0)
        while ZERO <= text[at] <= NINE:
            column = min(column * 10 + (text[at] - ZERO), np.int64(1 << 40))
            at += 1
        if text[at] != COLON:
            return start, filled, NO_COLON if at > start and ends(text[at]) else BAD_INDEX
        if at == start:
            return start, filled, BAD_INDEX
        column -= base
        if column < 0:
            return start, filled, LOW_INDEX
        if column >= limit:
            return start, filled, HIGH_INDEX
        if column <= previous:
            return start, filled, NOT_INCREASING
        value, end, kind = number(text, at + 1, powers)
        if kind == 0 or not ends(text[end]):
            return at + 1, filled, BAD_VALUE
        if abs(value) > huge:
            return at + 1, filled, HIGH_VALUE
        if kind == 2:
            redo[state[REDONE], 0], redo[state[REDONE], 1] = at + 1, filled
            state[REDONE] += 1
        indices[filled] = column
        values[filled] = value
        filled += 1
        previous, at = column, end


@kernel
def parse(text, stop, huge, powers, labels, row_ends, indices, values, redo, state):  # type: ignore[no-untyped-def]
    """Parses text[:stop], whole lines each ended by a newline (so that no scan needs a bound).

    ``row_ends[r]`` is the number of nonzeros up to row r; a number that Python must read leaves its place and its
    position in ``redo`` (a label's position is -1 - row). What was reached is left in ``state``.
    """
    at, rows, filled, lines = 0, 0, 0, 0
    state[:LARGEST] = 0
    while at < stop:
        while blank(text[at]):
            at += 1
        if text[at] == HASH:
            while text[at] != NEWLINE:
                at += 1
        if text[at] != NEWLINE:
            start = at
            label, at, kind = label_of(text, at, powers)
            if kind <= 0 or abs(label) > huge:
                state[ERROR] = BAD_LABEL if kind <= 0 else HIGH_VALUE
                state[ERROR_AT] = at if kind < 0 else start
                break
            if kind == 2:
                redo[state[REDONE], 0], redo[state[REDONE], 1] = start, -1 - rows
                state[REDONE] += 1
            labels[rows] = label
            first = filled
            at, filled, error = entries(text, at, huge, powers, indices, values, filled, redo, state)
            if error != OK:
                state[ERROR], state[ERROR_AT] = error, at
                break
            if filled > first:
                state[LARGEST] = max(state[LARGEST], indices[filled - 1])
            row_ends[rows] = filled
            rows += 1
        at += 1
        lines += 1
    state[ROWS], state[NONZEROS], state[LINES] = rows, filled, lines

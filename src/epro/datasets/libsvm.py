"""Reading LIBSVM text of any size into CSR arrays, on disk or in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from epro.datasets import parsing, storage
from epro.datasets.progress import Bar
from epro.datasets.text import line_chunks

Array = Any

LARGEST_COLUMN = np.iinfo(np.int32).max

SENTENCES = {
    parsing.BAD_LABEL: "the line must start with a label (a number, then qid:<integer> at most), found {token!r}",
    parsing.BAD_INDEX: "expected <index>:<value> with an integer index, found {token!r}",
    parsing.NO_COLON: "a colon is missing after the index, found {token!r}",
    parsing.BAD_VALUE: "the value {token!r} is not a number",
    parsing.LOW_INDEX: "indices start at {base}, found {token!r}",
    parsing.NOT_INCREASING: "indices must increase along a line, found {token!r} after an index at least as large",
    parsing.HIGH_INDEX: "the index of {token!r} is above the largest allowed, {highest}",
    parsing.HIGH_VALUE: "{token!r} is not finite in {dtype}",
}


class MalformedLine(ValueError):
    """A line of the file is not LIBSVM text; ``line`` is its number, from 1."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}, line {line}: {what}")
        self.line = line


class _Chunk:
    """Arrays large enough for whatever a chunk of a given length can hold, and the parser's call."""

    def __init__(self, path: Path, length: int, dtype: Any, limit: int, base: int) -> None:
        self.path, self.dtype = path, np.dtype(dtype)
        self.huge = float(np.finfo(dtype).max)
        self.lines = 0  # before this chunk
        self.state = np.zeros(9, np.int64)
        self.state[parsing.LARGEST], self.state[parsing.LIMIT], self.state[parsing.BASE] = -1, limit, base
        self.grow(length)

    def grow(self, length: int) -> None:
        """A row takes at least two bytes ("1" and a newline), an entry four, a number left to Python five."""
        self.length = length
        self.labels, self.row_ends = np.empty(length // 2 + 1, self.dtype), np.empty(length // 2 + 1, np.int64)
        self.indices, self.values = np.empty(length // 4 + 1, np.int32), np.empty(length // 4 + 1, self.dtype)
        self.redo = np.empty((length // 5 + 1, 2), np.int64)

    def parse(self, text: Array, stop: int) -> tuple[int, int]:
        """(rows, nonzeros) of text[:stop]; an error names the line."""
        if stop > self.length:
            self.grow(stop)
        arrays = self.labels, self.row_ends, self.indices, self.values, self.redo, self.state
        parsing.parse(text, stop, self.huge, parsing.POWERS, *arrays)
        state = self.state
        for at, place in self.redo[: state[parsing.REDONE]]:
            number = float(_token(text, at))
            if not abs(number) <= self.huge:
                raise self._error(text, at, parsing.HIGH_VALUE)
            if place < 0:
                self.labels[-1 - place] = number
            else:
                self.values[place] = number
        if state[parsing.ERROR] != parsing.OK:
            raise self._error(text, int(state[parsing.ERROR_AT]), int(state[parsing.ERROR]))
        self.lines += int(state[parsing.LINES])
        return int(state[parsing.ROWS]), int(state[parsing.NONZEROS])

    def _error(self, text: Array, at: int, code: int) -> MalformedLine:
        token, base = _token(text, at), int(self.state[parsing.BASE])
        if code in (parsing.BAD_VALUE, parsing.BAD_LABEL) and _not_finite(token):
            code = parsing.HIGH_VALUE
        highest = int(self.state[parsing.LIMIT]) - 1 + base
        what = SENTENCES[code].format(token=token, base=base, highest=highest, dtype=self.dtype)
        return MalformedLine(self.path, self.lines + int(np.count_nonzero(text[:at] == parsing.NEWLINE)) + 1, what)


def _token(text: Array, at: int) -> str:
    words = text[at : at + 400].tobytes().split(b"\n")[0].split(b"#")[0].split()
    word = words[0] if words and not parsing.blank(text[at]) else b""
    return word.decode("utf-8", "backslashreplace") if len(word) < 350 else word[:40].decode("latin1") + "..."


def _not_finite(token: str) -> bool:
    return token.lower().lstrip("+-") in ("nan", "inf", "infinity")


def read_libsvm(
    path: Any,
    out: Any = None,
    n_features: int | None = None,
    dtype: Any = np.float64,
    progress: bool | None = None,
    *,
    zero_based: bool = False,
) -> tuple[sparse.csr_matrix, Array]:
    """Reads a LIBSVM (SVMlight) text file, plain or compressed, of any size.

    Each line is ``label index:value index:value ...``, the indices increasing. ``qid:<integer>`` after the label,
    everything after ``#`` and empty lines are skipped. Memory is bounded by a chunk of a few megabytes when ``out`` is
    given (more only for a longer line), and by the matrix otherwise. Numbers are rounded as Python rounds them.

    Parameters
    ----------
    path : path
        The file; gzip, bzip2 and xz are recognised by their first bytes and decompressed in a second thread.
    out : path, optional
        A directory for memory-mapped arrays, see `load_csr`. It must not hold a matrix yet; nothing is left in it when
        the file is malformed.
    n_features : int, optional
        The number of columns; a larger index is an error. The largest index found, by default.
    dtype : {float64, float32}
        Of the values and the labels.
    progress : bool, optional
        True or False shows or hides the progress bar (never before two seconds); by default it is shown on a terminal.
    zero_based : bool
        Whether the first column has index 0 instead of 1.

    Returns
    -------
    X : scipy.sparse.csr_matrix
        int64 row pointers, int32 column indices.
    y : ndarray
        The labels.

    Raises
    ------
    MalformedLine
        A `ValueError` that names the line and what is wrong with it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from epro.datasets import read_libsvm
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = pathlib.Path(place, "two.txt")
    ...     _ = file.write_text("+1 1:0.5 3:2 # a comment\\n-1 2:1e-1\\n")
    ...     X, y = read_libsvm(file)
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 0.1, 0. ]])
    >>> y
    array([ 1., -1.])
    """
    path, dtype, limit = Path(path), storage.floating(dtype), _limit(n_features)
    if out is None:
        arrays = [storage.Grown(kind) for kind in (dtype, np.int32, np.int64, dtype)]
        width = _stream(path, arrays, dtype, limit, 0 if zero_based else 1, progress)
        data, indices, indptr, y = (array.values for array in arrays)
        return storage.csr(data, indices, indptr, (len(y), n_features or width)), y
    directory = storage.prepare(out)
    arrays = [storage.Appended(directory, *of) for of in zip(storage.NAMES, (dtype, "i4", "i8", dtype), strict=True)]
    try:
        width = _stream(path, arrays, dtype, limit, 0 if zero_based else 1, progress)
        storage.finish(directory, (arrays[3].size, n_features or width))
    except BaseException:
        for array in arrays:
            array.file.close()
        storage.discard(directory)
        raise
    return storage.load_csr(directory)


def _stream(path: Path, arrays: Any, dtype: Any, limit: int, base: int, progress: bool | None) -> int:
    """Parses the file into (data, indices, indptr, y); returns the number of columns met."""
    data, indices, indptr, y = arrays
    chunk: _Chunk | None = None
    nonzeros = 0
    size = os.path.getsize(path)
    with line_chunks(path) as chunks, Bar(f"Reading {path.name}", size, progress, "bytes") as bar:
        for text, stop, done in chunks:
            first = chunk is None
            chunk = chunk or _Chunk(path, stop, dtype, limit, base)
            rows, new = chunk.parse(text, stop)
            if first:
                for array, count in ((data, new), (indices, new), (indptr, rows + 1), (y, rows)):
                    array.expect(int(1.02 * count * size / done))
                indptr.append(np.zeros(1, np.int64))
            data.append(chunk.values[:new])
            indices.append(chunk.indices[:new])
            indptr.append(chunk.row_ends[:rows] + nonzeros)
            y.append(chunk.labels[:rows])
            nonzeros += new
            bar.to(done)
    if chunk is None or y.size == 0:
        raise ValueError(f"{path} is empty: it has no line with a label")
    for array in arrays:
        array.close()
    return int(chunk.state[parsing.LARGEST]) + 1


def _limit(n_features: int | None) -> int:
    if n_features is None:
        return LARGEST_COLUMN
    if not 0 < int(n_features) <= LARGEST_COLUMN:
        raise ValueError(f"n_features must be between 1 and {LARGEST_COLUMN}, got {n_features}")
    return int(n_features)

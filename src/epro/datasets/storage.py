"""A CSR matrix and its labels in a directory of ``.npy`` files, opened without reading them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

Array = Any

NAMES = ("data", "indices", "indptr", "y")
CARD = "matrix.json"


def csr(data: Array, indices: Array, indptr: Array, shape: tuple[int, int]) -> sparse.csr_matrix:
    """A CSR matrix around these very arrays, whose columns are sorted and unique in each row.

    SciPy's constructor brings both index arrays to one type, which narrows the pointers (or widens, and so copies, all
    the indices); setting the attributes does neither.
    """
    matrix = sparse.csr_matrix(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def floating(dtype: Any) -> Any:
    """float32 or float64, checked."""
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype}")
    return dtype


def prepare(directory: Any) -> Path:
    """The directory, made where needed; an error where it already holds a finished matrix."""
    directory = Path(directory)
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(f"{directory} is a file; a memory-mapped matrix needs a directory")
    if (directory / CARD).exists():
        raise FileExistsError(f"{directory} already holds a matrix; open it with load_csr, or remove the directory")
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def finish(directory: Path, shape: tuple[int, int]) -> None:
    """Marks the matrix as whole; until then `load_csr` refuses it."""
    part = directory / (CARD + ".part")
    part.write_text(json.dumps({"format": "csr", "version": 1, "shape": [int(side) for side in shape]}) + "\n")
    part.replace(directory / CARD)


def discard(directory: Path) -> None:
    """Removes an unfinished matrix, and the directory where nothing else is in it."""
    for name in NAMES:
        (directory / f"{name}.npy").unlink(missing_ok=True)
    (directory / (CARD + ".part")).unlink(missing_ok=True)
    if not any(directory.iterdir()):
        directory.rmdir()


def allocate(directory: Path, name: str, size: int, dtype: Any) -> Array:
    """A writable memory-mapped vector of known length."""
    return np.lib.format.open_memmap(directory / f"{name}.npy", mode="w+", dtype=np.dtype(dtype), shape=(size,))


class Appended:
    """A ``.npy`` vector on disk that grows at its end."""

    def __init__(self, directory: Path, name: str, dtype: Any) -> None:
        self.dtype, self.size = np.dtype(dtype), 0
        self.file: BinaryIO = open(directory / f"{name}.npy", "wb")  # closed by `close`
        self._header()

    def _header(self) -> None:
        # NumPy pads the header so that a longer length fits in the same number of bytes
        description = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": (self.size,)}
        np.lib.format.write_array_header_1_0(self.file, description)

    def expect(self, size: int) -> None:
        """Nothing to do: files grow by themselves."""

    def append(self, values: Array) -> None:
        np.ascontiguousarray(values, dtype=self.dtype).tofile(self.file)
        self.size += len(values)

    def close(self) -> None:
        self.file.seek(0)
        self._header()
        self.file.close()


class Grown:
    """A vector in memory that grows at its end, by a quarter at a time beyond what was expected."""

    def __init__(self, dtype: Any) -> None:
        self.values, self.size = np.empty(0, dtype), 0

    def expect(self, size: int) -> None:
        """Reserves room (which the system provides when it is written to)."""
        self.values = np.empty(size, self.values.dtype)

    def append(self, values: Array) -> None:
        needed = self.size + len(values)
        if needed > len(self.values):
            # in place: large blocks are remapped, not copied, so the peak stays near the final size
            self.values.resize(max(needed, len(self.values) * 5 // 4, 1024), refcheck=False)
        self.values[self.size : needed] = values
        self.size = needed

    def close(self) -> None:
        self.values.resize(self.size, refcheck=False)


def load_csr(directory: Any, *, mmap_mode: str | None = "r") -> tuple[sparse.csr_matrix, Array]:
    """Opens a matrix written by `read_libsvm` or `make_algebra`, without reading it into memory.

    Parameters
    ----------
    directory : path
        Where ``data.npy``, ``indices.npy``, ``indptr.npy``, ``y.npy`` and ``matrix.json`` are.
    mmap_mode : {"r", "c", None}
        Read-only (the default), private changes in memory, or read everything into memory.

    Returns
    -------
    X : scipy.sparse.csr_matrix
        int64 row pointers, int32 column indices. The arrays are the memory maps themselves. SciPy's own products first
        bring both index arrays to one type; ``scipy.sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)``
        does so once, copying only the pointers, where there are fewer than 2^31 nonzeros.
    y : ndarray
        One label for each row.

    Examples
    --------
    >>> import tempfile
    >>> from epro.datasets import load_csr, make_algebra
    >>> with tempfile.TemporaryDirectory() as place:
    ...     X, y = make_algebra(n=100, d=1000, nnz_per_row=8, path=place)
    ...     again, _ = load_csr(place)
    ...     print(again.shape, again.indptr.dtype, bool((again != X).nnz))
    (100, 1000) int64 False
    """
    directory = Path(directory)
    if mmap_mode not in ("r", "c", None):
        raise ValueError(f"mmap_mode must be 'r', 'c' or None, got {mmap_mode!r}")
    try:
        card = json.loads((directory / CARD).read_text())
        shape = (int(card["shape"][0]), int(card["shape"][1]))
    except FileNotFoundError:
        raise FileNotFoundError(f"{directory} holds no finished matrix: {CARD} is missing") from None
    except (ValueError, KeyError, IndexError, TypeError):
        raise ValueError(f"{directory / CARD} is not a description of a matrix") from None
    data, indices, indptr, y = (_open(directory / f"{name}.npy", mmap_mode) for name in NAMES)
    if len(indptr) != shape[0] + 1 or len(y) != shape[0] or not len(data) == len(indices) == indptr[-1]:
        raise ValueError(
            f"the arrays in {directory} do not fit together: {len(indptr)} pointers, {len(y)} labels, "
            f"{len(indices)} indices and {len(data)} values for shape {shape}"
        )
    return csr(data, indices, indptr, shape), y


def _open(path: Path, mmap_mode: Any) -> Array:
    try:
        return np.load(path, mmap_mode=mmap_mode)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path.parent} is not whole: {path.name} is missing") from None
    except ValueError as error:
        raise ValueError(f"{path} cannot be opened as an array ({error}); it may be cut off") from None

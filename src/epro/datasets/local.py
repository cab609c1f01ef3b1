"""Where data files are kept, and the small published sets among them."""

from __future__ import annotations

import csv
import os
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

Array = Any

MATRIX = frozenset({"data", "indices", "indptr", "shape", "format", "X", "y"})


@dataclass(frozen=True)
class Dataset:
    """Features, labels and whatever else the file holds; unpacks as ``X, y``.

    Parameters
    ----------
    X : ndarray or scipy.sparse.csr_matrix
    y : ndarray
    extras : dict
        Further arrays by name, such as ``label_names`` or ``edges``.
    """

    X: Any
    y: Any
    extras: dict[str, Array] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))


def data_dir(data_home: Any = None) -> Path:
    """The directory of data files: ``data_home``, else ``$EPRO_DATA``, else ``epro/data`` in the user's cache.

    Examples
    --------
    >>> from epro.datasets import data_dir
    >>> print(data_dir("somewhere").as_posix())
    somewhere
    """
    if data_home is not None:
        return Path(data_home).expanduser()
    if os.environ.get("EPRO_DATA"):
        return Path(os.environ["EPRO_DATA"]).expanduser()
    if os.environ.get("XDG_CACHE_HOME"):
        cache = Path(os.environ["XDG_CACHE_HOME"])
    elif sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path.home() / ".cache"
    return cache / "epro" / "data"


def load(name: str, data_home: Any = None, *, dtype: Any = None) -> Dataset:
    """Loads a small set from ``<name>.npz`` or ``<name>.csv`` in the data directory (see `data_dir`).

    Parameters
    ----------
    name : str
        Such as ``"a9a"``, ``"w8a"``, ``"usps_train"`` or ``"prostate"``. An ``.npz`` file holds either a CSR matrix as
        ``scipy.sparse.save_npz`` writes it, or a dense ``X``, and ``y``. A ``.csv`` file has a header; its
        last column is y, except that a column named ``train`` goes to the extras.
    data_home : path, optional
    dtype : dtype, optional
        Of X, and of y where it holds floats; as in the file by default (integer features become float64).

    Returns
    -------
    Dataset
        Unpacks as ``X, y``; the file's other arrays are in ``extras``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from epro.datasets import load
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = pathlib.Path(place, "two.csv").write_text("a,b,y\\n1,2,3\\n4,5,6\\n")
    ...     X, y = load("two", place)
    >>> X.tolist(), y.tolist()
    ([[1.0, 2.0], [4.0, 5.0]], [3.0, 6.0])
    """
    folder = data_dir(data_home)
    path = folder / f"{name}.npz"
    path = path if path.exists() else folder / f"{name}.csv"
    if not path.exists():
        have = sorted(file.stem for file in (*folder.glob("*.npz"), *folder.glob("*.csv"))) if folder.is_dir() else []
        raise FileNotFoundError(
            f"no data set {name!r} in {folder} (expected {name}.npz or {name}.csv; "
            f"{'it has ' + ', '.join(have) if have else 'it has none'}); set data_home, or EPRO_DATA, to its directory"
        )
    return read_table(path, dtype)


def read_table(path: Path, dtype: Any = None) -> Dataset:
    """An ``.npz`` or ``.csv`` file, laid out as `load` describes."""
    found = _read_csv(path) if path.suffix == ".csv" else read_npz(path)
    X = found.X if dtype is None and np.issubdtype(found.X.dtype, np.floating) else found.X.astype(dtype or float)
    y = found.y.astype(dtype) if dtype is not None and np.issubdtype(found.y.dtype, np.floating) else found.y
    return Dataset(X, y, found.extras)


def read_npz(path: Path) -> Dataset:
    """A CSR or dense matrix X, the labels y, and the file's other arrays; nothing is unpickled."""
    file = _arrays(path)
    names = set(file)
    if "y" not in names:
        raise ValueError(f"{path} has no array 'y', found {sorted(names)}")
    if {"data", "indices", "indptr", "shape"} <= names:
        arrays = file["data"], file["indices"], file["indptr"]
        X: Any = sparse.csr_matrix(arrays, shape=tuple(int(side) for side in file["shape"]))
    elif "X" in names:
        X = file["X"]
    else:
        raise ValueError(f"{path} has neither 'X' nor the arrays of a CSR matrix, found {sorted(names)}")
    y = file["y"]
    extras = {name: file[name] for name in sorted(names - MATRIX)}
    if X.shape[0] != len(y):
        raise ValueError(f"{path} has {X.shape[0]} rows, but {len(y)} labels")
    return Dataset(X, y, extras)


def _arrays(path: Path) -> dict[str, Array]:
    """All arrays of an ``.npz`` file."""
    what = "it is not a zip archive"
    try:
        if zipfile.is_zipfile(path):
            with np.load(path, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        what = str(error)
    raise ValueError(f"{path} is not an .npz file of plain arrays: {what}")


def _read_csv(path: Path) -> Dataset:
    with open(path, newline="") as file:
        reader = csv.reader(file)
        header = next((row for row in reader if row), None)
        if header is None:
            raise ValueError(f"{path} is empty: it has no header")
        rows = []
        for row in reader:
            if row and len(row) != len(header):
                raise ValueError(
                    f"{path}, line {reader.line_num}: {len(row)} entries, but the header names {len(header)} columns"
                )
            rows += [row] * bool(row)
    columns = {name: [row[k] for row in rows] for k, name in enumerate(header)}
    train = columns.pop("train", None)
    *features, target = columns
    try:
        X = np.array([[float(value) for value in columns[name]] for name in features]).T
        y = np.array([float(value) for value in columns[target]])
    except ValueError as error:
        raise ValueError(f"{path} has an entry that is not a number: {error}") from None
    extras: dict[str, Array] = {"columns": np.array(features)}
    if train is not None:
        extras["train"] = np.array([value.strip().lower() in ("true", "t", "1") for value in train])
    return Dataset(np.ascontiguousarray(X), y, extras)

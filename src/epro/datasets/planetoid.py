"""Reading the Planetoid files of a citation set, without letting a pickle run anything."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

Array = Any

FILES = ("tx", "ty", "allx", "ally", "graph", "test.index")  # "x" and "y" are the first rows of "allx" and "ally"


class _Matrix:
    """Takes the place of a sparse matrix: keeps its attributes, does nothing."""

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple):  # protocol 2 may pair the attributes with slots
            state = state[0]
        self.parts = dict(state)

    def csr(self) -> sparse.csr_matrix:
        parts = {str(name).lstrip("_"): value for name, value in self.parts.items()}
        return sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))


def _rebuilt(kind: Any, base: Any, state: Any) -> Any:
    if kind is not _Matrix:
        raise pickle.UnpicklingError("only a sparse matrix may be rebuilt")
    return _Matrix()


def _array(kind: Any, shape: Any, code: Any) -> Array:
    return np.ndarray((0,), np.int8)  # filled by the state that follows


def _bytes(text: str, encoding: str) -> bytes:
    return text.encode("latin1")  # how Python 3 writes bytes for Python 2


def _dictionary(*_: Any) -> dict[Any, Any]:
    return {}


KNOWN: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _array for core in ("core", "_core")},
    **{(f"scipy.sparse.{module}", "csr_matrix"): _Matrix for module in ("csr", "_csr")},
    **{(module, "_reconstructor"): _rebuilt for module in ("copy_reg", "copyreg")},
    **{(module, "object"): object for module in ("__builtin__", "builtins")},
    **{(module, "list"): list for module in ("__builtin__", "builtins")},
    ("_codecs", "encode"): _bytes,
    ("collections", "defaultdict"): _dictionary,
}


class _Unpickler(pickle.Unpickler):
    """Knows the few names of `KNOWN`, none of which runs anything."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        try:
            return KNOWN[module_name, global_name]
        except KeyError:
            raise pickle.UnpicklingError(f"it names {module_name}.{global_name}, which is not data") from None


def read(path: Path) -> Any:
    """An array, a CSR matrix or a dictionary of lists."""
    try:
        with open(path, "rb") as file:
            found = _Unpickler(file, encoding="latin1").load()
        return found.csr() if isinstance(found, _Matrix) else found
    except (pickle.UnpicklingError, EOFError, KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} cannot be read as a Planetoid file: {error}") from None


def assemble(files: dict[str, Path]) -> tuple[sparse.csr_matrix, Array, Array]:
    """(X, y, edges) in the order of the graph's nodes.

    ``allx`` holds the first rows; the rows of ``tx`` belong to the nodes listed in ``test.index``, in that order.
    """
    order = np.array(files["test.index"].read_text().split(), dtype=np.int64)
    known, tested = read(files["allx"]), read(files["tx"])
    position = np.concatenate([np.arange(known.shape[0]), order])
    if not np.array_equal(np.sort(position), np.arange(len(position))) or len(order) != tested.shape[0]:
        raise ValueError(f"{files['test.index']} does not list each test node once")
    back = np.argsort(position)
    X = sparse.csr_matrix(sparse.vstack([known, tested]))[back]
    X.sort_indices()
    y = np.concatenate([read(files["ally"]), read(files["ty"])])[back].argmax(axis=1)
    pairs = {(min(i, j), max(i, j)) for i, others in read(files["graph"]).items() for j in others if i != j}
    return X, y.astype(np.int64), np.array(sorted(pairs), dtype=np.int32)

"""Cora from a local file, from the Planetoid files, and a generator of its shape."""

import pickle
import sys
import types
from collections import defaultdict

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

from epro.datasets import fetch_cora, make_cora_like, planetoid, published


def cora_shaped():
    """A matrix with exactly Cora's shape, number of ones and class sizes."""
    X, y = make_cora_like(seed=1, words=18.6, dtype=np.float32)
    X = sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
    keep = np.ones(X.nnz, bool)
    keep[X.indptr[np.flatnonzero(np.diff(X.indptr) > 10)[: X.nnz - published.CORA_NONZEROS]]] = False
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[keep]
    X = sparse.csr_matrix((X.data[keep], (rows, X.indices[keep])), shape=X.shape)
    X.sort_indices()
    assert X.nnz == published.CORA_NONZEROS
    return X, y


def write_npz(path, X, y, edges):
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    np.savez(path, **arrays, y=y, edges=edges, label_names=np.array(published.CORA_LABELS))


@pytest.mark.parametrize("by", ["argument", "environment"])
def test_a_local_file_is_taken(tmp_path, monkeypatch, by):
    X, y = cora_shaped()
    write_npz(tmp_path / "cora.npz", X, y, np.array([[0, 1]]))
    monkeypatch.setenv("EPRO_DATA", str(tmp_path if by == "environment" else tmp_path / "no"))
    found = fetch_cora(tmp_path if by == "argument" else None)
    Z, z = found
    assert (Z != X).nnz == 0 and Z.dtype == np.float64 and np.array_equal(y, z)
    assert found.extras["edges"].tolist() == [[0, 1]] and len(found.extras["label_names"]) == 7


def test_another_file_under_the_name_is_refused(tmp_path):
    X, y = make_cora_like(seed=1)
    write_npz(tmp_path / "cora.npz", X[:100], y[:100], np.zeros((0, 2)))
    with pytest.raises(ValueError, match=r"is not Cora: shape \(100, 1433\)"):
        fetch_cora(tmp_path)


@pytest.fixture
def old_pickles(monkeypatch):
    """Pickles name their classes as SciPy and NumPy did when the files were published."""
    module = types.ModuleType("scipy.sparse.csr")

    class csr_matrix:
        def __init__(self, X):
            self._shape, self.data, self.indices, self.indptr = X.shape, X.data, X.indices, X.indptr
            self.maxprint, self.format = 50, "csr"

    csr_matrix.__module__, csr_matrix.__qualname__ = module.__name__, "csr_matrix"
    module.csr_matrix = csr_matrix
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def write(path, thing):
        thing = csr_matrix(thing) if sparse.issparse(thing) else thing
        content = pickle.dumps(thing, protocol=2 if path.name.endswith("graph") else 0)
        path.write_bytes(content.replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))

    return write


def planetoid_files(folder, X, y, order, edges, write):
    """Splits the set as Planetoid does; ``order`` is test.index."""
    known = X.shape[0] - len(order)
    one_hot = np.eye(7, dtype=np.int32)[y]
    graph = defaultdict(list)
    for i, j in edges:
        graph[int(i)].append(int(j))
        graph[int(j)].append(int(i))
    parts = {"allx": X[:known], "ally": one_hot[:known], "tx": X[order], "ty": one_hot[order], "graph": graph}
    for name, part in parts.items():
        write(folder / f"ind.cora.{name}", part)
    (folder / "ind.cora.test.index").write_text("\n".join(map(str, order)))
    return {name: folder / f"ind.cora.{name}" for name in planetoid.FILES}


def test_planetoid_files_are_put_back_in_order(tmp_path, monkeypatch, old_pickles):
    X, y = cora_shaped()
    order = np.random.default_rng(0).permutation(np.arange(1708, 2708))
    edges = np.array([[0, 5], [3, 2000], [1709, 2707]], dtype=np.int32)
    files = planetoid_files(tmp_path, X, y, order, edges, old_pickles)
    fetched = []

    def download(remote, folder, **_):
        fetched.append(remote.url)
        return files[remote.name.removeprefix("ind.cora.")]

    monkeypatch.setattr(published, "download", download)
    for _ in range(2):
        found = fetch_cora(tmp_path)
        assert (found.X != X).nnz == 0 and np.array_equal(found.y, y) and np.array_equal(found.extras["edges"], edges)
    assert len(fetched) == 6 and all(url.startswith(published.PLANETOID + "ind.cora.") for url in fetched)


def test_an_array_as_python_2_wrote_it(tmp_path):
    # the bytes of the array are a text in Latin-1
    (tmp_path / "ally").write_bytes(
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(I3\ntcnumpy\ndtype\n(S'i4'\nI0\nI1\ntR"
        b"(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nS'\\x01\\x00\\x00\\x00\\xff\\xff\\xff\\xff\\xe9\\x00\\x00\\x00'\ntb."
    )
    found = planetoid.read(tmp_path / "ally")
    assert found.dtype == np.int32 and found.tolist() == [1, -1, 0xE9]


class Harmful:
    def __reduce__(self):
        return print, ("ran",)


def test_a_pickle_that_would_run_something_is_refused(tmp_path, capsys):
    for protocol in (0, 2, 4):
        (tmp_path / "graph").write_bytes(pickle.dumps(Harmful(), protocol=protocol))
        with pytest.raises(ValueError, match=r"names (__builtin__|builtins)\.print, which is not data"):
            planetoid.read(tmp_path / "graph")
    (tmp_path / "graph").write_bytes(b"not a pickle")
    with pytest.raises(ValueError, match="cannot be read as a Planetoid file"):
        planetoid.read(tmp_path / "graph")
    assert capsys.readouterr().out == ""


def test_a_test_index_that_does_not_fit(tmp_path, old_pickles):
    X, y = make_cora_like(sizes=(3,) * 7)
    files = planetoid_files(tmp_path, X, y, np.arange(15, 21), np.array([[0, 1]]), old_pickles)
    files["test.index"].write_text("15 16 17 18 19 19")
    with pytest.raises(ValueError, match="does not list each test node once"):
        planetoid.assemble(files)


def test_cora_like_has_coras_shape():
    X, y = make_cora_like(seed=0)
    assert X.shape == (2708, 1433) and tuple(np.bincount(y)) == published.CORA_SIZES == (
        351,
        217,
        418,
        818,
        426,
        298,
        180,
    )
    assert (X.data == 1).all() and abs(X.nnz / 2708 - 18.2) < 0.3 and np.diff(X.indptr).min() >= 1
    assert (sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape).sum_duplicates() or X.max()) == 1


def test_cora_like_is_deterministic():
    (X, y), (Z, z), (W, _) = make_cora_like(seed=5), make_cora_like(seed=5), make_cora_like(seed=6)
    assert (X != Z).nnz == 0 and np.array_equal(y, z) and (X != W).nnz > 0


def test_neighbours_are_meaningful_but_not_trivial():
    X, y = make_cora_like(seed=0)
    X = normalize(X)
    accuracy = KNeighborsClassifier(3).fit(X[:1900], y[:1900]).score(X[1900:], y[1900:])
    assert 0.55 < accuracy < 0.8


def test_wrong_arguments():
    with pytest.raises(ValueError, match="topic must be between 0 and 1, got 2"):
        make_cora_like(topic=2)
    with pytest.raises(ValueError, match="words must be between 1 and"):
        make_cora_like(d=20, words=18)

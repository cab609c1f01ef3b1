"""Local files, small generators and the progress bar."""

import io
import subprocess
import sys
import time

import numpy as np
import pytest
from rich import console
from scipy import sparse

from epro import datasets
from epro.datasets import data_dir, load, load_example, make_classification, make_polyhedron, make_regression, progress


def test_where_data_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("EPRO_DATA", str(tmp_path / "set"))
    assert data_dir(tmp_path) == tmp_path and data_dir() == tmp_path / "set"
    monkeypatch.delenv("EPRO_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_dir() == tmp_path / "epro" / "data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert data_dir().is_absolute() and data_dir().parts[-2:] == ("epro", "data")


def test_a_sparse_file(tmp_path):
    X = sparse.random(20, 30, density=0.1, format="csr", random_state=0)
    counts = sparse.csr_matrix(((X.data * 100).astype(np.int16), X.indices, X.indptr), shape=X.shape)
    parts = {"data": counts.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "format": b"csr"}
    np.savez(tmp_path / "small.npz", **parts, y=np.arange(20, dtype=np.int8))
    found = load("small", tmp_path)
    assert (found.X != counts).nnz == 0 and found.X.dtype == np.float64 and found.extras == {}
    assert load("small", tmp_path, dtype=np.float32).X.dtype == np.float32 and found.y.dtype == np.int8


def test_a_dense_file_and_a_table(tmp_path):
    np.savez(
        tmp_path / "dense.npz", X=np.eye(3, dtype=np.float32), y=np.array([0.5, 1, 2]), s_sex=np.array(["a", "b", "a"])
    )
    X, y = load("dense", tmp_path)
    assert X.dtype == np.float32 and y.dtype == np.float64
    assert load("dense", tmp_path).extras["s_sex"].tolist() == ["a", "b", "a"]
    (tmp_path / "table.csv").write_text("a,b,target,train\n1,2,3,True\n4,5,6,False\n")
    found = load("table", tmp_path)
    assert found.X.tolist() == [[1, 2], [4, 5]] and found.y.tolist() == [3, 6]
    assert found.extras["train"].tolist() == [True, False] and found.extras["columns"].tolist() == ["a", "b"]


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no data set 'a9a' in .*it has none.*EPRO_DATA"):
        load("a9a", tmp_path / "absent")
    np.savez(tmp_path / "odd.npz", y=np.zeros(3))
    with pytest.raises(FileNotFoundError, match=r"expected a9a.npz or a9a.csv; it has odd"):
        load("a9a", tmp_path)
    with pytest.raises(ValueError, match="has neither 'X' nor"):
        load("odd", tmp_path)
    np.savez(tmp_path / "odd.npz", X=np.zeros((3, 1)))
    with pytest.raises(ValueError, match="has no array 'y'"):
        load("odd", tmp_path)
    np.savez(tmp_path / "odd.npz", X=np.zeros((3, 1)), y=np.zeros(2))
    with pytest.raises(ValueError, match="has 3 rows, but 2 labels"):
        load("odd", tmp_path)
    (tmp_path / "table.csv").write_text("a,b\n1,x\n")
    with pytest.raises(ValueError, match="not a number"):
        load("table", tmp_path)


def test_regression():
    X, y, truth = make_regression(4000, 30, informative=5, condition=1e4, noise=0.5, return_truth=True)
    scales = X.std(axis=0)
    assert (truth != 0).sum() == 5 and 3e3 < scales.max() / scales.min() < 3e4
    assert abs((X @ truth).var() - 1) < 0.15 and abs((y - X @ truth).std() - 0.5) < 0.03
    assert np.array_equal(make_regression(50, 4, seed=2)[0], make_regression(50, 4, seed=2)[0])
    assert make_regression(50, 4, dtype=np.float32)[1].dtype == np.float32


def test_sparse_classification():
    X, y, truth = make_classification(2000, 200, density=0.05, noise=0.0, flip=0.1, return_truth=True)
    assert X.nnz == 20_000 and X.has_sorted_indices and set(y) == {-1.0, 1.0}
    sure = X @ truth != 0
    assert abs((np.sign(X @ truth)[sure] != y[sure]).mean() - 0.1) < 0.03
    assert (np.sign(X @ truth)[sure] == make_classification(2000, 200, density=0.05, noise=0.0)[1][sure]).all()


def test_polyhedron():
    inside = np.arange(6.0)
    A, b = make_polyhedron(40, 6, seed=1, x_inside=inside, slack=0.5)
    assert A.shape == (40, 6) and (b - A @ inside >= 0.05).all()
    np.testing.assert_allclose(np.linalg.norm(A, axis=1), 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_regression(density=0), "density must be above 0"),
        (lambda: make_regression(condition=0.5), "condition must be a finite number, at least 1"),
        (lambda: make_regression(d=5, informative=6), "informative between 1 and d"),
        (lambda: make_classification(flip=2), "flip must be between 0 and 1"),
        (lambda: make_polyhedron(3, 2, x_inside=[1.0]), r"x_inside must have shape \(2,\)"),
        (lambda: make_polyhedron(3, 2, slack=0), "slack must be"),
        (lambda: load_example("iris"), "no example 'iris'; there are 'algebra'"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", ["algebra", "cora", "regression", "classification"])
def test_examples_are_always_the_same(name):
    (X, y), (Z, z) = load_example(name), load_example(name)
    assert abs(X - Z).max() == 0 and np.array_equal(y, z) and X.shape[0] == len(y)


def test_every_public_name_is_there_and_documented():
    for name in datasets.__all__:
        assert getattr(datasets, name).__doc__


def test_importing_loads_nothing_heavy():
    code = "import sys, epro.datasets; assert not {'numba', 'rich', 'sklearn', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("shown", "patience", "drawn"), [(True, 0.02, True), (True, 9, False), (None, 0.02, False)])
def test_the_bar_is_drawn_only_when_asked_and_late(monkeypatch, shown, patience, drawn):
    stream = io.StringIO()
    real = console.Console
    monkeypatch.setattr(console, "Console", lambda **_: real(file=stream, force_terminal=True))
    monkeypatch.setattr(progress, "PATIENCE", patience)
    with progress.Bar("Counting", 10, shown) as bar:
        time.sleep(0.3)  # one piece of work, longer than the patience
        bar.to(10)
    assert ("Counting" in stream.getvalue()) == drawn


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "is empty: it has no header"),
        ("t.csv", "a,b,y\n1,2,3\n\n4,5\n", "line 4: 2 entries, but the header names 3 columns"),
        ("t.npz", "not an archive", "not an .npz file of plain arrays: it is not a zip archive"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=rf"{name}.*{message}"):
        load("t", tmp_path)


def test_objects_are_not_unpickled(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.array([[1], ["a"]], object), y=np.zeros(2))
    with pytest.raises(ValueError, match=r"t\.npz is not an \.npz file of plain arrays: Object arrays"):
        load("t", tmp_path)

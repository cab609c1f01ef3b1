"""The LIBSVM reader: what it reads, how it rounds, what it refuses, and what it leaves behind."""

import bz2
import gzip
import json
import lzma
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from epro.datasets import MalformedLine, libsvm, load_csr, read_libsvm, text


def written(tmp_path, content, name="data.txt"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_labels_entries_comments_query_identifiers_and_empty_lines(tmp_path):
    content = "# a header\n+1 qid:3 1:0.5\t3:-2e1 # 9:9\r\n\n  -1\n.5 2:+1.#c\n3 qid:-1"
    X, y = read_libsvm(written(tmp_path, content))
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, -20], [0, 0, 0], [0, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(y, [1, -1, 0.5, 3])
    assert (X.indptr.dtype, X.indices.dtype, X.dtype) == (np.int64, np.int32, np.float64)


@pytest.mark.parametrize("chunk", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("compress", [None, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("on_disk", [False, True])
def test_same_matrix_as_scikit_learn_for_any_chunk_and_compression(tmp_path, monkeypatch, chunk, compress, on_disk):
    X = sparse.random(60, 500, density=0.03, format="csr", random_state=0)
    y = np.arange(60) % 3
    plain = tmp_path / "plain"
    dump_svmlight_file(X, y, str(plain), zero_based=False)
    path = written(tmp_path, compress(plain.read_bytes())) if compress else plain
    monkeypatch.setattr(text, "CHUNK", chunk)
    found, labels = read_libsvm(path, tmp_path / "out" if on_disk else None, n_features=500)
    expected, targets = load_svmlight_file(str(plain), n_features=500)
    assert (found != expected).nnz == 0 and found.shape == expected.shape
    np.testing.assert_array_equal(labels, targets)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30), st.integers(0, 3))
def test_numbers_are_rounded_as_python_rounds_them(tmp_path_factory, values, style):
    form = ["{!r}", "{:.17g}", "{:.25e}", "{:.9g}"][style]
    tokens = [form.format(v) for v in values]
    path = written(tmp_path_factory.mktemp("numbers"), "".join(f"1 1:{token}\n" for token in tokens))
    X, _ = read_libsvm(path)
    np.testing.assert_array_equal(X.data, [float(token) for token in tokens])


def test_hard_decimals(tmp_path):
    tokens = [
        *("9007199254740993", "9007199254740992.5", "1e23", "8.5e22", "5e-324", "2.4703282292062328e-324"),
        *("1.7976931348623157e308", "0.1000000000000000055511151231257827", "123456789012345678901234567890"),
        *("1e-400", "000000000000000000000000000001", "0.000000000000000000000000000001", "0e99999", "6.02214076e23"),
        *("1.00000000000000011102230246251565404", "17976931348623157e292", "1e60", "1e-61", "179769313486231570e-60"),
    ]
    X, y = read_libsvm(written(tmp_path, "".join(f"{token} 1:-{token}\n" for token in tokens)))
    expected = np.array([float(token) for token in tokens])
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(X.data, -expected)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("1 2:abc", "value 'abc' is not a number"),
        ("1 2:", "value '' is not a number"),
        ("1 2:1.2.3", "value '1.2.3' is not a number"),
        ("1 2:1e", "value '1e' is not a number"),
        ("1 2:nan", "'nan' is not finite"),
        ("1 2:-inf", "'-inf' is not finite"),
        ("1 2:1e999", "'1e999' is not finite"),
        ("nan 1:1", "'nan' is not finite"),
        ("1 3 4:1", "colon is missing after the index, found '3'"),
        ("1 2:1 x:1", "integer index, found 'x:1'"),
        ("1 :1", "integer index, found ':1'"),
        ("1 -1:1", "integer index, found '-1:1'"),
        ("1 0:1", "indices start at 1, found '0:1'"),
        ("1 3:1 3:2", "indices must increase along a line, found '3:2'"),
        ("1 3:1 2:2", "indices must increase along a line, found '2:2'"),
        ("1 99999999999999999999:1", "above the largest allowed, 2147483647"),
        ("one 1:1", "must start with a label"),
        ("1:1 2:1", "must start with a label"),
        ("1,2 1:1", "must start with a label"),
        ("1 qid:x 1:1", "must start with a label (a number, then qid:<integer> at most), found 'qid:x'"),
        ("1 1:\u00e9", "is not a number"),
    ],
)
@pytest.mark.parametrize("compress", [None, bz2.compress])
def test_a_malformed_line_is_named(tmp_path, monkeypatch, line, what, compress):
    content = ("# header\n\n" + "1 1:1 2:2\n" * 20 + line + "\n1 1:1\n").encode()
    monkeypatch.setattr(text, "CHUNK", 50)
    path = written(tmp_path, compress(content) if compress else content)
    with pytest.raises(MalformedLine, match="line 23: ") as caught:
        read_libsvm(path, tmp_path / "out")
    assert what in str(caught.value) and caught.value.line == 23
    assert not (tmp_path / "out").exists()


def test_the_first_of_several_errors_is_named(tmp_path):
    with pytest.raises(MalformedLine, match="line 1"):
        read_libsvm(written(tmp_path, "1 1:1e999\n1 x\n"))


@pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n"])
def test_an_empty_file_is_an_error(tmp_path, content):
    with pytest.raises(ValueError, match=r"data\.txt is empty"):
        read_libsvm(written(tmp_path, content), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_cut_compressed_file_is_an_error(tmp_path, compress):
    packed = compress(b"".join(b"1 %d:%d\n" % (i + 1, i * i) for i in range(2000)))
    with pytest.raises(ValueError, match="damaged or cut off"):
        read_libsvm(written(tmp_path, packed[: len(packed) // 2]))


def test_number_of_columns_and_the_first_index(tmp_path):
    path = written(tmp_path, "1 0:5 3:1\n")
    assert read_libsvm(path, zero_based=True)[0].shape == (1, 4)
    assert read_libsvm(path, zero_based=True, n_features=9)[0].shape == (1, 9)
    with pytest.raises(MalformedLine, match="index of '3:1' is above the largest allowed, 2"):
        read_libsvm(path, zero_based=True, n_features=3)
    for wrong in (0, 2**31):
        with pytest.raises(ValueError, match="n_features must be between"):
            read_libsvm(path, n_features=wrong)


def test_float32_is_kept_and_its_range_is_checked(tmp_path):
    X, y = read_libsvm(written(tmp_path, "1 1:0.1\n"), dtype=np.float32)
    assert X.dtype == y.dtype == np.float32 and X.data[0] == np.float32(0.1)
    with pytest.raises(MalformedLine, match="not finite in float32"):
        read_libsvm(written(tmp_path, "1 1:1e39\n"), dtype="float32")
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got int64"):
        read_libsvm(tmp_path / "data.txt", dtype=int)


def test_on_disk_the_arrays_are_read_only_maps_that_scipy_did_not_copy(tmp_path):
    X, y = read_libsvm(written(tmp_path, "1 1:1\n-1 2:3\n"), tmp_path / "out")
    for array, dtype in ((X.data, "f8"), (X.indices, "i4"), (X.indptr, "i8"), (y, "f8")):
        assert isinstance(array, np.memmap) and array.dtype == np.dtype(dtype) and not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        X.data[0] = 5
    with pytest.raises(FileExistsError, match="already holds a matrix"):
        read_libsvm(tmp_path / "data.txt", tmp_path / "out")
    narrowed = sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
    assert np.shares_memory(narrowed.data, X.data) and np.shares_memory(narrowed.indices, X.indices)
    in_memory, _ = load_csr(tmp_path / "out", mmap_mode=None)
    assert not isinstance(in_memory.data, np.memmap)
    np.testing.assert_array_equal(X @ [1.0, 2.0], [1, 6])


def test_an_unfinished_or_damaged_directory_is_refused(tmp_path):
    out = tmp_path / "out"
    read_libsvm(written(tmp_path, "1 1:1\n-1 2:3\n"), out)
    card = (out / "matrix.json").read_text()
    (out / "matrix.json").write_text(json.dumps({"shape": [5, 2]}))
    with pytest.raises(ValueError, match="do not fit together"):
        load_csr(out)
    (out / "matrix.json").write_text("{")
    with pytest.raises(ValueError, match="not a description"):
        load_csr(out)
    (out / "matrix.json").write_text(card)
    whole = (out / "data.npy").read_bytes()
    (out / "data.npy").write_bytes(whole[:-8])
    with pytest.raises(ValueError, match="may be cut off"):
        load_csr(out)
    (out / "data.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"data\.npy is missing"):
        load_csr(out)
    (out / "matrix.json").unlink()
    with pytest.raises(FileNotFoundError, match="no finished matrix"):
        load_csr(out)


def test_a_line_longer_than_a_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "CHUNK", 16)
    line = "1 " + " ".join(f"{j}:1" for j in range(1, 400))
    X, _ = read_libsvm(written(tmp_path, f"-1 1:2\n{line}\n1 5:5\n{line}"))
    assert X.nnz == 2 + 2 * 399 and X.shape == (4, 399)


def test_memory_is_bounded_by_a_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "CHUNK", 10_000)
    line = b"1 " + b" ".join(b"%d:0.25" % j for j in range(1, 100)) + b"\n"
    path = written(tmp_path, line * 2000)
    read_libsvm(path, tmp_path / "warm")
    tracemalloc.start()
    try:
        read_libsvm(path, tmp_path / "out")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 1_500_000 and peak < 500_000


def test_rows_and_their_ends_fit_the_smallest_lines(tmp_path):
    X, y = read_libsvm(written(tmp_path, "1\n" * 1000 + "1e61\n" * 200 + "1 1:1\n" * 3))
    assert X.shape == (1203, 1) and y[1100] == 1e61 and libsvm.LARGEST_COLUMN == 2**31 - 1

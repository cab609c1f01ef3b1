"""The two data sets of the paper, from the data directory or from their publishers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from epro.datasets.algebra import COLUMNS, ROWS
from epro.datasets.download import Remote, download
from epro.datasets.libsvm import read_libsvm
from epro.datasets.local import Dataset, data_dir, read_npz
from epro.datasets.planetoid import FILES, assemble
from epro.datasets.storage import CARD, floating, load_csr

Array = Any

ALGEBRA = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/kdda.bz2"
PLANETOID = "https://raw.githubusercontent.com/tkipf/gcn/master/gcn/data/"
CORA_SHAPE, CORA_NONZEROS, CORA_SIZES = (2708, 1433), 49216, (351, 217, 418, 818, 426, 298, 180)
CORA_LABELS = (
    *("Theory", "Reinforcement_Learning", "Genetic_Algorithms", "Neural_Networks"),
    *("Probabilistic_Methods", "Case_Based", "Rule_Learning"),
)


def fetch_algebra(
    data_home: Any = None,
    *,
    url: str = ALGEBRA,
    size: int | None = None,
    sha256: str | None = None,
    n_features: int | None = None,
    dtype: Any = np.float32,
    progress: bool | None = None,
    attempts: int = 5,
    wait: float = 1.0,
) -> tuple[sparse.csr_matrix, Array]:
    """The KDD Cup 2010 algebra set (8,407,752 x 20,216,830) as published on the LIBSVM page, memory-mapped.

    The first call downloads the file and parses it into ``<name>.csr`` in the data directory; later ones open that.
    A broken download is continued. The publisher states no checksum: with ``sha256=None`` only the size stated by the
    server is checked, the digest of the first download is kept beside the file, and the file is compared with it
    whenever it is read again. For the default ``url`` the number of rows must also be the published one.

    Parameters
    ----------
    data_home : path, optional
        See `data_dir`.
    url : str
        Another LIBSVM file, plain or compressed.
    size, sha256 : int and str, optional
        What the file must have.
    n_features : int, optional
        The number of columns; the published one for the default ``url``, the largest index found for another.
    dtype : {float32, float64}
        Of the parsed values, and of the labels as published.
    progress : bool, optional
        True or False shows or hides the progress bars; by default they are shown on a terminal.
    attempts, wait : int and float
        How often a failed download is tried, and the seconds before the second time (doubled after each).

    Returns
    -------
    X : scipy.sparse.csr_matrix
        See `load_csr`.
    y : ndarray

    Raises
    ------
    DownloadError
        An `OSError` that names the address and what went wrong.
    """
    folder, dtype = data_dir(data_home), floating(dtype)
    remote = Remote(url, size, sha256)
    parsed = folder / f"{remote.name.removesuffix('.bz2').removesuffix('.xz').removesuffix('.gz')}.csr"
    if not (parsed / CARD).exists():
        file = download(remote, folder, attempts=attempts, wait=wait, progress=progress)
        columns = COLUMNS if n_features is None and url == ALGEBRA else n_features
        read_libsvm(file, parsed, columns, dtype, progress)
    X, y = load_csr(parsed)
    if url == ALGEBRA and X.shape != (ROWS, COLUMNS):
        raise ValueError(
            f"{parsed} has shape {X.shape}, but the published set has {(ROWS, COLUMNS)}; remove it and the "
            "downloaded file to try again"
        )
    if X.dtype != dtype:
        raise ValueError(f"{parsed} was parsed as {X.dtype}, but dtype is {dtype}; remove it to parse again")
    return X, y


def fetch_cora(
    data_home: Any = None,
    *,
    url: str | None = None,
    sha256: str | None = None,
    dtype: Any = np.float64,
    progress: bool | None = None,
    attempts: int = 5,
    wait: float = 1.0,
) -> Dataset:
    """The Cora citation set: 2708 papers, 1433 words (0/1), 7 classes.

    ``cora.npz`` in the data directory is taken when it is there. Otherwise six Planetoid files are downloaded and
    ``cora.npz`` is written. Those files are Python 2 pickles: they are read by an unpickler that knows arrays, lists
    and sparse matrices, and refuses every other class. No checksums are published for them, so the digests of the
    first download are kept beside the files; what is read must have Cora's shape, number of nonzeros and class sizes.

    Parameters
    ----------
    data_home : path, optional
        See `data_dir`.
    url : str, optional
        Of an ``.npz`` file laid out as `load` describes, or (ending in a slash) of a folder with the Planetoid files.
    sha256 : str, optional
        What the ``.npz`` file at ``url`` must have.
    dtype : dtype
        Of the features.
    progress : bool, optional
        True or False shows or hides the progress bars; by default they are shown on a terminal.
    attempts, wait : int and float
        How often a failed download is tried, and the seconds before the second time (doubled after each).

    Returns
    -------
    Dataset
        Unpacks as ``X, y``; ``extras`` has ``label_names`` and ``edges`` (citations as pairs i < j).
    """
    folder = data_dir(data_home)
    path = folder / "cora.npz"
    options: dict[str, Any] = {"attempts": attempts, "wait": wait, "progress": progress}
    if not path.exists():
        if url is not None and not url.endswith("/"):
            file = download(Remote(url, sha256=sha256), folder, **options)
            try:
                _read_cora(file)
            except ValueError:  # neither the file nor its digest may stand in the way of the right one
                file.unlink()
                file.with_name(f"{file.name}.sha256").unlink(missing_ok=True)
                raise
            file.replace(path)
        else:
            _from_planetoid(url or PLANETOID, path, options)
    found = _read_cora(path)
    return Dataset(found.X.astype(dtype), found.y.astype(np.int64), found.extras)


def _read_cora(path: Path) -> Dataset:
    """The file's arrays, with Cora's shape, number of nonzeros and class sizes."""
    found = read_npz(path)
    X, labels = sparse.csr_matrix(found.X), np.unique(found.y, return_counts=True)[1]
    if X.shape != CORA_SHAPE or X.nnz != CORA_NONZEROS or tuple(labels.tolist()) != CORA_SIZES:
        raise ValueError(
            f"{path} is not Cora: shape {X.shape}, {X.nnz} nonzeros, classes of {tuple(labels.tolist())}; "
            f"expected {CORA_SHAPE}, {CORA_NONZEROS}, {CORA_SIZES}"
        )
    return Dataset(X, found.y, found.extras)


def _from_planetoid(url: str, path: Path, options: dict[str, Any]) -> None:
    """Downloads the Planetoid files and writes ``path`` from them."""
    folder = path.parent / "planetoid"
    files = {name: download(Remote(f"{url}ind.cora.{name}"), folder, **options) for name in FILES}
    X, y, edges = assemble(files)
    part = path.with_name("cora.part.npz")
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    np.savez_compressed(part, **arrays, y=y, edges=edges, label_names=np.array(CORA_LABELS))
    part.replace(path)

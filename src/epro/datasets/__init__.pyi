from .algebra import algebra_truth, make_algebra
from .cora_like import make_cora_like
from .download import DownloadError
from .libsvm import MalformedLine, read_libsvm
from .local import Dataset, data_dir, load
from .published import fetch_algebra, fetch_cora
from .storage import load_csr
from .synthetic import load_example, make_classification, make_polyhedron, make_regression
from .triplets import make_triplets, neighbor_triplets, target_neighbors

__all__ = [
    "Dataset",
    "DownloadError",
    "MalformedLine",
    "algebra_truth",
    "data_dir",
    "fetch_algebra",
    "fetch_cora",
    "load",
    "load_csr",
    "load_example",
    "make_algebra",
    "make_classification",
    "make_cora_like",
    "make_polyhedron",
    "make_regression",
    "make_triplets",
    "neighbor_triplets",
    "read_libsvm",
    "target_neighbors",
]

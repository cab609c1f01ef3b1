from .algebra import algebra_truth, make_algebra
from .libsvm import MalformedLine, read_libsvm
from .storage import load_csr

__all__ = ["MalformedLine", "algebra_truth", "load_csr", "make_algebra", "read_libsvm"]

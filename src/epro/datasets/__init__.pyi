from .libsvm import MalformedLine, read_libsvm
from .storage import load_csr

__all__ = ["MalformedLine", "load_csr", "read_libsvm"]

"""Data to work with: generators of any size, readers of large files, downloads and local files."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)

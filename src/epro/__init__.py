"""Learning under hard convex constraints with a logarithmic number of projections.

    min over x of  f(x) + g(x)   subject to  c(x) <= 0

Names are loaded on first use (SPEC 1), so that importing the package compiles and loads nothing.
"""

import lazy_loader

from epro._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

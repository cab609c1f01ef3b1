from . import (
    callbacks,
    constraints,
    datasets,
    estimators,
    losses,
    plot,
    regularizers,
    schedules,
    solvers,
    theory,
)
from ._minimize import minimize
from ._version import __version__ as __version__
from .estimators import LMNN, ConstrainedClassifier, ConstrainedRegressor
from .problem import Problem

__all__ = [
    "LMNN",
    "ConstrainedClassifier",
    "ConstrainedRegressor",
    "Problem",
    "__version__",
    "callbacks",
    "constraints",
    "datasets",
    "estimators",
    "losses",
    "minimize",
    "plot",
    "regularizers",
    "schedules",
    "solvers",
    "theory",
]

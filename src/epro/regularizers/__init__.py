"""Regularizers: convex functions with a closed proximal step."""

from epro.regularizers.base import Regularizer, as_regularizer
from epro.regularizers.l1 import L1
from epro.regularizers.linear import Linear
from epro.regularizers.off_diagonal_l1 import OffDiagonalL1
from epro.regularizers.ridge import Ridge

__all__ = ["L1", "Linear", "OffDiagonalL1", "Regularizer", "Ridge", "as_regularizer"]

"""Data atoms: the rows A_i of <A_i, x>, dense, sparse or triplets."""

from epro.atoms.build import Atoms, rows, triplets
from epro.atoms.dense import DenseRows
from epro.atoms.sparse import CSRRows
from epro.atoms.triplets import CSRTriplets, DenseTriplets

__all__ = ["Atoms", "CSRRows", "CSRTriplets", "DenseRows", "DenseTriplets", "rows", "triplets"]

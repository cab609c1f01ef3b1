"""Figure 2: sparse large-margin nearest neighbours (Eq. lmnn-sparse) on Cora."""

from epro.experiments.figure2_lmnn.problem import source
from epro.experiments.figure2_lmnn.runner import NOTES, TITLE, run

__all__ = ["NOTES", "TITLE", "run", "source"]

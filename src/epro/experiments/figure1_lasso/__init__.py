"""Figure 1: the l1-constrained least squares problem (Eq. lasso) on data of the kind of KDD Cup 2010 algebra."""

from epro.experiments.figure1_lasso.runner import NOTES, TITLE, run, source

__all__ = ["NOTES", "TITLE", "run", "source"]

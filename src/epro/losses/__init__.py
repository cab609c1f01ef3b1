"""Losses: convex scalar functions of one prediction, averaged over rows."""

from epro.losses.absolute import Absolute
from epro.losses.base import Loss
from epro.losses.hinge import Hinge
from epro.losses.huber import Huber
from epro.losses.logistic import Logistic
from epro.losses.quantile import Quantile
from epro.losses.squared import Squared
from epro.losses.squared_hinge import SquaredHinge
from epro.losses.triplet_hinge import TripletHinge

__all__ = ["Absolute", "Hinge", "Huber", "Logistic", "Loss", "Quantile", "Squared", "SquaredHinge", "TripletHinge"]

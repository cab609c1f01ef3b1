"""Which problems of metric learning the packed kernel can take, and their packed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from epro.atoms.triplets import CSRTriplets, DenseTriplets
from epro.constraints.psd import PSDRecord
from epro.kernels.lmnn import Packed, pack, packed_steps, unpack
from epro.kernels.skipping import new_memo
from epro.moves import Explicit, Implicit, Proximal
from epro.penalties import Hinge, PrimalDual, ProxLinear, Softplus
from epro.protocols import Array, Index
from epro.regularizers.separable import Separable

LARGEST_BATCH = 4  # of dense triplets: beyond it one BLAS call per batch is faster


class PackedEpoch:
    """The steps of one epoch on packed copies of x and ``total``; `leave` writes them back."""

    def __init__(self, parts: Packed, penalty: Any, move: Any, x: Array, total: Array, work: Array) -> None:
        self.parts = parts._replace(explicit=isinstance(move, Explicit), skip=parts.skip and isinstance(penalty, Hinge))
        self.penalty, self.move, self.work, self.memo = penalty, move, work, new_memo()
        self.x, self.total = np.empty(parts.side * (parts.side + 1) // 2), np.empty(parts.side * (parts.side + 1) // 2)
        self.fits = bool(pack(x, self.x)) and bool(pack(total, self.total))

    def arguments(self, draws: Index, etas: Array) -> tuple[Any, ...]:
        """What `packed_steps` takes."""
        return self.parts, self.penalty, self.move, self.x, self.total, self.work, self.memo, draws, etas

    def leave(self, x: Array, total: Array) -> None:
        """Writes the points back."""
        unpack(self.x, x)
        unpack(self.total, total)


def packed_form(parts: Any, shape: tuple[int, ...], counts: Index, skip: bool) -> Packed | None:
    """The packed problem; None where the general kernel must do it.

    It takes triplets, a sum of the built-in regularizers with a symmetric tilt, a semidefinite constraint with a
    budget for its cuts, and double precision.
    """
    record, g = getattr(parts.constraint, "inner_record", None), parts.g
    if not (
        isinstance(parts.atoms, CSRTriplets | DenseTriplets) and isinstance(g, Separable)
        and isinstance(record, PSDRecord) and record.budget > 0 and parts.y.dtype == np.float64
    ):  # fmt: skip
        return None
    d = shape[0]
    tilt = np.empty(d * (d + 1) // 2 if g.tilt.size else 0)
    if g.tilt.size and not pack(g.tilt, tilt):
        return None
    one = np.ones((1, 1))
    if pack(one, np.empty(1)):
        unpack(one[0], one)  # compiled here, once
    bound = (g.l1 + g.l1_off) * d + float(np.linalg.norm(g.tilt))
    return Packed(
        parts.atoms, parts.y, parts.weights, parts.link, d, record.floor, record.budget, float(g.ridge), float(g.l1),
        float(g.l1_off), tilt, bound, True, skip, counts,
    )  # fmt: skip


def packable(form: Packed | None, penalty: Any, move: Any, batch: int) -> bool:
    """Whether the steps of this penalty and move can be packed.

    The prox-linear penalty looks at the point after the loss step; that is known from the row alone where g waits
    until after it.
    """
    if form is None or (batch > LARGEST_BATCH and isinstance(form.atoms, DenseTriplets)):
        return False
    if isinstance(penalty, ProxLinear):
        return isinstance(move, Proximal | Implicit)
    return isinstance(penalty, Hinge | Softplus | PrimalDual) and isinstance(move, Explicit | Proximal | Implicit)


__all__ = ["Packed", "PackedEpoch", "packable", "packed_form", "packed_steps"]

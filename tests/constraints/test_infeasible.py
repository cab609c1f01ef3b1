"""Empty sets are found, and what conflicts is named; other bad input gets a sentence."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint

from epro.constraints import (
    Affine,
    Box,
    Custom,
    Ellipsoid,
    GroupL1Ball,
    HalfSpace,
    InfeasibleConstraint,
    Intersection,
    L1Ball,
    L2Ball,
    Monotone,
    NonNegative,
    Polyhedron,
    Simplex,
    Spectraplex,
    as_constraint,
)

EMPTY = [
    (Box([0.0, 3.0], [1.0, 2.0]), "lower bound 3 of column 1 lies above its upper bound 2"),
    (Simplex(-1.0), "total = -1"),
    (Spectraplex(-1.0), "trace = -1"),
    (HalfSpace([0.0, 0.0], -1.0), "a is zero"),
    (Polyhedron([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [1.0, 1.0, -2.0]), "row 0 of A, row 2 of A together"),
    (Polyhedron([[0.0, 0.0]], [-1.0]), "row 0 of A"),
    (Affine([[1.0, 1.0], [0.0, 1.0], [2.0, 2.0]], [1.0, 5.0, 3.0]), "row 0 of A, row 2 of A"),
    (Intersection([Box(0, 1), HalfSpace(-np.ones(3), -4.0)]), r"HalfSpace.*Box|Box.*HalfSpace"),
    (Intersection([L2Ball(1.0), HalfSpace(-np.ones(3), -4.0)]), r"member 0, L2Ball\(1\), member 1, HalfSpace"),
    (Intersection([NonNegative(), Simplex(-2.0)]), r"member 1, Simplex\(-2\), is empty"),
]


@pytest.mark.parametrize(("constraint", "words"), EMPTY, ids=lambda v: v if isinstance(v, str) else "")
def test_empty_sets_are_named(constraint, words):
    with pytest.raises(InfeasibleConstraint, match=words):
        constraint.check_feasible()


def test_projection_on_an_empty_polyhedron_names_the_rows():
    with pytest.raises(InfeasibleConstraint, match="row 0 of A, row 2 of A"):
        Polyhedron([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [1.0, 1.0, -2.0]).project(np.zeros(2))


def test_feasible_sets_pass():
    for constraint in (Box(0, 1), Simplex(), Polyhedron(np.eye(2), np.ones(2)), Affine(np.ones((2, 3)), np.ones(2))):
        constraint.check_feasible()


BAD = [
    (lambda: L1Ball(-1), "radius must be a finite number above zero"),
    (lambda: L2Ball("wide"), "radius must be a number"),
    (lambda: Box([0, np.nan], 1), "lower has a NaN"),
    (lambda: Box(np.zeros(2), np.ones(3)), "lower has shape"),
    (lambda: Polyhedron(np.eye(3), np.ones(2)), "A has 3 rows but b has 2"),
    (lambda: Polyhedron([[1.0, np.inf]], [1.0]), "A has a NaN or infinite entry"),
    (lambda: Affine(np.eye(3), np.ones(2)), "A has 3 rows"),
    (lambda: Ellipsoid([[1.0, 0.0], [0.0, -1.0]]), "positive semidefinite"),
    (lambda: GroupL1Ball([[0, 1], [1]], 1.0), "index 1 appears more than once"),
    (lambda: Monotone(edges=[[0, 1, 2]]), "integer pairs"),
    (lambda: Monotone(chains=[[0, 9]]).bind((3,)), "an index is 9"),
    (lambda: NonNegative(mask=[1.0, 0.0]), "boolean"),
    (lambda: L1Ball(1).project([1.0, np.nan]), "cannot project x"),
    (lambda: Custom(lambda x: np.nan, lambda x: x, lambda x: x).value(np.ones(2)), "NaN"),
    (lambda: Custom(lambda x: 1.0, lambda x: x[:1], lambda x: x).subgradient(np.ones(2)), r"shape \(1,\)"),
    (lambda: Custom(1.0, lambda x: x, lambda x: x), "value must be a function"),  # type: ignore[arg-type]
    (lambda: as_constraint("l1"), "must be a constraint"),
    (lambda: as_constraint(LinearConstraint(np.eye(2), [0, 2], [1, 1])), "row 1 of the LinearConstraint"),
]


@pytest.mark.parametrize(("make", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_gets_a_sentence(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_scipy_constraints_are_converted():
    both = [Bounds([0, -np.inf], [1, np.inf]), LinearConstraint([[1, 1], [1, -1]], [0, -np.inf], [0, 3])]
    found = as_constraint(both)
    p = found.project(np.array([5.0, 1.0]))
    np.testing.assert_allclose(p, [1.0, -1.0], atol=1e-12)
    assert as_constraint(None).value(np.ones(2)) < 0
    assert as_constraint(Bounds(0, 1)).project(np.array([3.0, -1.0])).tolist() == [1.0, 0.0]

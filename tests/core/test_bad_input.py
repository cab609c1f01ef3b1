"""What a user may get wrong: a sentence that names the argument, what was found, what is expected."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.catalog import LOSSES, Expectile, Pull, small_problem

import epro
from epro import constraints, losses, solvers
from epro.constraints import InfeasibleConstraint
from epro.regularizers import Ridge
from epro.result import Status

X, y = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]]), np.array([1.0, -1.0, 1.0])


def minimize(problem, method="epro-sgd", **kwargs):
    return epro.minimize(problem, method, **{"max_steps": 200, "engine": "python"} | kwargs)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: losses.Squared(np.array([[1.0, np.nan]]), [1.0]), "X has a NaN or infinite entry"),
        (lambda: losses.Squared(sp.csr_array([[np.inf, 0.0]]), [1.0]), "X has a NaN or infinite entry"),
        (lambda: losses.Squared(X, [1.0, np.inf, 0.0]), r"Squared: y has a NaN or infinite entry, first at \[1\]"),
        (lambda: losses.Squared(X, [1.0, 2.0]), "Squared: y has 2 entries, but X has 3 rows"),
        (lambda: losses.Squared(X, np.ones((3, 1))), r"Squared: y must have 1 dimension\(s\), got shape \(3, 1\)"),
        (lambda: losses.Squared(np.zeros((0, 2)), []), "at least one row and one column"),
        (lambda: losses.Logistic(X, [0, 1, 1]), r"Logistic: y must hold -1 and 1 only, found \[0.0, 1.0\]"),
        (lambda: losses.Hinge(X, [1, 2, 3]), "Hinge: y must hold -1 and 1 only"),
        (lambda: losses.SquaredHinge(X, [1, 2, 3]), "SquaredHinge: y must hold -1 and 1 only"),
        (lambda: losses.Squared([[1.0, 2.0], [3.0]], [1.0, 2.0]), "X must be a matrix, with rows of one length"),
        (lambda: constraints.PSD(np.nan), "PSD: floor must be a finite number, got nan"),
        (lambda: constraints.Box(0.0, None), "Box: upper must be a number, infinite where there is no bound, got None"),
        (lambda: losses.TripletHinge(X, [[0, 1, 2]], np.nan), "TripletHinge: margin must be a finite number"),
        (lambda: losses.Huber(X, y, 0.0), "Huber: delta must be a finite number above zero, got 0"),
        (lambda: losses.Quantile(X, y, 1.5), "Quantile: quantile must lie strictly between 0 and 1, got 1.5"),
        (lambda: losses.Squared(X, y, sample_weight=[1, -1, 1]), "sample_weight must be non-negative"),
        (lambda: losses.Squared(X, y, sample_weight=[0, 0, 0]), "not all zero"),
        (lambda: losses.Squared(X, y, sample_weight=[1.0]), "sample_weight has 1 entries, but X has 3 rows"),
        (lambda: constraints.L1Ball(-1.0), "L1Ball: radius must be a finite number above zero, got -1"),
        (lambda: epro.Problem(losses.Squared(X, y), Ridge(1), constraints.PSD()), "PSD: x must be a square matrix"),
        (lambda: losses.Squared(X, y).value(np.zeros(3)), r"Squared: x has shape \(3,\), expected \(2,\)"),
        (lambda: constraints.PSD().value(np.zeros(3)), r"PSD: x must be a square matrix, but has shape \(3,\)"),
        (lambda: constraints.PSD().project(np.zeros((2, 3))), r"PSD: x must be a square matrix, .* \(2, 3\)"),
        (lambda: solvers.EproSGD(schedule=[]), "EproSGD: schedule must hold at least one epoch, got none"),
        (lambda: minimize(small_problem(), solvers.EproSGD(schedule=iter([]))), "schedule must hold at least one"),
        (lambda: minimize(epro.Problem(losses.Squared(1e160 * X, y)), "gram"), "or one too large to square"),
    ],
)
def test_data_and_parts(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: losses.Squared(X, ["a", "b", "c"]), "Squared: y must be a real array, got dtype <U1"),
        (lambda: losses.Quantile(X, y, "half"), "Quantile: quantile must be a number, got 'half'"),
        (lambda: losses.Squared(X, y).value("ab"), "Squared: x must be an array of numbers, got 'ab'"),
        (lambda: constraints.L1Ball(1.0).project("ab"), "L1Ball: x must be an array of numbers, got 'ab'"),
        (lambda: constraints.L1Ball(1.0).value([1j]), "L1Ball: x must be real, got dtype complex128"),
        (lambda: minimize(small_problem(), callbacks=3), "callbacks must be functions of .problem, state., got 3"),
        (lambda: minimize(small_problem(), x0=1j * np.ones(5)), "x0 must be real, got dtype complex128"),
        (lambda: solvers.EproSGD(robust="no"), "EproSGD: robust must be True or False, got 'no'"),
        (lambda: losses.Squared(X, [1j, 0, 0]), "Squared: y must be a real array, got dtype complex128"),
        (lambda: epro.Problem(X), "loss must be an epro loss such as losses.Squared.*got ndarray"),
        (lambda: epro.Problem(losses.Squared(X, y), 0.1), "regularizer must be an epro regularizer or None, got float"),
        (lambda: epro.Problem(losses.Squared(X, y), None, 1.0), "constraint must be a constraint"),
        (lambda: minimize("nothing"), "problem must be an epro.Problem, got str"),
        (lambda: minimize(small_problem(), random_state="x"), "random_state must be .* got 'x'"),
        (lambda: minimize(small_problem(), random_state=-1), "random_state must be a whole number of at least zero"),
        (lambda: minimize(small_problem(), callbacks=[1]), "callbacks must be functions"),
        (lambda: minimize(small_problem(), tol="a"), "tol must be a number, got 'a'"),
        (lambda: minimize(small_problem(), max_steps=1.5), "max_steps must be a whole number, got 1.5"),
        (lambda: minimize(small_problem(), x0="abc"), "x0 must be an array of numbers"),
        (lambda: solvers.EproSGD(lamda=1.0), r"EproSGD has no option 'lamda'; did you mean lam\? .its options: lam, "),
        (lambda: solvers.APG(t1=8), "APG has no option 't1'"),
        (lambda: solvers.EproSGD(schedule=3), "schedule must be an iterable of Epoch, got 3"),
        (
            lambda: solvers.EproSGD(schedule=[(8, 0.1)]),
            r"schedule must hold .*Epoch\(steps, step_size\), got \(8, 0.1\)",
        ),
        (lambda: solvers.EproSGD(batch=2.5), "EproSGD: batch must be a whole number, got 2.5"),
    ],
)
def test_types(make, words):
    with pytest.raises(TypeError, match=words):
        make()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"x0": np.zeros(3)}, r"x0 has shape \(3,\), expected \(5,\)"),
        ({"x0": np.full(5, np.nan)}, "x0 has a NaN or infinite entry"),
        ({"x0": np.full(5, 9.0)}, r"x0 is infeasible: c\(x0\) = 44"),
        ({"tol": -1.0}, "tol must be a finite number at least zero, got -1"),
        ({"max_steps": 0}, "max_steps must be at least 1, got 0"),
        ({"max_seconds": 0}, "max_seconds must be a finite number above zero, got 0"),
        ({"engine": "cuda"}, "engine must be 'auto', 'python' or 'compiled', got 'cuda'"),
        ({"method": "adam"}, "method must be one of apg, .*or a solver object such as solvers.EproSGD.., got 'adam'"),
        ({"method": None}, "method must be one of"),
    ],
)
def test_arguments_of_minimize(arguments, words):
    with pytest.raises(ValueError, match=words):
        minimize(small_problem(constraint=constraints.L1Ball(1.0)), **arguments)


OPTIONS = [
    (solver, option, value)
    for solver, options in {
        solvers.EproSGD: ("lam", "eta1", "t1", "batch"),
        solvers.EproORDA: ("lam", "eta1", "t1", "batch"),
        solvers.SGD: ("eta0", "batch"),
        solvers.EpochSGD: ("eta1", "t1", "batch"),
        solvers.OneProj: ("lam", "gamma", "eta0", "batch"),
        solvers.OneProjGeneral: ("gamma", "eta", "batch"),
        solvers.LogTSGD: ("eta", "inner", "batch"),
        solvers.FrankWolfe: ("batch",),
        solvers.APG: ("smoothness",),
        solvers.EproVR: ("batch", "step_size", "epoch_length", "smoothing"),
        solvers.EproNewton: ("rows_per_column",),
    }.items()
    for option in options
    for value in ((0, -1) if option in ("t1", "batch", "inner") else (0.0, -1.0, np.nan, np.inf))
]


@pytest.mark.parametrize(("solver", "option", "value"), OPTIONS)
def test_options_out_of_range(solver, option, value):
    with pytest.raises(ValueError, match=f"{solver.__name__}: {option} must be .*, got {value:g}"):
        solver(**{option: value})


def test_a_solver_takes_no_other_query():
    with pytest.raises(ValueError, match="query must be 'u' or 'x', got 'z'"):
        solvers.EproORDA(query="z")


@pytest.mark.parametrize(
    "empty",
    [
        constraints.Box(1.0, 0.0),
        constraints.Simplex(-1.0),
        constraints.HalfSpace(np.zeros(2), -1.0),
        constraints.Affine(np.ones((2, 2)), [0.0, 1.0]),
    ],
    ids=repr,
)
def test_nothing_is_projected_on_an_empty_set(empty):
    with pytest.raises(InfeasibleConstraint, match=type(empty).__name__):
        empty.project(np.zeros(2))


def test_an_empty_set_is_found_before_any_work():
    empty = constraints.Polyhedron(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([-1.0, -1.0]))
    with pytest.raises(InfeasibleConstraint):
        minimize(epro.Problem(losses.Squared(X, y), Ridge(1.0), empty))


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("apg", "apg needs a smooth loss, and Absolute is not; use epro-sgd"),
        ("logt-sgd", "logt-sgd needs a smooth loss, and Absolute is not"),
        ("frank-wolfe", "frank-wolfe needs a smooth loss"),
    ],
)
def test_a_missing_piece_is_named(method, words):
    with pytest.raises(ValueError, match=words):
        minimize(small_problem("absolute", constraints.L1Ball(1.0)), method)


def test_frank_wolfe_needs_a_linear_minimisation():
    with pytest.raises(ValueError, match="frank-wolfe needs a linear minimisation over the constraint"):
        minimize(small_problem(constraint=constraints.Monotone()), "frank-wolfe")
    half_line = constraints.Polyhedron(np.eye(5)[:1], np.ones(1))
    with pytest.raises(ValueError, match=r"frank-wolfe needs a linear minimisation .* bounded in that direction"):
        minimize(small_problem(constraint=half_line), "frank-wolfe")


# -- steps that overflow


@pytest.mark.parametrize("engine", ["python", "compiled"])
@pytest.mark.parametrize(
    "solver",
    [
        solvers.EproSGD(lam=1.0, eta1=1e9),
        solvers.EproORDA(lam=1.0, eta1=1e90),
        solvers.OneProjGeneral(eta=1e9),
    ],
    ids=lambda s: s.name,
)
def test_an_overflow_is_a_status(solver, engine):
    if engine == "compiled" and solver.name != "epro-sgd":
        pytest.skip("one kernel is enough to see that the status does not depend on the engine")
    problem = small_problem(constraint=constraints.HalfSpace(np.ones(5), 1.0))
    result = minimize(problem, solver, max_steps=20_000, engine=engine)
    assert result.status is Status.DIVERGED
    assert not result.success
    assert np.isfinite(result.x).all()
    assert np.isfinite(result.fun)
    assert result.violation <= 1e-9 * max(1.0, np.abs(result.x).max())
    assert "overflow" in result.message
    assert "smaller step size" in result.message


@pytest.mark.parametrize("solver", [solvers.SGD(eta0=1e300), solvers.EpochSGD(eta1=1e300), solvers.EproSGD(1.0, 1e300)])
@pytest.mark.parametrize(
    "constraint", [constraints.Polyhedron(np.ones((1, 5)), np.ones(1)), constraints.PSD()], ids=["polyhedron", "psd"]
)
def test_an_overflow_inside_of_a_part_is_a_status(solver, constraint):
    loss = losses.TripletHinge(X, [[0, 1, 2]]) if isinstance(constraint, constraints.PSD) else small_problem().loss
    result = minimize(epro.Problem(loss, Ridge(0.1), constraint), solver, max_steps=2000)
    assert result.status is Status.DIVERGED
    assert result.violation <= 1e-9
    assert "smaller step size" in result.message


def test_robust_steps_do_not_overflow():
    problem = small_problem(constraint=constraints.HalfSpace(np.ones(5), 1.0))
    result = minimize(problem, solvers.EproSGD(eta1=1e9, robust=True), max_steps=20_000)
    assert result.status is not Status.DIVERGED
    assert np.isfinite(result.fun)


# -- parts of one's own that misbehave


def with_loss(**verbs):
    return epro.Problem(type("Mine", (Expectile,), verbs)(X, y), Ridge(0.1), constraints.L1Ball(1.0))


def with_constraint(**verbs):
    basis = {
        "value": lambda self, x: abs(x).sum() - 1,
        "subgradient": lambda self, x: np.sign(x),
        "project": lambda self, x: constraints.L1Ball(1.0).project(x),
    }
    return epro.Problem(losses.Squared(X, y), Ridge(0.1), type("Mine", (constraints.Constraint,), basis | verbs)())


def with_regularizer(**verbs):
    return epro.Problem(losses.Squared(X, y), type("Mine", (Pull,), verbs)(), constraints.L1Ball(1.0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: with_loss(slope=lambda self, p, y: np.nan), "Mine.slope returned NaN for finite arguments"),
        (lambda: with_loss(loss=lambda self, p, y: np.nan), "Mine.loss returned NaN"),
        (lambda: with_constraint(value=lambda self, x: np.nan), "Mine.value returned NaN"),
        (lambda: with_constraint(subgradient=lambda self, x: np.nan * x), "Mine.subgradient returned NaN"),
        (
            lambda: with_constraint(subgradient=lambda self, x: np.zeros(3)),
            r"Mine.subgradient must return an array of shape \(2,\), that of x, got shape \(3,\)",
        ),
        (lambda: with_constraint(project=lambda self, x: np.nan * x), "Mine.project returned NaN"),
        (lambda: with_constraint(project=lambda self, x: 1.0), r"Mine.project must return an array of shape \(2,\)"),
        (lambda: with_regularizer(value=lambda self, x: np.nan), "Mine.value returned NaN"),
        (
            lambda: with_regularizer(subgradient=lambda self, x: np.zeros((2, 1))),
            "Mine.subgradient must return an array",
        ),
    ],
)
def test_what_ones_own_part_returns_is_checked(make, words):
    with pytest.raises(ValueError, match=words):
        minimize(make(), solvers.EproSGD(lam=1.0))


@pytest.mark.parametrize("verbs", [{"slope": lambda self, p, y: None}, {"loss": lambda self, p, y: "a lot"}])
def test_what_is_no_number_is_refused(verbs):
    with pytest.raises(TypeError, match=rf"Mine.{next(iter(verbs))} must return a number, got (None|'a lot')"):
        minimize(with_loss(**verbs), solvers.EproSGD(lam=1.0))


def test_an_error_in_ones_own_part_names_it():
    def fails(self, *args):
        raise KeyError("price")

    for problem, verb in ((with_loss(slope=fails), "slope"), (with_constraint(value=fails), "value")):
        with pytest.raises(KeyError, match="price") as error:
            minimize(problem, solvers.EproSGD(lam=1.0))
        assert error.value.__notes__ == [f"raised in Mine.{verb}, a part of your own"]


def test_compiled_needs_built_in_parts():
    with pytest.raises(ValueError, match="engine='compiled' needs built-in parts"):
        minimize(with_loss(), engine="compiled")


def test_labels_of_every_loss():
    for name, line in LOSSES.items():
        if line.targets.__name__ == "signs":
            with pytest.raises(ValueError, match="y must hold -1 and 1 only"):
                line.build(X, np.array([0.0, 1.0, 2.0]))
        else:
            assert line.build(X, np.array([0.0, 1.0, 2.0])).n == 3, name

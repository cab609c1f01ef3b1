"""The driver and its result: statuses, interruption, history, seeds, dtypes, pickles, callbacks."""

import pickle
import signal
import threading
import time

import numpy as np
import pytest
from tests.catalog import LOSSES, SOLVERS, small_problem

import epro
from epro import constraints, losses, solvers
from epro.callbacks import Progress, StopBelow, Trace
from epro.regularizers import Ridge
from epro.result import Status

COLUMNS = {"epoch", "steps", "projections", "seconds", "fun", "gap", "violation", "lam", "step_size"}
every_solver = pytest.mark.parametrize("name", SOLVERS)


def ball():
    return small_problem(constraint=constraints.L1Ball(0.7))


def run(problem, solver="epro-sgd", **kwargs):
    return epro.minimize(problem, solver, **{"max_steps": 1000, "engine": "python"} | kwargs)


@every_solver
def test_result_is_complete_and_recomputed(name):
    problem, solver = ball(), SOLVERS[name].solver
    result = run(problem, solver)
    assert result.fun == pytest.approx(problem.value(result.x), rel=1e-12)
    assert result.violation == problem.violation(result.x) <= 1e-9
    assert result.gap >= 0
    assert result.lower_bound <= result.fun
    assert isinstance(result.status, Status)
    assert result.message.startswith(result.status.sentence)
    assert result.n_steps <= 1000
    assert result.method == solver.name
    history = result.history
    assert len(history) == result.n_epochs > 0
    assert all(set(row) == COLUMNS for row in history)
    assert history[-1]["steps"] == result.n_steps
    assert history[-1]["projections"] == result.n_projections
    assert history[-1]["fun"] == result.fun
    assert history[-1]["gap"] == result.gap
    assert all(np.diff(history["steps"]) > 0)
    assert all(np.diff(history["projections"]) >= 0)
    assert np.isfinite(history["step_size"]).all()
    assert np.isfinite(history["violation"]).all()
    frame = history.to_frame()
    assert list(frame["steps"]) == [row["steps"] for row in history]
    assert set(frame.columns) == COLUMNS
    text = repr(result)
    assert result.status.name in text
    assert "n_projections" in text
    assert str(result.guarantee)


@every_solver
def test_same_seed_same_bits_and_x0_stays(name):
    solver, x0 = SOLVERS[name].solver, np.full(5, 0.1)
    before = x0.copy()
    a, b = (run(ball(), solver, random_state=4, x0=x0) for _ in range(2))
    assert np.array_equal(a.x, b.x)
    assert np.array_equal(x0, before)
    other = run(ball(), solver, random_state=5, x0=x0)
    assert name == "apg" or not np.array_equal(a.x, other.x)


@every_solver
def test_single_precision_is_kept(name):
    wide = ball()
    loss = losses.Squared(wide.loss.atoms.X.astype(np.float32), wide.loss.y)
    result = run(epro.Problem(loss, Ridge(0.1), constraints.L1Ball(0.7)), SOLVERS[name].solver)
    assert result.x.dtype == np.float32
    assert result.violation <= 1e-5
    assert result.fun <= run(wide, SOLVERS[name].solver).fun + 1e-2


@every_solver
def test_pickles(name):
    problem, solver = ball(), SOLVERS[name].solver
    again = pickle.loads(pickle.dumps(solver))
    assert again == solver
    result = run(pickle.loads(pickle.dumps(problem)), again, max_steps=200)
    copy = pickle.loads(pickle.dumps(result))
    assert np.array_equal(copy.x, result.x)
    assert copy.status is result.status
    assert copy.history.to_frame().equals(result.history.to_frame())
    assert str(copy.guarantee) == str(result.guarantee)


@pytest.mark.parametrize(
    "make",
    [lambda: 3, lambda: np.int64(3), lambda: np.random.default_rng(3), lambda: np.random.SeedSequence(3)],
)
def test_kinds_of_random_state(make):
    assert np.array_equal(run(ball(), random_state=make()).x, run(ball(), random_state=3).x)


def test_other_kinds_of_random_state():
    a, b = (run(ball(), random_state=np.random.RandomState(3)).x for _ in range(2))
    assert np.array_equal(a, b)
    a, b = (run(ball(), random_state=None).x for _ in range(2))
    assert not np.array_equal(a, b)


# -- ends


def test_converged_means_certified():
    problem = ball()
    best = run(problem, "apg", tol=1e-10, max_steps=100_000)
    assert best.status is Status.CONVERGED
    assert best.success
    assert best.gap <= 1e-10 * max(1, abs(best.fun))
    rough = run(problem, "epro-sgd", tol=1e-2, max_steps=50_000)
    assert best.lower_bound - 1e-12 <= rough.fun
    assert rough.lower_bound <= best.fun + 1e-12
    never = run(problem, "apg", tol=0, max_steps=10_000)
    assert never.status is not Status.CONVERGED


def test_max_steps_and_time():
    assert run(ball(), tol=0).status is Status.MAX_STEPS
    result = run(ball(), tol=0, max_steps=10**7, max_seconds=0.05)
    assert result.status is Status.TIME_LIMIT
    assert result.seconds < 5


def test_fewer_steps_than_an_epoch():
    result = run(ball(), max_steps=3)
    assert (result.n_steps, result.n_epochs, len(result.history)) == (0, 0, 0)
    assert result.violation <= 0


def test_a_callback_stops_the_run():
    seen = Trace()
    result = run(ball(), callbacks=[seen, lambda problem, state: state.epoch == 2], tol=0)
    assert result.status is Status.STOPPED
    assert len(seen.points) == result.n_epochs == 2
    assert np.array_equal(seen.points[-1], result.x)
    assert run(ball(), callbacks=StopBelow(np.inf), tol=0).n_epochs == 1


def test_an_error_in_a_callback_closes_the_others():
    closed = []

    class Watch:
        def __call__(self, problem, state):
            raise ZeroDivisionError

        def close(self):
            closed.append(True)

    with pytest.raises(ZeroDivisionError):
        run(ball(), callbacks=[Watch()])
    assert closed == [True]


@pytest.mark.parametrize("name", ["oneproj", "oneproj-general"])
def test_one_projection_also_when_stopped_early(name):
    problem, start = ball(), np.zeros(5)
    stopped = run(problem, SOLVERS[name].solver, callbacks=[lambda p, state: state.steps > 400], tol=0, x0=start)
    assert stopped.status is Status.STOPPED
    assert stopped.n_projections == 1
    assert stopped.fun < problem.value(start) - 1e-3


def test_looks_do_not_change_the_run():
    a, b = (run(ball(), solvers.OneProj(lam=2.0, looks=looks), tol=0) for looks in (False, True))
    assert np.array_equal(a.x, b.x)
    assert (a.n_projections, b.n_projections) == (1, b.n_epochs)


# -- interruption


def interrupt_in(seconds):
    timer = threading.Timer(seconds, signal.raise_signal, [signal.SIGINT])
    timer.start()
    return timer


@pytest.mark.parametrize("name", ["epro-sgd", "epro-orda", "oneproj", "sgd"])
def test_interrupted_between_steps(name):
    """Ctrl-C in the middle of an epoch, in Python."""

    class Interrupting(LOSSES["expectile (own)"].build):
        calls = 0

        def slope(self, p, y):
            type(self).calls += 1
            if type(self).calls == 4000:
                raise KeyboardInterrupt
            return super().slope(p, y)

    X = np.random.default_rng(0).standard_normal((20, 3))
    problem = epro.Problem(Interrupting(X, X[:, 0]), Ridge(0.1), constraints.L1Ball(0.5))
    result = run(problem, SOLVERS[name].solver, tol=0, max_steps=100_000)
    assert result.status is Status.INTERRUPTED
    assert not result.success
    assert "Interrupted; x is the last feasible point" in result.message
    assert result.violation <= 1e-9
    assert result.n_epochs > 0
    assert result.fun < problem.value(np.zeros(3))


def test_interrupted_inside_compiled_code():
    """The kernel is left at the end of its chunk, about 0.2 seconds later."""
    problem = ball()
    solver = solvers.EproSGD(lam=2.0, eta1=0.1)
    run(problem, solver, tol=0, max_steps=3000, engine="compiled")  # compiles
    ctrl_c = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start background jobs without it
    handler = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        started = time.perf_counter()
        result = run(problem, solver, tol=0, max_steps=10**9, engine="compiled")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.signal(signal.SIGINT, ctrl_c)
    assert result.status is Status.INTERRUPTED
    assert time.perf_counter() - started < 10
    assert result.n_epochs > 3
    assert result.violation <= 1e-9
    assert result.fun < problem.value(np.zeros(5))


def test_chunks_do_not_change_the_trajectory(monkeypatch):
    """How long a kernel call lasts depends on the machine; the points do not."""
    whole = run(ball(), solvers.EproORDA(lam=2.0), tol=0)
    monkeypatch.setattr("epro.oracles.CHUNK_SECONDS", 1e-9)
    assert np.array_equal(run(ball(), solvers.EproORDA(lam=2.0), tol=0).x, whole.x)


# -- progress


class Terminal:
    def __init__(self, answer):
        self.answer, self.text = answer, ""

    def isatty(self):
        return self.answer

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.mark.parametrize(("terminal", "delay", "shown"), [(True, 0.0, True), (False, 0.0, False), (True, 60.0, False)])
def test_progress_is_for_long_runs_on_a_terminal(monkeypatch, terminal, delay, shown):
    stream = Terminal(terminal)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    result = run(ball(), tol=0, callbacks=[Progress(delay=delay)])
    assert ("epoch" in stream.text) == shown
    assert np.array_equal(result.x, run(ball(), tol=0).x)


def test_verbose_is_silent_where_nothing_is_long(capsys):
    run(ball(), verbose=True)
    run(ball())
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


# -- sentences


def test_guarantees_are_sentences():
    problem = epro.Problem(ball().loss, Ridge(0.1), constraints.L2Ball(0.5))
    covered = str(run(problem, "epro-sgd").guarantee)
    assert "Theorem 1" in covered
    assert "f(x) - f(x*)" in covered
    assert "rho" in covered
    none = str(run(ball(), solvers.EproSGD(robust=True)).guarantee)
    assert none.startswith("no theorem covers this run: ")


def test_estimates_are_named():
    result = run(small_problem(constraint=constraints.HalfSpace(np.ones(5), 1.0)), "epro-sgd")
    assert any(sentence.startswith("lam = ") for sentence in result.estimates)
    assert run(epro.Problem(ball().loss, Ridge(0.1), constraints.L2Ball(0.5)), "epro-sgd").estimates == ()


def test_unconstrained_problems_are_solved():
    problem = small_problem()
    exact = np.linalg.solve(problem.loss.atoms.X.T @ problem.loss.atoms.X / 60 + 0.1 * np.eye(5),
                            problem.loss.atoms.X.T @ problem.loss.y / 60)  # fmt: skip
    assert run(problem, "apg", tol=1e-12, max_steps=100_000).x == pytest.approx(exact, abs=1e-5)
    assert run(problem, "epro-sgd", max_steps=20_000).fun <= problem.value(exact) + 2e-2

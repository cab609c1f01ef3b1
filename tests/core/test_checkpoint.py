"""A run that is killed and resumed is the run that was never killed, bit for bit."""

import json

import numpy as np
import pytest
from tests.catalog import SOLVERS, small_problem

import epro
from epro import constraints, solvers
from epro.callbacks import Checkpoint
from epro.checkpoint import CheckpointError


class Killed(Exception):
    pass


def killer(epoch):
    """Kills the run at the end of an epoch, after the checkpoint was written."""

    def callback(problem, state):
        if state.epoch == epoch:
            raise Killed

    return callback


def run(problem, solver, **kwargs):
    return epro.minimize(problem, solver, tol=0, engine="python", **kwargs)


def problem_for(name):
    return small_problem(constraint=constraints.L1Ball(0.7))


def killed(problem, solver, path, at=2, **kwargs):
    with pytest.raises(Killed):
        run(problem, solver, callbacks=[Checkpoint(path, every=0), killer(at)], max_steps=1000, **kwargs)


WITHOUT_TIME = ("epoch", "steps", "projections", "fun", "gap", "violation", "lam", "step_size")


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("at", [1, 3])
def test_resumed_run_is_the_uninterrupted_one(name, at, tmp_path):
    problem, solver, path = problem_for(name), SOLVERS[name].solver, tmp_path / "run.ckpt"
    whole = run(problem, solver, max_steps=1000, random_state=7)
    killed(problem, solver, path, at, random_state=7)
    resumed = run(problem_for(name), solver, resume=path)
    assert np.array_equal(whole.x, resumed.x)
    for count in ("fun", "gap", "n_steps", "n_epochs", "n_projections", "n_cuts", "status", "message"):
        assert whole[count] == resumed[count], count
    for column in WITHOUT_TIME:
        assert np.array_equal(whole.history[column], resumed.history[column], equal_nan=True), column
    assert np.all(np.diff(resumed.history["seconds"]) >= 0)
    assert str(whole.guarantee) == str(resumed.guarantee)


def test_every_paper_method_is_resumed():
    """Whoever adds a method adds a line to the catalogue."""
    own = {"epro-vr", "epro-newton", "gram", "auto"}  # their own tests resume these
    assert {line.solver.name for line in SOLVERS.values()} >= set(solvers.METHODS) - own


def test_matrices_and_legacy_generators_are_resumed(tmp_path):
    problem, path = small_problem(constraint=constraints.L1Ball(0.7)), tmp_path / "run.ckpt"
    generator = np.random.Generator(np.random.MT19937(3))  # its state holds an array
    whole = run(problem, "epro-orda", max_steps=1000, random_state=np.random.Generator(np.random.MT19937(3)))
    killed(problem, "epro-orda", path, random_state=generator)
    assert np.array_equal(whole.x, run(problem, "epro-orda", resume=path).x)


def test_checkpoints_are_written_seldom_by_default(tmp_path):
    run(problem_for("sgd"), "sgd", max_steps=1000, callbacks=[Checkpoint(tmp_path / "a")])
    assert list(tmp_path.iterdir()) == []
    run(problem_for("sgd"), "sgd", max_steps=1000, callbacks=[Checkpoint(tmp_path / "a", every=0)])
    assert [file.name for file in tmp_path.iterdir()] == ["a"], "no unfinished file is left"


def test_the_old_file_survives_a_failed_writing(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    killed(problem_for("sgd"), "sgd", path)
    before = path.read_bytes()

    def fails(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fails)
    with pytest.raises(OSError, match="disk full"):
        run(problem_for("sgd"), "sgd", max_steps=1000, callbacks=[Checkpoint(path, every=0)])
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.ckpt"]


# -- refusals


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "run.ckpt"
    killed(problem_for("sgd"), solvers.EproSGD(lam=2.0), path)
    return path


def resume(path, problem=None, solver=None, **kwargs):
    return run(problem or problem_for("sgd"), solver or solvers.EproSGD(lam=2.0), resume=path, **kwargs)


@pytest.mark.parametrize(
    ("problem", "what"),
    [
        (lambda: small_problem(constraint=constraints.L1Ball(0.8)), "constraint"),
        (lambda: small_problem(constraint=constraints.L2Ball(0.7)), "constraint"),
        (lambda: small_problem(constraint=constraints.L1Ball(0.7), seed=1), "data"),
        (lambda: small_problem(constraint=constraints.L1Ball(0.7), d=6), "shape"),
        (lambda: small_problem(constraint=constraints.L1Ball(0.7), n=61), "number of rows"),
        (lambda: small_problem("absolute", constraints.L1Ball(0.7)), "loss"),
        (lambda: small_problem(constraint=constraints.L1Ball(0.7), g=epro.regularizers.Ridge(0.2)), "regularizer"),
    ],
)
def test_another_problem_is_refused(saved, problem, what):
    with pytest.raises(CheckpointError, match=f"belongs to another problem: its {what} differs"):
        resume(saved, problem())


def test_another_method_is_refused(saved):
    with pytest.raises(CheckpointError, match=r"was made by the method EproSGD\(lam=2.0.*asked for is SGD\("):
        resume(saved, solver=solvers.SGD())
    with pytest.raises(CheckpointError, match="by the method"):
        resume(saved, solver=solvers.EproSGD(lam=3.0))


def test_another_budget_or_start_is_refused(saved):
    with pytest.raises(CheckpointError, match="planned for max_steps = 1000, got 2000"):
        resume(saved, max_steps=2000)
    with pytest.raises(ValueError, match="leave x0 out"):
        resume(saved, x0=np.zeros(5))
    assert resume(saved, max_steps=1000).n_epochs == 4


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(saved, keep):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(keep * len(whole)) if keep < 1 else keep])
    with pytest.raises(CheckpointError, match="is damaged or is not a checkpoint"):
        resume(saved)


def test_a_damaged_file_is_refused(saved):
    whole = bytearray(saved.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    saved.write_bytes(bytes(whole))
    with pytest.raises(CheckpointError, match="is damaged or is not a checkpoint"):
        resume(saved)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other"
    with pytest.raises(CheckpointError, match="there is no file"):
        resume(path)
    path.write_text(json.dumps({"format": "epro checkpoint 1"}))
    with pytest.raises(CheckpointError, match="damaged or is not a checkpoint"):
        resume(path)
    for arrays in ({"x": np.zeros(3)}, {"json": np.frombuffer(b"[1, 2]", np.uint8)}):
        with open(path, "wb") as file:
            np.savez(file, **arrays)
        with pytest.raises(CheckpointError, match="not a checkpoint"):
            resume(path)
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(CheckpointError, match="damaged or is not a checkpoint"):
        resume(tmp_path / "x.npy")


def test_a_pickle_is_not_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return (pytest.fail, ("the file ran code",))

    with open(tmp_path / "evil", "wb") as file:
        np.savez(file, json=np.array([Evil()], object))
    with pytest.raises(CheckpointError, match="damaged or is not a checkpoint"):
        resume(tmp_path / "evil")

"""The Lasso experiment: engines that cost less must change nothing, and curves must be recomputed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from epro import datasets, solvers
from epro.experiments import figure1_lasso, figure2_lmnn
from epro.experiments.figure1_lasso import runner
from epro.experiments.figure1_lasso.engines import Scripted, restrict
from epro.experiments.figure1_lasso.settings import Competitor, cut, settings
from epro.oracles import Oracles
from epro.problem import Problem
from epro.run import Budget, Run
from epro.schedules import Epoch, doubling
from epro.state import State


@pytest.fixture(scope="module")
def problem() -> Problem:
    X, y = datasets.make_algebra(n=300, d=2000, nnz_per_row=8, dtype=np.float64, progress=False)
    return settings(300, "small")[0].problem(X, y)


def test_script_is_read_in_order_and_ends() -> None:
    script = Scripted(np.arange(6))
    assert script.integers(9, size=(2, 2)).tolist() == [[0, 1], [2, 3]] and script.integers(9, size=2).tolist() == [
        4,
        5,
    ]
    with pytest.raises(ValueError, match="script of 6 rows"):
        script.integers(9, size=1)


@pytest.mark.parametrize("solver", [solvers.SGD(eta0=0.5), solvers.LogTSGD(eta=0.1)], ids=["sgd", "logt"])
def test_restricting_to_drawn_columns_changes_nothing(problem: Problem, solver: solvers.Solver) -> None:
    draws = np.random.default_rng(0).integers(problem.n, size=60)
    small = restrict(problem, draws)
    assert small.problem.shape[0] < problem.shape[0] / 2
    found = []
    for one, rows in ((problem, draws), (small.problem, small.draws)):
        oracles = Oracles(one, Scripted(rows), "python")  # type: ignore[arg-type]
        found.append(Run(solver, oracles, State(np.zeros(one.shape)), Budget(0.0, 60))().x)
    whole = np.zeros(problem.shape)
    whole[small.columns] = found[1]
    assert np.abs(found[0]).max() > 0 and np.allclose(found[0], whole, rtol=0, atol=1e-14)


@pytest.mark.parametrize("engine", ["active", "clipped", "lazy"])
def test_curve_is_recomputed_on_all_rows(problem: Problem, engine: Any) -> None:
    epochs = (Epoch(40, 0.3), Epoch(80, 0.15))
    competitor = Competitor("Epro-SGD", solvers.EproSGD(lam=0.03, eta1=0.3, schedule=epochs), 120, engine)
    setting = settings(300, "small")[0]
    curve = runner.curve(problem, setting, competitor, seed=0)
    assert curve["iterations"] == [40, 120] and curve["projections"] == [1, 2]
    assert len(curve["seconds"]) == len(curve["objective"]) == len(curve["violation"]) == 2
    assert max(curve["violation"]) < 1e-12
    assert curve["objective"][-1] < problem.value(np.zeros(problem.shape))
    assert math.isfinite(curve["lower_bound"]) == (engine == "lazy")
    assert curve["lower_bound"] < curve["objective"][-1]


def test_cut_uses_the_budget_up() -> None:
    assert sum(epoch.steps for epoch in cut(doubling(8, 0.3), 2000)) == 2000
    assert [epoch.steps for epoch in cut(doubling(8, 0.3), 8)] == [8]


def test_both_settings_have_the_methods_of_the_paper() -> None:
    for setting in settings(20_000, "small"):
        names = {each.name for each in setting.competitors}
        assert {"SGD", "OneProj", "LogT", "Epro-SGD", "Epro-ORDA", "Epro-VR", "APG"} <= names
    stated = {each.name: each.solver for each in settings(20_000, "small")[0].competitors}
    assert stated["SGD"] == solvers.SGD(eta0=0.5) and stated["LogT"] == solvers.LogTSGD(eta=0.1)


def test_unknown_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="scale must be 'small' or 'full', got 'huge'"):
        runner.run("huge")


def test_an_interrupt_ends_the_experiment_not_only_the_method(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    competitor = Competitor("SGD", solvers.SGD(eta0=0.5), 60)
    oracles = runner.make_oracles(problem, competitor, np.zeros(60, np.int64))
    with pytest.raises(KeyboardInterrupt):
        runner._run(problem, competitor, oracles, interrupt, 60)  # type: ignore[arg-type]


def test_the_data_are_named(tmp_path: Path) -> None:
    for experiment, file in ((figure1_lasso, "kdda.bz2"), (figure2_lmnn, "cora.npz")):
        assert "generated" in experiment.source("small", tmp_path)
        assert "generated in the shape" in experiment.source("full", tmp_path)
        (tmp_path / file).write_bytes(b"")
        assert "generated" not in experiment.source("full", tmp_path)


def test_the_papers_cut_is_explicit_however_many_columns_there_are() -> None:
    X, y = datasets.make_algebra(n=50, d=30_000, nnz_per_row=8, progress=False)
    setting = settings(50, "full")[0]
    wide = setting.problem(X, y)
    stated = {competitor.name: competitor.solver for competitor in setting.competitors}
    assert solvers.EproSGD()._clips(wide) and not stated["Epro-SGD"]._clips(wide)  # type: ignore[attr-defined]

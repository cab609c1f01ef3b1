"""The command line: help, errors in one sentence, results that are what the library says."""

from __future__ import annotations

import bz2
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import epro
from epro import cli_reproduce, demo
from epro.cli import app

LINES = "1 1:0.5 3:1\n-1 2:1 3:0.2\n1 1:1\n-1 2:0.3 4:1\n"


def call(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "small.libsvm"
    path.write_text(LINES)
    return path


def test_version() -> None:
    assert call("--version").output == f"epro {epro.__version__}\n"


@pytest.mark.parametrize("command", ["demo", "solve", "bench", "reproduce"])
def test_help_names_every_command(command: str) -> None:
    assert command in call("--help").output
    assert call(command, "--help").exit_code == 0


# -- solve


def test_solve_prints_and_saves(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "result.npz"
    done = call("solve", data, "--loss", "logistic", "--ridge", 0.1, "--l1-ball", 1, "--method", "apg", "--out", out)
    assert done.exit_code == 0 and "4 rows, 4 columns" in done.output and "CONVERGED" in done.output
    with np.load(out, allow_pickle=False) as saved:
        assert np.abs(saved["x"]).sum() <= 1 + 1e-12 and saved["gap"] <= 1e-4
        assert saved["history_steps"][-1] == saved["n_steps"]


def test_solve_reads_compressed_text_csv_and_npz_alike(data: Path, tmp_path: Path) -> None:
    (tmp_path / "c.libsvm.bz2").write_bytes(bz2.compress(LINES.encode()))
    X = np.array([[0.5, 0, 1, 0], [0, 1, 0.2, 0], [1, 0, 0, 0], [0, 0.3, 0, 1]])
    y = np.array([1, -1, 1, -1])
    np.savez(tmp_path / "d.npz", X=X, y=y)
    rows = [",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True)]
    (tmp_path / "t.csv").write_text("a,b,c,d,y\n" + "\n".join(rows))
    values = []
    for name in (data.name, "c.libsvm.bz2", "d.npz", "t.csv"):
        done = call("solve", tmp_path / name, "--ridge", 0.1, "--nonnegative", "--method", "apg", "--tol", 1e-8)
        assert done.exit_code == 0, done.output
        values.append(next(line for line in done.output.splitlines() if line.startswith("  fun")))
    assert len(set(values)) == 1


def test_solve_says_when_nothing_was_certified(data: Path) -> None:
    assert call("solve", data, "--ridge", 0.1, "--method", "sgd", "--max-steps", 20).exit_code == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--loss", "cubic"], "--loss must be one of squared"),
        (["--l1-ball", "-1"], "radius must be a finite number above zero, got -1"),
        (["--box", "1"], "--box must be two numbers such as -1,1, got '1'"),
        (["--method", "magic"], "method must be one of"),
        (["--out", "x.txt"], "--out must end in .npz"),
        (["--out", "absent/x.npz"], "--out must name a file in a directory that exists, got absent/x.npz"),
    ],
)
def test_solve_explains_errors(data: Path, options: list[str], said: str) -> None:
    done = call("solve", data, *options)
    assert done.exit_code == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_solve_names_a_missing_file(tmp_path: Path) -> None:
    assert "there is no file" in call("solve", tmp_path / "nothing.csv").stderr


def test_solve_reads_the_file_that_was_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,y\n1,2\n2,1\n3,1\n")
    (tmp_path / "t.npz").write_bytes(b"of the same name, and not a table")
    assert "3 rows, 1 columns" in call("solve", tmp_path / "t.csv", "--ridge", 1, "--method", "apg").output
    assert "t.npz is not an .npz file" in call("solve", tmp_path / "t.npz").stderr


def test_classes_of_any_name_become_signs(tmp_path: Path) -> None:
    (tmp_path / "three.libsvm").write_text("0 1:1\n1 1:2\n2 1:3\n")
    assert "two classes" in call("solve", tmp_path / "three.libsvm", "--loss", "hinge").stderr
    (tmp_path / "two.libsvm").write_text("0 1:1\n1 1:2\n")
    assert call("solve", tmp_path / "two.libsvm", "--loss", "logistic", "--ridge", 1, "--method", "apg").exit_code == 0


# -- reproduce and demo


def test_reproduce_writes_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    final = {"setting": "one", "method": "sgd", "iterations": 3, "objective": 0.5}
    curve = {"method": "sgd", "setting": "one", "iterations": [3], "seconds": [0.1], "objective": [0.5]}
    curve |= {"projections": [3], "violation": [0.0], "final": final}
    module = SimpleNamespace(TITLE="T", NOTES=(), run=lambda scale, out, data: ([curve], [final]))
    module.source = lambda scale, data: f"Data: {scale}."
    monkeypatch.setitem(sys.modules, cli_reproduce.EXPERIMENTS["lasso"], module)  # type: ignore[arg-type]
    done = call("reproduce", "lasso", "--out", tmp_path / "here")
    assert done.exit_code == 0, done.output
    assert "Data: small." in (tmp_path / "here" / "lasso_small.html").read_text("utf-8") and "sgd" in done.output


def test_reproduce_finds_a_bad_directory_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worked: list[str] = []
    module = SimpleNamespace(TITLE="T", NOTES=(), run=lambda scale, out, data: worked.append(scale))
    monkeypatch.setitem(sys.modules, cli_reproduce.EXPERIMENTS["lasso"], module)  # type: ignore[arg-type]
    (tmp_path / "file").write_text("")
    done = call("reproduce", "lasso", "--out", tmp_path / "file" / "below")
    assert done.exit_code == 1 and done.stderr.startswith("epro reproduce: ") and not worked
    assert call("reproduce", "lasso", "--data", tmp_path / "absent", "--out", tmp_path).exit_code == 2 and not worked


def test_reproduce_refuses_what_it_does_not_know() -> None:
    assert call("reproduce", "figure3").exit_code == 2
    assert call("reproduce", "lasso", "--scale", "huge").exit_code == 2


def test_demo_reports_what_its_numbers_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {name: epro.solvers.solver_of(name) for name in ("epro-sgd", "sgd", "apg", "oneproj")}
    monkeypatch.setattr(demo, "methods", lambda: table)
    outcomes = demo.demo(tmp_path, steps=300)
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    assert {outcome.case.name for outcome in outcomes} == {"l1 ball", "polyhedron", "PSD metric"}
    assert min(outcome.suboptimality for outcome in outcomes) > -1e-9  # the references are lower bounds
    better = [outcome for outcome in outcomes if outcome.method == "epro-sgd" and outcome.case.name == "polyhedron"]
    assert f"with {better[0].result.n_projections} projections in place of 300" in demo.seen(outcomes)
    assert {o.method for o in outcomes if o.case.name == "PSD metric"} == {"epro-sgd", "sgd", "oneproj"}

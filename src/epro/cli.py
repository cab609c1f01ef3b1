"""The command ``epro``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from epro._version import __version__

app = typer.Typer(
    name="epro",
    help="Learning under hard convex constraints with a logarithmic number of projections.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Experiment(StrEnum):
    """What can be reproduced."""

    lasso = "lasso"
    lmnn = "lmnn"


class Scale(StrEnum):
    """Under a minute, or the size of the paper."""

    small = "small"
    full = "full"


Out = Annotated[Path, typer.Option(help="Directory for what is written.", file_okay=False)]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"epro {__version__}")
        raise typer.Exit


@contextmanager
def _errors_in_words(command: str) -> Iterator[None]:
    """What the user can repair is said in a sentence, and ends with 1."""
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        typer.echo(f"epro {command}: {error}", err=True)
        raise typer.Exit(1) from None


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learning under hard convex constraints with a logarithmic number of projections."""


@app.command()
def demo(
    out: Out = Path("out"), steps: Annotated[int, typer.Option(min=100, help="Stochastic gradients.")] = 5_000
) -> None:
    """Solve one small problem of each kind with every method; print and plot what came out."""
    from epro.demo import demo as show

    with _errors_in_words("demo"):
        show(out, steps)


@app.command()
def reproduce(
    experiment: Annotated[Experiment, typer.Argument(help="Figure 1 (lasso) or Figure 2 (lmnn) of the paper.")],
    scale: Annotated[Scale, typer.Option(help="small: under a minute; full: the size of the paper.")] = Scale.small,
    out: Out = Path("out"),
    data: Annotated[
        Path | None, typer.Option(help="Data directory; $EPRO_DATA by default.", exists=True, file_okay=False)
    ] = None,
) -> None:
    """Run an experiment of the paper; write its plots, its table and a page."""
    from epro.cli_reproduce import reproduce as run

    with _errors_in_words("reproduce"):
        run(experiment.value, scale.value, out, data)


@app.command()
def solve(
    data: Annotated[
        Path, typer.Argument(help=".npz (X, y), .csv (header; y last), or LIBSVM text, also .gz, .bz2, .xz.")
    ],
    loss: Annotated[
        str, typer.Option(help="squared, logistic, hinge, squared-hinge, huber, absolute, quantile.")
    ] = "squared",
    ridge: Annotated[float, typer.Option(help="a in (a/2)||x||^2.")] = 0.0,
    l1: Annotated[float, typer.Option(help="t in t||x||_1.")] = 0.0,
    l1_ball: Annotated[float | None, typer.Option(help="Radius of an l1 ball.")] = None,
    l2_ball: Annotated[float | None, typer.Option(help="Radius of a Euclidean ball.")] = None,
    simplex: Annotated[float | None, typer.Option(help="Sum of non-negative coefficients.")] = None,
    box: Annotated[str | None, typer.Option(help="Bounds of every coefficient, such as --box=-1,1.")] = None,
    nonnegative: Annotated[bool, typer.Option("--nonnegative", help="Coefficients at least zero.")] = False,
    monotone: Annotated[bool, typer.Option("--monotone", help="Coefficients that do not fall.")] = False,
    method: Annotated[str, typer.Option(help="auto, or a method's name.")] = "auto",
    tol: Annotated[float, typer.Option(help="Stop at a certified gap of tol * max(1, |fun|).")] = 1e-4,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Stochastic gradients at most.")] = None,
    seed: Annotated[int, typer.Option(help="Of the random draws.")] = 0,
    out: Annotated[Path | None, typer.Option(help="An .npz file for x and the numbers.", dir_okay=False)] = None,
) -> None:
    """Solve a problem from a data file, and print what is certified about the answer.

    Ends with 0 where the gap was certified, 2 where it was not, 1 on an error.
    """
    from epro.cli_solve import solve as run

    options = {
        "l1_ball": l1_ball, "l2_ball": l2_ball, "simplex": simplex, "box": box, "nonnegative": nonnegative,
        "monotone": monotone,
    }  # fmt: skip
    with _errors_in_words("solve"):
        result = run(data, loss, ridge, l1, options, method, tol, max_steps, seed, out)
    raise typer.Exit(0 if result.success else 2)


@app.command()
def bench() -> None:
    """Measure steps, gradients and projections on this machine, in a few seconds."""
    from epro.cli_bench import bench as run

    run()

"""The command ``epro``."""

from __future__ import annotations

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

    show(out, steps)


@app.command()
def reproduce(
    experiment: Annotated[Experiment, typer.Argument(help="Figure 1 (lasso) or Figure 2 (lmnn) of the paper.")],
    scale: Annotated[Scale, typer.Option(help="small: under a minute; full: the size of the paper.")] = Scale.small,
    out: Out = Path("out"),
    data: Annotated[Path | None, typer.Option(help="Data directory; $EPRO_DATA by default.", file_okay=False)] = None,
) -> None:
    """Run an experiment of the paper; write its plots, its table and a page."""
    from epro.cli_reproduce import reproduce as run

    run(experiment.value, scale.value, out, data)

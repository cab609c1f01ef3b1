"""The command ``epro``."""

from __future__ import annotations

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

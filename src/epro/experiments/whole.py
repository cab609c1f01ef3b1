"""What both experiments share."""

from __future__ import annotations

from epro.result import Result, Status
from epro.run import Run


def result_of(run: Run) -> Result:
    """The result of a whole run. Ctrl-C ends a run with its last point; here it ends the experiment."""
    result = run()
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result

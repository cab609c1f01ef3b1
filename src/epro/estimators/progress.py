"""scikit-learn's callback protocol, where the installed version has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn import callback as protocol
except ImportError:  # before scikit-learn 1.9
    protocol = None


class _NoSupport:
    """Nothing to support."""


def _unchanged(fit: Any) -> Any:
    return fit


CallbackSupport: Any = _NoSupport if protocol is None else protocol.CallbackSupportMixin
with_callbacks: Any = _unchanged if protocol is None else protocol.with_callbacks


@contextmanager
def reporting(estimator: Any, task: str, fitted: Any = None) -> Iterator[tuple[Any, ...]]:
    """Callbacks for `minimize` that tell scikit-learn's about each epoch; ``fitted`` makes attributes of its point."""
    if not getattr(estimator, "_skl_callbacks", None) or not hasattr(estimator, "_callback_fit_ctx"):
        yield ()
        return
    context = estimator._callback_fit_ctx

    def each_epoch(problem: Any, state: Any) -> bool:
        inner = context.subcontext(task_name=task)
        inner.call_on_fit_task_begin(estimator=estimator)
        so_far = {} if fitted is None else {"reconstruction_attributes": lambda: fitted(state.x), **context.epro_data}
        return bool(inner.call_on_fit_task_end(estimator=estimator, **so_far))

    yield (each_epoch,)


def begin(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> None:
    """Opens the root context of a fit, where there are callbacks, which may score on its data."""
    if hasattr(estimator, "_init_callback_context"):
        context = estimator._init_callback_context(max_subtasks=None)
        metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
        context.epro_data = {"X": X, "y": y, "metadata": metadata}  # as long as the fit
        context.call_on_fit_task_begin(estimator=estimator)


def end(estimator: Any) -> None:
    """Closes it."""
    if hasattr(estimator, "_callback_fit_ctx"):
        context = estimator._callback_fit_ctx
        context.call_on_fit_task_end(estimator=estimator, reconstruction_attributes={}, **context.epro_data)


__all__ = ["CallbackSupport", "begin", "end", "reporting", "with_callbacks"]

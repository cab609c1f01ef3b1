"""numpydoc's rules, read as scikit-learn reads them; the examples are run with the package's other ones."""

from __future__ import annotations

import inspect

import pytest

import epro

validate = pytest.importorskip("numpydoc.validate").validate
FREE = {"RT02", "GL01", "GL02"}  # as in scikit-learn's own test
OF_CLASSES = {"ES01", "SA01", "EX01"}
CLASSES = ("ConstrainedRegressor", "ConstrainedClassifier", "LMNN")


def methods(name):
    """What the class defines itself."""
    for method, function in inspect.getmembers(getattr(epro, name), inspect.isfunction):
        if not method.startswith("_") and inspect.unwrap(function).__module__.startswith("epro."):
            yield f"epro.{name}.{method}"


@pytest.mark.parametrize("name", [part for name in CLASSES for part in (f"epro.{name}", *methods(name))])
def test_numpydoc(name):
    free = FREE if name.count(".") == 1 else FREE | OF_CLASSES
    assert [error for error in validate(name)["errors"] if error[0] not in free] == []

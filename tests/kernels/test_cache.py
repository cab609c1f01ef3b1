"""The machine code kept on disk serves other processes, also after a user's own record was compiled."""

import os
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import pytest

import epro
from epro.kernels import records

SCRIPT = """
import numpy as np, epro
from typing import NamedTuple

class MyLink(NamedTuple):
    scale: float
    def loss(self, p, y): return self.scale * p
    def slope(self, p, y): return self.scale

class Mine(epro.losses.Loss):
    slope_bound = 1.0
    link = MyLink(1.0)

for loss in ({losses}):
    problem = epro.Problem(loss(np.eye(2), np.ones(2)), epro.regularizers.Ridge(1.0))
    print(float(problem.value(np.ones(2))))
"""


def test_a_record_of_ones_own_does_not_spoil_the_cache(tmp_path):
    environment = os.environ | {"EPRO_CACHE_DIR": str(tmp_path)}

    def run(losses):
        script = tmp_path / "script.py"
        script.write_text(SCRIPT.format(losses=losses))
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert run("Mine, epro.losses.Absolute") == ["2.0", "1.0"]
    kept = {file.name for file in tmp_path.rglob("*.nbc")}
    assert len([name for name in kept if "loss_sum" in name]) == 1, "only the built-in loss's code is kept"
    assert run("epro.losses.Absolute,") == ["1.0"]  # as in a process that knows no MyLink
    assert {file.name for file in tmp_path.rglob("*.nbc")} == kept


def test_a_directory_that_cannot_be_written_to_costs_a_warning(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("EPRO_CACHE_DIR", str(tmp_path / "file"))
    twice = records.kernel(lambda x: 2.0 * x)
    with pytest.warns(RuntimeWarning, match="file/epro/kernels/.* set EPRO_CACHE_DIR"):
        assert twice(1.5) == 3.0


class Half(NamedTuple):
    """Of no package, hence compiled anew in every process."""

    scale: float

    def loss(self, p, y):
        return 0.5 * self.scale * (p - y) ** 2

    def slope(self, p, y):
        return self.scale * (p - y)

    def implicit(self, p, y, step):
        return self.scale * (p - y) / (1.0 + step * self.scale)

    def curvature(self, p, y):
        return self.scale


class Mine(epro.losses.Loss):
    smoothness = 1.0
    link = Half(1.0)


def test_compilation_is_not_on_the_clock():
    problem = epro.Problem(Mine(np.eye(3), np.ones(3)), epro.regularizers.Ridge(0.1), epro.constraints.L1Ball(1.0))
    started = time.perf_counter()
    result = epro.minimize(problem, "apg", tol=1e-8)
    assert result.success and 0.0 < result.seconds < 0.2 * (time.perf_counter() - started)

"""The machine code kept on disk serves other processes, also after a user's own record was compiled."""

import os
import subprocess
import sys

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

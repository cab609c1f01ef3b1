"""How fast LIBSVM text becomes CSR: epro.datasets.read_libsvm against scikit-learn's load_svmlight_file.

The same generated file (algebra-shaped rows), one thread, compilation excluded, best of three; the processor's time
stands beside the clock's, since a busy machine slows only the latter. Peak memory of a fresh process each, above what
it holds before (Linux only).

    python benchmarks/bench_libsvm_reader.py --rows 300000
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

READERS = ("epro, into memory", "epro, into memory maps", "scikit-learn")
MEGA = 1e6


def write(path: Path, rows: int, digits: int) -> int:
    """An algebra-shaped file of so many rows; returns its size in bytes."""
    from epro.datasets import make_algebra

    X, y = make_algebra(n=rows, d=20_216_830, dtype="float64")
    with open(path, "w") as file:
        for i in range(rows):
            row = slice(X.indptr[i], X.indptr[i + 1])
            entries = zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True)
            file.write(f"{y[i]:+.0f} " + " ".join(f"{j + 1}:{v:.{digits}g}" for j, v in entries) + "\n")
    return path.stat().st_size


def read(reader: str, path: Path, place: Path) -> None:
    if reader == "scikit-learn":
        from sklearn.datasets import load_svmlight_file

        load_svmlight_file(str(path))
    else:
        from epro.datasets import read_libsvm

        read_libsvm(path, place if "maps" in reader else None, progress=False)


def measure(reader: str, path: Path, repeats: int) -> None:
    """Prints the best of the repeats (seconds by the clock, by the processor) and the peak memory above the start."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        small = Path(folder, "small.txt")
        small.write_text("+1 1:1 2:1\n")
        read(reader, small, Path(folder, "warm"))  # imports and compiles
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak of importing and compiling
        start, clock, processor = memory("VmRSS"), [], []
        for repeat in range(repeats):
            begun, worked = time.perf_counter(), time.process_time()
            read(reader, path, Path(folder, f"run{repeat}"))
            clock.append(time.perf_counter() - begun)
            processor.append(time.process_time() - worked)
        print(min(clock), min(processor), memory("VmHWM") - start)


def memory(kind: str) -> int:
    """Resident bytes of this process, now (VmRSS) or at most (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(kind)).split()[1])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    options.add_argument("--rows", type=int, default=300_000)
    options.add_argument("--digits", type=int, default=8, help="significant digits of a value")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--only", nargs=2, metavar=("READER", "FILE"), help="measure one reader (used internally)")
    given = options.parse_args()
    if given.only:
        return measure(given.only[0], Path(given.only[1]), given.repeats)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "algebra.txt")
        size = write(path, given.rows, given.digits)
        print(f"{given.rows:,} rows, {size / MEGA:.0f} MB of text, values of {given.digits} digits")
        for reader in READERS:
            command = [sys.executable, __file__, "--repeats", str(given.repeats), "--only", reader, str(path)]
            clock, processor, peak = map(float, subprocess.check_output(command, text=True).split())
            speeds = f"{size / MEGA / clock:7.1f} MB/s by the clock, {size / MEGA / processor:7.1f} by the processor"
            print(f"{reader:24s} {speeds}; peak {peak / MEGA:6.0f} MB")


if __name__ == "__main__":
    main()

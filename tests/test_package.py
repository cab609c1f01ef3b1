"""The package as a whole: what importing costs, what is public, and the rules that every file keeps."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import epro

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "epro"
FILES = sorted(SOURCE.rglob("*.py"))
HEAVY = ("cvxpy", "matplotlib", "numba", "plotly", "sklearn")
relative = [str(path.relative_to(SOURCE)) for path in FILES]


def _python(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT / "src")
    return run.stdout.strip()


# -- importing


def test_import_takes_less_than_half_a_second() -> None:
    clock = "import time; start = time.perf_counter(); import epro; print(time.perf_counter() - start)"
    assert min(float(_python(clock)) for _ in range(3)) < 0.5


def test_import_loads_nothing_heavy() -> None:
    loaded = _python("import sys, epro; print(*{name.split('.')[0] for name in sys.modules})").split()
    assert "epro" in loaded
    assert not set(HEAVY) & set(loaded)


def test_losses_and_constraints_load_no_plotting_library() -> None:
    used = "import sys, epro; epro.losses, epro.constraints; print(*{name.split('.')[0] for name in sys.modules})"
    assert not {"cvxpy", "matplotlib", "plotly"} & set(_python(used).split())


# -- public names


@pytest.mark.parametrize("name", epro.__all__)
def test_public_name_exists(name: str) -> None:
    assert getattr(epro, name) is not None


def test_public_names_are_listed() -> None:
    assert set(epro.__all__) <= set(dir(epro))
    with pytest.raises(AttributeError, match="no_such_name"):
        epro.no_such_name  # noqa: B018


def test_minimize_is_the_function_and_no_module_hides_it() -> None:
    assert importlib.util.find_spec("epro.minimize") is None
    importlib.import_module("epro._minimize")
    assert callable(epro.minimize)


def test_version_is_stated_once() -> None:
    stated = [path.name for path in FILES if f'"{epro.__version__}"' in path.read_text("utf-8")]
    assert stated == ["_version.py"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", epro.__version__)


def test_citation_agrees_with_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == epro.__version__
    assert citation["preferred-citation"]["year"] == 2016 and len(citation["preferred-citation"]["authors"]) == 5


# -- rules for every source file


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_file_is_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 300


def _code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The length of a function without its docstring, which may hold parameters, formulas and examples."""
    length = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        length -= (first.end_lineno or first.lineno) - first.lineno + 1
    return length


def _functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_functions_are_short(path: Path) -> None:
    lengths = {f.name: _code_lines(f) for f in _functions(ast.parse(path.read_text("utf-8")))}
    assert {name: length for name, length in lengths.items() if length > 40} == {}


def test_function_length_leaves_the_docstring_out() -> None:
    (function,) = _functions(ast.parse('def f():\n    """One\n\n    two.\n    """\n    a = 1\n    return a\n'))
    assert _code_lines(function) == 3


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_storage_is_looked_at_only_where_rows_are_built(path: Path) -> None:
    part = path.relative_to(SOURCE).parts[0]
    assert part in ("atoms", "datasets") or "issparse" not in path.read_text("utf-8")


# -- rules for every tracked file


def _tracked() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


# Package indexes and absolute directories of one machine, spelt so that this file is not among the finds.
UNWANTED = [
    "".join(parts)
    for parts in (
        ("py", "pi.org"),
        ("python", "hosted.org"),
        ("registry.", "npmjs"),
        ("conda.", "anaconda"),
        ("/wo", "rk/"),
        ("/op", "t/"),
        ("/ro", "ot/"),
        ("/ho", "me/"),
        ("/tm", "p/"),
        ("../", "shared"),
    )
]


def _unwanted_in(text: str) -> list[str]:
    return [word for word in UNWANTED if word in text]


def test_no_tracked_file_names_an_index_or_a_directory_of_one_machine() -> None:
    found = {}
    for path in _tracked():
        words = _unwanted_in(path.read_bytes().decode("utf-8", errors="ignore"))
        if words:
            found[str(path.relative_to(ROOT))] = words
    assert found == {}


def test_the_search_for_unwanted_words_finds_them() -> None:
    assert _unwanted_in("see " + UNWANTED[0] + " and " + UNWANTED[-1]) == [UNWANTED[0], UNWANTED[-1]]


def test_lock_file_pins_everything_and_names_no_place() -> None:
    lock = (ROOT / "requirements-dev.lock").read_text("utf-8")
    assert "://" not in lock and " @ " not in lock and "index" not in lock and "find-links" not in lock
    packages = re.findall(r"^[a-z][\w.-]*(.*)$", lock, flags=re.MULTILINE)
    assert len(packages) > 50 and all(pin.startswith("==") for pin in packages)
    blocks = re.split(r"\n(?=[a-z])", lock.strip())
    assert all("--hash=sha256:" in block for block in blocks)


def test_there_is_no_other_lock_file() -> None:
    known = {"uv.lock", "poetry.lock", "Pipfile.lock", "package-lock.json", "pylock.toml"}
    assert [path for path in _tracked() if path.name in known] == []


# -- the guard of conftest.py


@pytest.mark.parametrize("host", ["192.0.2.1", "example.invalid", "2001:db8::1"])
def test_no_test_reaches_another_machine(host: str) -> None:
    with pytest.raises(RuntimeError, match="this machine only"):
        socket.create_connection((host, 9), timeout=0.1)


def test_loopback_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        client.sendall(b"here")
        assert accepted.recv(4) == b"here"
        accepted.close()

"""Downloads against a server on loopback: resuming, checking, retrying, and what is said when it fails."""

import bz2
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from epro.datasets import DownloadError, fetch_algebra, fetch_cora, make_algebra
from epro.datasets.download import Remote, download

CONTENT = bytes(np.random.default_rng(0).integers(256, size=300_000, dtype=np.uint8))


class Server:
    """Serves ``files``; each request takes the next of ``faults``: None, a status, or how many bytes to send."""

    def __init__(self):
        self.files, self.faults, self.requests = {"/data.bin": CONTENT}, [], []
        self.ranges, self.tag = True, '"first"'
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def answer(self, request):
        asked = request.headers.get("Range")
        self.requests.append(asked)
        fault = self.faults.pop(0) if self.faults else None
        content = self.files.get(request.path)
        if content is None or isinstance(fault, str):
            request.send_error(404 if content is None else int(fault))
            return
        start, status = 0, 200
        if asked and self.ranges and request.headers.get("If-Range", self.tag) == self.tag:
            start, status = int(asked.removeprefix("bytes=").removesuffix("-")), 206
            if start >= len(content):
                request.send_response(416)
                request.send_header("Content-Range", f"bytes */{len(content)}")
                request.send_header("Content-Length", "0")
                request.end_headers()
                return
        request.send_response(status)
        request.send_header("ETag", self.tag)
        request.send_header("Content-Length", str(len(content) - start))
        if status == 206:
            request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        request.end_headers()
        request.wfile.write(content[start:] if fault is None else content[start : start + fault])

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = Server()
    yield server
    server.close()


def get(server, folder, *, attempts=3, **known):
    return download(Remote(f"{server.url}/data.bin", **known), folder, attempts=attempts, wait=0, timeout=5)


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_a_download_is_checked_and_made_once(server, tmp_path):
    sha = hashlib.sha256(CONTENT).hexdigest()
    for _ in range(2):
        path = get(server, tmp_path, size=len(CONTENT), sha256=sha.upper())
        assert path.read_bytes() == CONTENT
    assert server.requests == [None] and names(tmp_path) == ["data.bin"]


def test_a_broken_download_is_continued(server, tmp_path):
    server.faults = [100_000, 50_000]
    assert get(server, tmp_path).read_bytes() == CONTENT
    assert server.requests == [None, "bytes=100000-", "bytes=150000-"]


def test_a_later_call_continues(server, tmp_path):
    server.faults = [100_000]
    with pytest.raises(DownloadError, match=r"connection ended after 100,000 of 300,000 bytes.*100,000 bytes are kept"):
        get(server, tmp_path, attempts=1)
    assert "data.bin" not in names(tmp_path)
    assert get(server, tmp_path).read_bytes() == CONTENT
    assert server.requests[-1] == "bytes=100000-" and names(tmp_path) == ["data.bin", "data.bin.sha256"]


def test_a_whole_part_needs_no_more_bytes(server, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(CONTENT)
    assert get(server, tmp_path).read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_dropped(server, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(CONTENT + b"more")
    assert get(server, tmp_path).read_bytes() == CONTENT


def test_a_part_of_another_version_is_dropped(server, tmp_path):
    server.faults = [100_000]
    with pytest.raises(DownloadError):
        get(server, tmp_path, attempts=1)
    server.files["/data.bin"], server.tag = CONTENT[::-1], '"second"'
    assert get(server, tmp_path).read_bytes() == CONTENT[::-1]


def test_a_server_without_ranges_starts_again(server, tmp_path):
    server.ranges, server.faults = False, [100_000]
    assert get(server, tmp_path).read_bytes() == CONTENT


def test_a_busy_server_is_asked_again(server, tmp_path):
    server.faults = ["503", "429"]
    assert get(server, tmp_path).read_bytes() == CONTENT
    server.faults = ["503"] * 3
    with pytest.raises(DownloadError, match=r"answered 503 .*3 attempts"):
        download(Remote(f"{server.url}/data.bin"), tmp_path / "else", attempts=3, wait=0)


def test_a_missing_file_is_not_asked_for_again(server, tmp_path):
    with pytest.raises(DownloadError, match=r"cannot download http://127.0.0.1:\d+/no.bin: the server answered 404"):
        download(Remote(f"{server.url}/no.bin"), tmp_path, wait=0)
    assert len(server.requests) == 1 and names(tmp_path) == []


def test_a_wrong_checksum_or_size_is_an_error_and_leaves_nothing(server, tmp_path):
    with pytest.raises(DownloadError, match=r"the SHA-256 of .*data.bin is [0-9a-f]{64}, expected 00"):
        get(server, tmp_path, sha256="00")
    asked = len(server.requests)
    with pytest.raises(DownloadError, match=r"^http\S+ has 300,000 bytes, expected 5$"):
        get(server, tmp_path, size=5)
    assert len(server.requests) == asked + 1  # another attempt cannot help
    assert names(tmp_path) == []


def test_without_a_known_checksum_the_first_one_is_kept(server, tmp_path):
    path = get(server, tmp_path)
    assert (tmp_path / "data.bin.sha256").read_text() == f"{hashlib.sha256(CONTENT).hexdigest()}  data.bin\n"
    path.write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(DownloadError, match=r"kept in data\.bin\.sha256 by the first download"):
        get(server, tmp_path)


def test_no_server_and_no_web_address(tmp_path):
    with pytest.raises(DownloadError, match="2 attempts"):
        download(Remote("http://127.0.0.1:1/data.bin"), tmp_path, attempts=2, wait=0)
    with pytest.raises(ValueError, match="must start with http"):
        download(Remote("file:///data.bin"), tmp_path)


def test_bad_options_are_refused_before_the_server_is_asked(server, tmp_path):
    url = f"{server.url}/data.bin"
    for options, said in (
        ({"attempts": 0}, "attempts must be at least 1, got 0"),
        ({"dtype": "i4"}, "dtype must be float32 or float64, got int32"),
    ):
        with pytest.raises(ValueError, match=said):
            fetch_algebra(tmp_path, url=url, **options)
    assert server.requests == [] and names(tmp_path) == []


def test_algebra_is_downloaded_parsed_and_opened_again(server, tmp_path):
    X, y = make_algebra(n=200, d=1000, nnz_per_row=6)
    lines = (
        f"{y[i]:+g} " + " ".join(f"{j + 1}:{v!r}" for j, v in zip(X[i].indices, X[i].data.tolist(), strict=True))
        for i in range(200)
    )
    server.files["/kdda.bz2"] = bz2.compress("\n".join(lines).encode())
    server.faults = [1000]
    options = {"url": f"{server.url}/kdda.bz2", "n_features": 1000, "wait": 0}
    for _ in range(2):
        Z, z = fetch_algebra(tmp_path, **options)
        assert Z.shape == X.shape and (Z != X).nnz == 0 and np.array_equal(y, z) and isinstance(Z.data, np.memmap)
    assert server.requests == [None, "bytes=1000-"]
    assert names(tmp_path) == ["kdda.bz2", "kdda.bz2.sha256", "kdda.csr"]
    with pytest.raises(ValueError, match="was parsed as float32, but dtype is float64"):
        fetch_algebra(tmp_path, **options, dtype=np.float64)


def test_a_download_that_is_not_cora_does_not_stand_in_the_way(server, tmp_path):
    server.files["/cora.npz"] = b"nothing of the kind"
    with pytest.raises(ValueError, match=r"cora\.npz is not an \.npz file of plain arrays: it is not a zip archive"):
        fetch_cora(tmp_path, url=f"{server.url}/cora.npz")
    assert names(tmp_path) == []

"""Downloads that resume, are checked, and appear under their name only when whole."""

from __future__ import annotations

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epro.datasets.progress import Bar

BLOCK = 1 << 20
TRANSIENT = (408, 425, 429, 500, 502, 503, 504)


class DownloadError(OSError):
    """The file could not be had, or is not the file that was asked for."""


@dataclass(frozen=True)
class Remote:
    """A file on a server, and what is known of it.

    Parameters
    ----------
    url : str
    size : int, optional
        In bytes; the server's own figure is checked by default.
    sha256 : str, optional
        In hexadecimal. Where it is not known, the digest of the first download is kept beside the file
        (``<name>.sha256``), and the file is compared with that from then on.
    """

    url: str
    size: int | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        if not self.url.lower().startswith(("http://", "https://")):
            raise ValueError(f"url must start with http:// or https://, got {self.url!r}")

    @property
    def name(self) -> str:
        return self.url.split("?")[0].rstrip("/").rsplit("/", 1)[-1]


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def download(
    remote: Remote,
    folder: Path,
    *,
    attempts: int = 5,
    wait: float = 1.0,
    timeout: float = 30.0,
    progress: bool | None = None,
) -> Path:
    """The file in ``folder``, downloaded unless it is there; checked in either case.

    A broken download is kept as ``<name>.part`` and continued, in this call (``attempts`` times, ``wait`` seconds after
    the first failure and twice as long after each other) or a later one.
    """
    if attempts < 1:
        raise ValueError(f"attempts must be at least 1, got {attempts}")
    path = folder / remote.name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        _fetch_with_retries(remote, part, attempts, wait, timeout, progress)
        try:
            _check(remote, part, path)
        except DownloadError:
            part.unlink()  # continuing a wrong file cannot make it right
            _tag(part).unlink(missing_ok=True)
            raise
        os.replace(part, path)
        _tag(part).unlink(missing_ok=True)
        return path
    _check(remote, path, path)
    return path


def _check(remote: Remote, file: Path, name: Path) -> None:
    """Compares size and digest; where no digest is known, keeps that of the first download."""
    size = file.stat().st_size
    if remote.size is not None and size != remote.size:
        raise DownloadError(f"{name} has {size:,} bytes, expected {remote.size:,}; remove it to download it again")
    kept = name.with_name(name.name + ".sha256")
    expected = remote.sha256 or (kept.read_text().split()[0] if kept.exists() else None)
    found = sha256_of(file)
    if expected is None:
        kept.write_text(f"{found}  {name.name}\n")
    elif found != expected.lower():
        raise DownloadError(
            f"the SHA-256 of {name} is {found}, expected {expected}"
            f"{'' if remote.sha256 else f' (kept in {kept.name} by the first download)'}; "
            "the file is damaged, or another version was published"
        )


def _fetch_with_retries(
    remote: Remote, part: Path, attempts: int, wait: float, timeout: float, progress: bool | None
) -> None:
    for attempt in range(attempts):
        try:
            return _fetch(remote, part, timeout, progress)
        except urllib.error.HTTPError as error:
            error.close()
            what = f"the server answered {error.code} {error.reason}"
            if error.code not in TRANSIENT:
                raise DownloadError(f"cannot download {remote.url}: {what}") from None
        except DownloadError:
            raise
        except (OSError, http.client.HTTPException) as error:
            what = str(getattr(error, "reason", error)) or type(error).__name__
        if attempt + 1 < attempts:
            time.sleep(wait * 2**attempt)
    done = part.stat().st_size if part.exists() else 0
    kept = f"; {done:,} bytes are kept in {part}, and the next call continues from there" if done else ""
    raise DownloadError(f"cannot download {remote.url}: {what} ({attempts} attempts{kept})")


def _fetch(remote: Remote, part: Path, timeout: float, progress: bool | None) -> None:
    """One request for what is missing; raises `OSError` where the connection ends before the file does."""
    done = part.stat().st_size if part.exists() else 0
    tag = _tag(part)
    request = urllib.request.Request(remote.url, headers={"User-Agent": "epro", "Accept-Encoding": "identity"})
    if done:
        request.add_header("Range", f"bytes={done}-")
        if tag.exists():
            request.add_header("If-Range", tag.read_text())
    try:
        response = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code != 416:
            raise
        error.close()
        if error.headers.get("Content-Range") == f"bytes */{done}":  # nothing is missing
            return
        part.unlink()
        raise ConnectionError("the part on disk does not belong to the file on the server") from None
    with response:
        if response.status != 206:
            done = 0  # the server sends the whole file: it does not resume, or the file has changed
        elif not str(response.headers.get("Content-Range")).startswith(f"bytes {done}-"):
            part.unlink()
            raise ConnectionError(f"the server sent another range, {response.headers.get('Content-Range')}")
        length = response.headers.get("Content-Length")
        total = None if length is None else done + int(length)
        if total is not None and remote.size is not None and total != remote.size:
            raise DownloadError(f"{remote.url} has {total:,} bytes, expected {remote.size:,}")
        _keep_tag(tag, response.headers)
        with Bar(f"Downloading {remote.name}", total, progress, "bytes") as bar:
            _copy(response, part, done, total, bar)


def _copy(response: Any, part: Path, done: int, total: int | None, bar: Bar) -> None:
    with open(part, "ab" if done else "wb") as file:
        while block := response.read(BLOCK):
            file.write(block)
            done += len(block)
            bar.to(done)
    if total is not None and done < total:
        raise ConnectionError(f"the connection ended after {done:,} of {total:,} bytes")


def _tag(part: Path) -> Path:
    return part.with_name(part.name + ".etag")


def _keep_tag(tag: Path, headers: Any) -> None:
    """A strong ETag or a date identifies the version that the part belongs to."""
    value = headers.get("ETag") or headers.get("Last-Modified")
    if value and not value.startswith("W/"):
        tag.write_text(value)
    else:
        tag.unlink(missing_ok=True)

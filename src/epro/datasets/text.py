"""Bytes of a plain or compressed file, in chunks of whole lines."""

from __future__ import annotations

import bz2
import gzip
import lzma
import queue
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

Array = Any

CHUNK = 1 << 22
OPENERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}


class Unreadable(ValueError):
    """The compressed file is cut off or damaged."""


def opener_of(raw: IO[bytes]) -> Callable[[IO[bytes]], Any] | None:
    """What decompresses the file, by its first bytes; None where it is plain."""
    start = raw.read(6)
    raw.seek(0)
    return next((opener for magic, opener in OPENERS.items() if start.startswith(magic)), None)


def pieces(stream: Any, size: int, path: Path) -> Iterator[bytes]:
    """The stream's bytes, at most ``size`` at a time."""
    while True:
        try:
            piece = stream.read(size)
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise Unreadable(f"{path} is damaged or cut off: {error}") from error
        if not piece:
            return
        yield piece


@contextmanager
def ahead(source: Iterator[bytes]) -> Iterator[Iterator[bytes]]:
    """Runs ``source`` in a thread, at most two pieces ahead (decompression leaves the interpreter lock)."""
    ready: queue.Queue[Any] = queue.Queue(maxsize=2)
    stopped = threading.Event()

    def put(item: Any) -> bool:
        while not stopped.is_set():
            try:
                ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for piece in source:
                if not put(piece):
                    return
            put(None)
        except BaseException as error:  # handed to the reader, which raises it
            put(error)

    def read() -> Iterator[bytes]:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item

    thread = threading.Thread(target=work, name="epro-decompress", daemon=True)
    thread.start()
    try:
        yield read()
    finally:
        stopped.set()
        thread.join()


@contextmanager
def line_chunks(path: Path) -> Iterator[Iterator[tuple[Array, int, int]]]:
    """Yields (buffer, length, bytes of the file read so far): whole lines, the last one ended by a newline.

    The buffer is reused; it grows only for a line longer than itself.
    """
    size = CHUNK
    with open(path, "rb") as raw:
        opener = opener_of(raw)
        if opener is None:
            yield _lines(pieces(raw, size, path), raw, size)
        else:
            with opener(raw) as stream, ahead(pieces(stream, size, path)) as source:
                yield _lines(source, raw, size)


def _lines(source: Iterator[bytes], raw: IO[bytes], size: int) -> Iterator[tuple[Array, int, int]]:
    buffer = np.empty(2 * size + 1, np.uint8)
    held = 0
    for piece in source:
        if held + len(piece) >= len(buffer):
            buffer = np.concatenate([buffer[:held], np.empty(held + 2 * len(piece) + 1, np.uint8)])
        buffer[held : held + len(piece)] = np.frombuffer(piece, np.uint8)
        last = piece.rfind(b"\n")
        length = held + last + 1 if last >= 0 else 0
        held += len(piece)
        if length:
            yield buffer, length, raw.tell()
            buffer[: held - length] = buffer[length:held].copy()
            held -= length
    if held:
        buffer[held] = ord("\n")
        yield buffer, held + 1, raw.tell()

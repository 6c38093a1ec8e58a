"""A stranger's file is parsed in quarantine: a process of its own, with limits, without the network.

Knows how to start that process, how long to wait, and how to say what went wrong.  Whatever a file
does to its parser, the caller gets a document or a Rejected with the reason; other files are not
touched.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from appliance.corpus.gate import LONGEST
from appliance.domain import Rejected, Span
from appliance.formats.child import OUT_OF_MEMORY, Order
from appliance.formats.ocr import engine
from appliance.formats.parsed import Parsed

# Isolated: no user site, no PYTHON* variables, no current folder; and no bytecode is written.
_COMMAND = (sys.executable, "-I", "-B", "-X", "utf8", "-m", "appliance.formats.child")
# Where programs, the OCR engine's data and docling's models are.
_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "TESSDATA_PREFIX", "DOCLING_ARTIFACTS_PATH")
_TAIL = 2000  # bytes of the child's standard error that are kept
# A reply holds at most the longest body that passes the gate, each character as "\ud83c\udf09".
_LONGEST_REPLY = 400_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one file may cost.

    Of the real files at hand the slowest, a PDF of 128 pages and reStructuredText of 1.2 MB, take some
    3 s, so that a whole code of 2,500 pages fits.
    """

    seconds: int = 90
    ocr_seconds: int = 600  # on top of that, for a PDF where there is an OCR engine
    memory: int = 2 * 2**30  # bytes of address space
    largest: int = 200_000_000  # bytes of the file


async def parse_apart(
    raw: bytes, *, name: str, url: str | None = None, limits: Limits | None = None
) -> Parsed | Rejected:
    """Parse a file in a process of its own."""
    limits = limits or Limits()
    if len(raw) > limits.largest:
        why = f"is larger than {limits.largest // 1_000_000:,} MB; split it"
        return Rejected(where=name, reasons=(f"the file {why}",))
    helper = engine() if b"%PDF-" in raw[:1024] else None
    patience = limits.seconds + (limits.ocr_seconds if helper else 0)
    with tempfile.TemporaryDirectory(prefix="permitbox-", ignore_cleanup_errors=True) as folder:
        order = Order(
            name=Path(name).name,
            url=url,
            memory=limits.memory,
            seconds=limits.seconds,
            longest=LONGEST,
            folder=folder,
            helper=helper,
        )
        try:
            async with asyncio.timeout(patience):
                ended = await _run(order, raw)
        except TimeoutError:
            return Rejected(where=name, reasons=(f"took more than {patience:,} s to read",))
    return _outcome(ended, name, limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    code: int  # negative: the signal
    reply: bytes
    complaint: str  # the last line on standard error


async def _run(order: Order, raw: bytes) -> _Ended:
    process = await asyncio.create_subprocess_exec(
        *_COMMAND,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=order.folder,
        env=_environment(order.folder),
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        reply, complaint, _ = await asyncio.gather(
            _read(process.stdout),
            _read_tail(process.stderr),
            _write(process.stdin, order.line(), raw),
        )
        code = await process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    last = complaint.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1]
    return _Ended(code=code, reply=reply, complaint=last)


def _environment(folder: str) -> dict[str, str]:
    """Return all that a parser may know of the user's environment: where its tools are."""
    known = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {**known, "TMPDIR": folder, "HOME": folder, "LC_ALL": "C.UTF-8"}


async def _write(into: asyncio.StreamWriter, *parts: bytes) -> None:
    # A child that has seen enough, or died, reads no more.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for part in parts:
            into.write(part)
            await into.drain()
        into.close()
        await into.wait_closed()


async def _read(stream: asyncio.StreamReader) -> bytes:
    """Return what the stream gives; what is longer than any reply is cut, and so no reply."""
    read = bytearray()
    while piece := await stream.read(2**20):
        if len(read) < _LONGEST_REPLY:
            read += piece
    return bytes(read)


async def _read_tail(stream: asyncio.StreamReader) -> bytes:
    tail = b""
    while piece := await stream.read(2**16):
        tail = (tail + piece)[-_TAIL:]
    return tail


# ------------------------------------------------------------------ what came of it


def _outcome(ended: _Ended, name: str, limits: Limits) -> Parsed | Rejected:
    if ended.code != 0:
        return Rejected(where=name, reasons=(_end_of(ended, limits),))
    try:
        reply = json.loads(ended.reply)
    except ValueError:
        return Rejected(where=name, reasons=("the parser's reply was cut off",))
    if "refused" in reply:
        return Rejected(where=name, reasons=(str(reply["refused"]),))
    return _parsed(reply["parsed"], reply["unconfined"])


def _end_of(ended: _Ended, limits: Limits) -> str:
    """Say why a parser ended without a reply."""
    if ended.code in (-signal.SIGXCPU, -signal.SIGKILL):
        return _too_slow(limits)
    if ended.code == OUT_OF_MEMORY or "MemoryError" in ended.complaint:
        return f"took more than {limits.memory // 2**20:,} MB of memory to read"
    if ended.code < 0:
        # Machine code that is refused memory aborts.
        name = signal.Signals(-ended.code).name
        memory = f"{limits.memory // 2**20:,} MB of memory"
        return f"the parser broke down on it ({name}), or needed more than {memory}"
    return f"the parser failed on it ({ended.complaint[:200] or f'exit {ended.code}'})"


def _too_slow(limits: Limits) -> str:
    return f"took more than {limits.seconds:,} s to read"


def _parsed(fields: Mapping[str, Any], unconfined: list[str]) -> Parsed:
    notes = tuple(fields["notes"])
    if unconfined:
        notes += (f"On this system {' and '.join(unconfined)}.",)
    return Parsed(
        format=fields["format"],
        title=fields["title"],
        body=fields["body"],
        pages=tuple(Span(start=a, end=b) for a, b in fields["pages"]),
        notes=notes,
        url=fields["url"],
        effective_from=_day(fields["effective_from"]),
        effective_until=_day(fields["effective_until"]),
        link_share=fields["link_share"],
    )


def _day(written: str | None) -> date | None:
    return None if written is None else date.fromisoformat(written)

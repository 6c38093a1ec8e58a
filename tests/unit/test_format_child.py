"""What the parsers' own process may not do, each tried for real in such a process."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from datetime import date
from pathlib import Path

import pytest

from appliance.domain import Rejected, Span
from appliance.formats.child import OUT_OF_MEMORY, Order, parsed_fields, refusal, reply
from appliance.formats.parsed import Parsed
from appliance.formats.quarantine import Limits, _end_of, _Ended, _outcome

MB = 2**20


def order(folder: Path, *, name: str = "x.txt", memory: int = 1024 * MB) -> Order:
    return Order(name=name, url=None, memory=memory, seconds=30, longest=1000, folder=str(folder))


def confined(work: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process that has been confined as a parser's is."""
    code = f"""
import os, sys
from pathlib import Path
from appliance.formats.child import Order, confine
confine(Order.read({order(folder).line()!r}))
try:
{textwrap.indent(textwrap.dedent(work), "    ")}
except OSError as error:
    print("refused:", type(error).__name__, error)
"""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "work",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9), timeout=2)",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        "import socket; socket.create_server(('127.0.0.1', 0))",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')",
        "import subprocess; subprocess.run(['true'])",
        "os.system('true')",
        "os.fork()",
        "os.execv('/bin/true', ['true'])",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "os.kill(os.getppid(), 0)",
        "open('/tmp/permitbox-not-here', 'w')",
        "os.open('/tmp/permitbox-not-here', os.O_CREAT | os.O_WRONLY)",
        "Path('/tmp/permitbox-not-here').mkdir()",
        "os.remove('/tmp/permitbox-not-here')",
        "os.symlink('/etc/passwd', '/tmp/permitbox-not-here')",
        "os.rename(sys.executable, '/tmp/permitbox-not-here')",
    ],
)
def test_network_programs_and_writing_elsewhere_are_refused(work: str, tmp_path: Path) -> None:
    found = confined(work, tmp_path)
    assert "a parser may not do this" in found.stdout, found.stderr
    assert not Path("/tmp/permitbox-not-here").exists()


def test_only_the_helper_may_be_started(tmp_path: Path) -> None:
    check = refusal(tmp_path, "/usr/bin/engine")
    check("subprocess.Popen", ("/usr/bin/engine", ["/usr/bin/engine", "stdin"], None, None))
    check("os.kill", (4711, 9))
    for program in ("/bin/sh", "engine", b"/usr/bin/engine"):
        with pytest.raises(PermissionError):
            check("subprocess.Popen", (program, ["/usr/bin/engine"], None, None))
    with pytest.raises(PermissionError):
        check("os.system", ("/usr/bin/engine",))


def test_its_own_folder_may_be_written_in_and_not_left_by_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept", "utf-8")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(outside)
    found = confined(
        f"""
        folder = Path({str(inside)!r})
        (folder / "file").write_text("x", "utf-8")
        (folder / "file").rename(folder / "moved")
        open(os.devnull, "w").close()
        print("written")
        (folder / "link").write_text("x", "utf-8")
        """,
        inside,
    )
    assert found.stdout.startswith("written\nrefused: PermissionError"), found.stderr
    assert outside.read_text("utf-8") == "kept"


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own limits are Linux's")
def test_the_kernel_limits_memory_and_files(tmp_path: Path) -> None:
    found = confined(
        """
        try:
            bytearray(2 * 2**30)
        except MemoryError:
            print("no memory")
        files = [open(os.devnull) for _ in range(1000)]
        """,
        tmp_path,
    )
    assert found.stdout.startswith("no memory\nrefused: OSError"), found.stderr
    assert "Too many open files" in found.stdout


def test_the_watch_ends_a_process_that_no_kernel_limits() -> None:
    code = """
import time
from appliance.formats.child import watch_memory
watch_memory(100 * 2**20)
held = []
while True:
    held.append(b"x" * 2**20)
    time.sleep(0.001)
"""
    found = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert found.returncode == OUT_OF_MEMORY


# ------------------------------------------------------------------ the reply


def test_a_parsed_document_crosses_as_json_unchanged(tmp_path: Path) -> None:
    parsed = Parsed(
        format="pdf",
        title="T \U0001f9cc",
        body="x\ud800 \U0001f9cc",
        pages=(Span(start=0, end=3),),
        notes=("n",),
        url="https://x.org",
        effective_from=date(2024, 7, 1),
        effective_until=None,
        link_share=0.25,
    )
    sent = json.dumps({"parsed": parsed_fields(parsed), "unconfined": []}).encode()
    assert _outcome(_Ended(code=0, reply=sent, complaint=""), "x", Limits()) == parsed


def test_what_could_not_be_taken_away_is_said() -> None:
    fields = parsed_fields(Parsed(format="text", title="", body="x"))
    sent = json.dumps({"parsed": fields, "unconfined": ["the memory is watched"]}).encode()
    found = _outcome(_Ended(code=0, reply=sent, complaint=""), "x", Limits())
    assert isinstance(found, Parsed)
    assert found.notes == ("On this system the memory is watched.",)


@pytest.mark.parametrize(
    ("raw", "words"),
    [(b"", "empty"), (b"\x89PNG", "picture"), (b"<akomaNtoso>", "not well formed")],
)
def test_a_refusal_is_a_sentence(raw: bytes, words: str, tmp_path: Path) -> None:
    assert words in str(reply(raw, order(tmp_path))["refused"])


def test_a_text_beyond_any_gate_is_refused(tmp_path: Path) -> None:
    assert reply(b"goat " * 201, order(tmp_path)) == {
        "refused": "the text is longer than 1,000 characters"
    }


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (_Ended(code=-24, reply=b"", complaint=""), "more than 7 s"),
        (_Ended(code=-9, reply=b"", complaint=""), "more than 7 s"),
        (_Ended(code=-6, reply=b"", complaint=""), "SIGABRT"),
        (_Ended(code=-11, reply=b"", complaint=""), "SIGSEGV"),
        (_Ended(code=OUT_OF_MEMORY, reply=b"", complaint=""), "more than 64 MB of memory"),
        (_Ended(code=1, reply=b"", complaint="MemoryError"), "more than 64 MB of memory"),
        (_Ended(code=1, reply=b"", complaint="KeyError: 'x'"), "KeyError"),
        (_Ended(code=3, reply=b"", complaint=""), "exit 3"),
    ],
)
def test_every_way_to_end_has_its_sentence(ended: _Ended, words: str) -> None:
    limits = Limits(seconds=7, memory=64 * MB)
    assert words in _end_of(ended, limits)
    found = _outcome(ended, "x", limits)
    assert isinstance(found, Rejected)
    assert words in found.reasons[0]


def test_a_reply_that_is_cut_off_is_no_document() -> None:
    found = _outcome(_Ended(code=0, reply=b'{"parsed": {', complaint=""), "x", Limits())
    assert found == Rejected(where="x", reasons=("the parser's reply was cut off",))

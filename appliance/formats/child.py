"""One file is parsed here, in a process of its own: `python -m appliance.formats.child`.

Standard input: one line of JSON (an `Order`), then the file's bytes.  Standard output: one line of
JSON, either the parsed document or the sentence that says why there is none.  Before it looks at the
first byte, the process gives up what a parser has no use for: memory and time beyond its limits, the
network, other programs, and writing anywhere but in its own folder.

It does not know the house: no settings, no database, no environment of the user.  The audit hook
stops Python code, not machine code that has been taken over; against that stand the kernel's limits
and, where the kernel grants it, an empty network namespace.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from importlib import import_module
from pathlib import Path

from appliance.formats.parsed import Parsed, Unparsable
from appliance.formats.sniff import Format, format_of
from appliance.formats.strict_xml import names

# The exit code by which the watch on memory says why it ended the process.
OUT_OF_MEMORY = 77
# A parser holds the file, a converter's scratch and some libraries open at a time.
_OPEN_FILES = 64
# The largest file that a parser may write into its folder (a .doc becomes a .docx there).
_LARGEST_WRITTEN = 256 * 2**20
# libxml2 stops at 256 levels; the trees that HTML parsers build are deeper.
_RECURSION = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to parse and under which limits."""

    name: str  # of the file: a hint
    url: str | None  # where it was published, if that is known
    memory: int  # bytes of address space
    seconds: int  # of computing
    longest: int  # characters of the body; longer ones would pass no gate
    folder: str  # the only place where the process may write
    helper: str | None = None  # the one program that may be started: the OCR engine

    def line(self) -> bytes:
        """Return the order as the first line of standard input."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def read(cls, line: bytes) -> Order:
        """Return the order that a line holds."""
        return cls(**json.loads(line))


def main() -> None:
    """Read an order and a file from standard input, write the reply to standard output."""
    answer_to = os.dup(1)
    os.dup2(2, 1)  # a library that prints must not write into the reply
    order = Order.read(sys.stdin.buffer.readline())
    free = confine(order)
    raw = sys.stdin.buffer.read()
    with os.fdopen(answer_to, "wb") as answer:
        answer.write(json.dumps({**reply(raw, order), "unconfined": free}).encode())


def reply(raw: bytes, order: Order) -> dict[str, object]:
    """Return the parsed document, or the sentence that says why there is none, as JSON fields."""
    try:
        parsed = read(raw, name=order.name, url=order.url)
        if len(parsed.body) > order.longest:
            return {"refused": f"the text is longer than {order.longest:,} characters"}
        return {"parsed": parsed_fields(parsed)}
    except Unparsable as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"refused": f"took more than {order.memory // 2**20:,} MB of memory to read"}
    except RecursionError:
        return {"refused": "its parts are nested deeper than any law's"}


# ------------------------------------------------------------------ parsers


# Where each format's parser is.  A parser is imported when a file asks for it: one alone takes 40 ms,
# all together take a second.
PARSERS: Mapping[Format, str] = {
    Format.HTML: "appliance.formats.html:parse_html",
    Format.PDF: "appliance.formats.pdf:parse_pdf",
    Format.DOCX: "appliance.formats.docx:parse_docx",
    Format.DOC: "appliance.formats.word97:parse_word97",
    Format.AKN: "appliance.formats.akn:parse_akn",
    Format.LAW_XML: "appliance.formats.law_xml:parse_law_xml",
    Format.PUBLISHER_JSON: "appliance.formats.publisher_json:parse_publisher_json",
    Format.MARKDOWN: "appliance.formats.plain:parse_markdown_file",
    Format.RST: "appliance.formats.rst:parse_rst",
    Format.TEXT: "appliance.formats.plain:parse_text",
}


def read(raw: bytes, *, name: str, url: str | None) -> Parsed:
    """Parse a file of any format by the parser that its bytes ask for.  Raises Unparsable."""
    found = format_of(raw, name)
    module, _, function = PARSERS[found].partition(":")
    parser: Callable[..., Parsed] = getattr(import_module(module), function)
    return parser(raw, url=url) if found is Format.HTML else parser(raw)


# ------------------------------------------------------------------ the document as JSON


def parsed_fields(parsed: Parsed) -> dict[str, object]:
    """Return a parsed document as JSON fields."""
    return {
        "format": parsed.format,
        "title": parsed.title,
        "body": parsed.body,
        "pages": [[p.start, p.end] for p in parsed.pages],
        "notes": list(parsed.notes),
        "url": parsed.url,
        "effective_from": _iso(parsed.effective_from),
        "effective_until": _iso(parsed.effective_until),
        "link_share": parsed.link_share,
    }


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


# ------------------------------------------------------------------ confinement


def confine(order: Order) -> list[str]:
    """Give up all that a parser has no use for; return what this system could not take away."""
    sys.setrecursionlimit(_RECURSION)
    unconfined = []
    if sys.platform == "linux":
        _die_with_parent()
        if not _leave_network():
            unconfined.append("the network is refused to Python code only")
        resource.setrlimit(resource.RLIMIT_AS, (order.memory, order.memory))
    else:
        unconfined.append("the network is refused to Python code only")
        unconfined.append("the memory is watched, not limited")
        watch_memory(order.memory)
    resource.setrlimit(resource.RLIMIT_CPU, (order.seconds, order.seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_WRITTEN, _LARGEST_WRITTEN))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    sys.addaudithook(refusal(Path(order.folder).resolve(), order.helper))
    return unconfined


_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000


def _die_with_parent() -> None:
    """End with the process that asked, also if that is killed; gain no rights by any program."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _leave_network() -> bool:
    """Move into a network namespace without any interface; False where the kernel refuses."""
    libc = ctypes.CDLL(None)
    ways = (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET)  # as root, and as anyone
    return any(libc.unshare(way) == 0 for way in ways)


def watch_memory(most: int, *, every: float = 0.05) -> None:
    """End the process when it has used more memory: for systems whose kernel sets no such limit."""
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss

    def watch() -> None:
        while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit <= most:
            time.sleep(every)
        os._exit(OUT_OF_MEMORY)

    threading.Thread(target=watch, daemon=True).start()


# What no parser does.  PermissionError, as libraries that look for a helper program expect it.
_NEVER = names("""socket.connect socket.bind socket.sendto socket.sendmsg socket.getaddrinfo
    socket.gethostbyname socket.gethostbyaddr socket.getnameinfo
    os.system os.exec os.spawn os.fork os.forkpty pty.spawn
    os.chroot os.setxattr os.chflags os.mkfifo os.mknod""")
_STARTS = frozenset({"subprocess.Popen", "os.posix_spawn"})
_SIGNALS = frozenset({"os.kill", "os.killpg"})  # a helper that takes too long is killed
# The events whose first arguments are the paths that they change.
_CHANGES = {
    "os.remove": 1,
    "os.rmdir": 1,
    "os.mkdir": 1,
    "os.truncate": 1,
    "os.chmod": 1,
    "os.chown": 1,
    "os.utime": 1,
    "os.rename": 2,
    "os.link": 2,
    "os.symlink": 2,
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def refusal(folder: Path, helper: str | None) -> Callable[[str, tuple[object, ...]], None]:
    """Return the audit hook: no network, no program but `helper`, no writing outside of `folder`."""

    def check(event: str, args: tuple[object, ...]) -> None:
        if _forbidden(event, args, folder, helper):
            raise PermissionError(errno.EPERM, f"a parser may not do this: {event}")

    return check


def _forbidden(event: str, args: tuple[object, ...], folder: Path, helper: str | None) -> bool:
    if event == "open":
        path, _, flags = args
        return isinstance(flags, int) and flags & _WRITES != 0 and not _inside(path, folder)
    if event in _CHANGES:
        return not all(_inside(p, folder) for p in args[: _CHANGES[event]])
    if event in _SIGNALS:
        return helper is None
    if event in _STARTS:
        return helper is None or args[0] != helper
    return event in _NEVER


def _inside(path: object, folder: Path) -> bool:
    """Tell whether a path lies in the folder; a descriptor was checked when it was opened."""
    if isinstance(path, int):
        return True
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    name = os.fsdecode(path)
    return name == os.devnull or Path(os.path.realpath(name)).is_relative_to(folder)


if __name__ == "__main__":
    main()

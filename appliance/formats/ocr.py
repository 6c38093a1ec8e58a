"""An image of a page to words, through the Tesseract on this machine, if there is one.

It knows the engine's command line and its table of words, and nothing of PDF.  The
engine runs as a process of its own with a time limit; it is given the image on its
standard input and nothing else.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from appliance.formats.pdf_lines import Box, Word

# Tesseract's own advice; at 200 small print is lost, at 400 it is no better and twice as slow.
DOTS_PER_INCH = 300
# Seconds for one page: a full page of small print takes 3 to 10.
MOST_SECONDS = 90.0
# Mean confidence of the words, of 100.  Clean scans have 90 and more, poor faxes 70; a page on its
# side has 20 to 40.
READABLE = 55.0


class OcrFailed(RuntimeError):
    """The engine gave no words; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A grey picture, one byte a dot, row by row."""

    width: int
    height: int
    grey: bytes

    @property
    def pgm(self) -> bytes:
        """Return the picture as a PGM file: the simplest format that every engine reads."""
        return b"P5 %d %d 255\n" % (self.width, self.height) + self.grey


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The words of one image, in points from its top left corner."""

    words: tuple[Word, ...]
    confidence: float  # 0 to 100, over the words


def engine() -> str | None:
    """Return the path of the OCR engine, or None where there is none."""
    return shutil.which("tesseract")


def read_image(image: Image, program: str, dots_per_inch: float) -> Reading:
    """Return the words that the engine sees; raises OcrFailed with a reason."""
    # One block: columns are our own affair.  The engine's layout drops numbers that stand alone
    # (eval/ledger/006-pdf.md).
    table = _run(program, image, ["--psm", "6", "tsv"])
    rows = [r for r in map(_row, table.splitlines()[1:]) if r is not None]
    points = 72.0 / dots_per_inch
    words = tuple(_words(rows, points))
    return Reading(
        words=words,
        confidence=sum(r.confidence for r in rows) / len(rows) if rows else 0.0,
    )


_ROTATE = re.compile(r"^Rotate: (\d+)$", re.MULTILINE)


def quarter_turns(image: Image, program: str) -> int:
    """Return by how many quarter turns (clockwise) the page must be turned to stand upright."""
    try:
        found = _ROTATE.search(_run(program, image, ["--psm", "0"]))
    except OcrFailed:  # "too few characters": nothing to go by
        return 0
    return int(found[1]) // 90 % 4 if found else 0


def _run(program: str, image: Image, arguments: list[str]) -> str:
    # One thread: the engine's four threads are slower together than one, and the box has other work.
    kept = {
        k: v for k, v in os.environ.items() if k in {"PATH", "TESSDATA_PREFIX", "LD_LIBRARY_PATH"}
    }
    command = [program, "stdin", "stdout", "-l", "osd" if "0" in arguments else "eng", *arguments]
    try:
        done = subprocess.run(
            command,
            input=image.pgm,
            capture_output=True,
            timeout=MOST_SECONDS,
            check=False,
            env={**kept, "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired as late:
        raise OcrFailed(f"the OCR engine took more than {MOST_SECONDS:.0f} s for a page") from late
    except OSError as lost:
        raise OcrFailed(f"the OCR engine {program} cannot be started: {lost.strerror}") from lost
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise OcrFailed(f"the OCR engine failed: {said[-1] if said else done.returncode}")
    return done.stdout.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """One word of the engine's table."""

    line: tuple[str, ...]  # block, paragraph and line
    left: int
    top: int
    width: int
    height: int
    confidence: float
    text: str


def _row(line: str) -> _Seen | None:
    cells = line.split("\t")
    if len(cells) != 12 or cells[0] != "5" or not cells[11].strip():
        return None
    left, top, width, height = (int(c) for c in cells[6:10])
    return _Seen(
        line=tuple(cells[2:5]),
        left=left,
        top=top,
        width=width,
        height=height,
        confidence=float(cells[10]),
        text=cells[11].strip(),
    )


def _words(rows: list[_Seen], points: float) -> Iterator[Word]:
    """Yield the words with one base and one size for each line.

    The boxes are as high as their letters happen to be, so that a line's own
    measure is the median of its words', and a page's is taken where it is near.
    """
    by_line: dict[tuple[str, ...], list[_Seen]] = {}
    for row in rows:
        by_line.setdefault(row.line, []).append(row)
    usual = median(r.height for r in rows) if rows else 0.0
    for line in by_line.values():
        base = median(r.top + r.height for r in line)
        height = median(r.height for r in line)
        size = usual if 0.6 < height / usual < 1.5 else height
        for row in line:
            box = Box(
                x0=row.left * points,
                y0=(base - size) * points,
                x1=(row.left + row.width) * points,
                y1=base * points,
            )
            yield Word(text=row.text, box=box, base=base * points, size=1.2 * size * points)

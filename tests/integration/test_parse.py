"""`permitbox parse`, for real: files of every format, bombs, and a city added by hand."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import tempfile
import time
import zipfile
import zlib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from appliance.domain import CityId, Rejected, digest_of
from appliance.formats.parsed import Parsed
from appliance.formats.quarantine import Limits, parse_apart
from appliance.parse import Provenance, Reading, corpus_file, parse
from appliance.wiring import open_house

from .conftest import PERMITBOX, SAMPLES, Database, ingested

MB = 2**20

PAGE = """<!DOCTYPE html><html><head><title>Chapter 7 Bridges</title></head><body><main>
<h1>Chapter 7 Bridges</h1>
<h2>Sec. 7-1. Tolls.</h2>
<p>(a) A troll shall not collect a toll of more than three goats from any person who crosses a bridge
   on foot, unless the council of the town has set another toll by ordinance.</p>
<table><tr><th>Bridge</th><th>Toll</th></tr><tr><td>Stone</td><td>3 goats</td></tr>
<tr><td>Rope</td><td>1 goat</td></tr></table>
<h2>Sec. 7-2. Signs \U0001f309</h2>
<p>Every bridge shall have a sign that states the toll in goats in letters of not less than six inches
   in height, and the sign shall be kept clean and legible at all times.</p>
</main></body></html>"""

WALL = """<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>
<p>Checking your browser before accessing the site. Please enable JavaScript and cookies to continue.
Ray ID: 7d0</p><script src="/cdn-cgi/challenge-platform/h/b/orchestrate/jsch/v1"></script></body></html>"""


def permitbox(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command where no database can be reached: it must not want one."""
    return subprocess.run(
        [*PERMITBOX, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PERMITBOX_HOME": "/nonexistent/permitbox"},
    )


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "bridges.pdf"  # what a careless download is called
    path.write_text(PAGE, "utf-8")
    return path


# ------------------------------------------------------------------ the command


def test_a_file_is_printed_as_a_document_with_sections_that_are_spans(page: Path) -> None:
    found = permitbox("parse", page, "--json")
    assert found.returncode == 0, found.stderr
    document = json.loads(found.stdout)
    assert document["title"] == "Chapter 7 Bridges"
    assert (document["kind"], document["format"]) == ("regulation", "html")
    assert (document["tables"], document["rejected"]) == (1, [])
    by_number = {s["number"]: s for s in document["sections"]}
    assert {"7-1", "7-2"} <= by_number.keys()
    tolls, signs = by_number["7-1"], by_number["7-2"]
    body = document["body"]
    assert "three goats" in body[tolls["start"] : tolls["end"]]
    assert body[signs["start"] : signs["end"]].strip().startswith("Every bridge")
    assert signs["heading"].endswith("\U0001f309")
    assert document["sections"][tolls["parent"]]["heading"] == "Chapter 7 Bridges"
    assert (tolls["level"], tolls["path"]) == (2, ["Chapter 7 Bridges"])


def test_a_wall_is_rejected_with_exit_1_and_the_json_is_still_printed(tmp_path: Path) -> None:
    path = tmp_path / "fees.html"
    path.write_text(WALL, "utf-8")
    found = permitbox("parse", path, "--json")
    assert found.returncode == 1
    document = json.loads(found.stdout)
    assert document["rejected"]
    assert {"title", "kind", "body", "sections", "tables"} <= document.keys()


def test_for_a_person_it_prints_the_outline_and_the_reasons(page: Path, tmp_path: Path) -> None:
    found = permitbox("parse", page)
    assert found.returncode == 0
    assert "Sec. 7-1. Tolls." in found.stdout
    assert "1 tables" in found.stdout
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    found = permitbox("parse", empty)
    assert found.returncode == 1
    assert "the file is empty" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.pdf"], "there is no such file"),
        (["."], "is a folder"),
        (["a.txt", "--to", "a.md"], "--to needs --city"),
        (["a.txt", "--to", "a.txt", "--city", "x-va"], "ends with .md"),
        (["a.txt", "--to", "no/where.md", "--city", "x-va"], "No such file"),
        (["a.txt", "--city", "X Y"], "not a city id"),
        (["a.txt", "--fetched-at", "soon"], "not a time"),
        (["a.txt", "--doc-type", "poem"], "must be one of"),
    ],
)
def test_what_is_asked_wrongly_is_one_sentence_and_exit_2(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(
        "Sec. 1. A troll shall not collect a toll of three goats.\n" * 9, "utf-8"
    )
    found = permitbox("parse", *arguments)
    assert found.returncode == 2, found.stdout
    assert words in found.stderr
    assert found.stderr.count("\n") == 1
    assert not list(tmp_path.rglob(".*.part"))


# ------------------------------------------------------------------ bombs


def zip_bomb() -> bytes:
    """Return a .docx of 300 KB whose main part unpacks to 300 MB of text."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("word/document.xml", "w") as part:
            part.write(b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/')
            part.write(b'2006/main"><w:body><w:p><w:r><w:t>')
            for _ in range(300):
                part.write(b"goat " * (MB // 5))
            part.write(b"</w:t></w:r></w:p></w:body></w:document>")
    return whole.getvalue()


def laughs() -> bytes:
    entities = "".join(
        f"<!ENTITY {chr(c)} '{f'&{chr(c - 1)};' * 10}'>" for c in range(ord("b"), ord("m"))
    )
    head = f"<!DOCTYPE akomaNtoso [<!ENTITY a 'ha'>{entities}]>"
    return f"{head}<akomaNtoso><act><body><p>&l;</p></body></act></akomaNtoso>".encode()


def pdf_bomb() -> bytes:
    """Return a PDF of a few KB whose page holds 400 MB of drawing, packed twice."""
    packer = zlib.compressobj(9)
    once = b"".join(packer.compress(b"0 0 m 9 9 l S\n" * (MB // 14)) for _ in range(400))
    stream = zlib.compress(once + packer.flush(), 9)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
        b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n%s\nendstream"
        % (len(stream), stream),
    ]
    written, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return written + (
        b"xref\n0 5\n0000000000 65535 f \n%strailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
        % (table, len(written))
    )


def wide_table() -> bytes:
    row = b"<tr>" + b"<td colspan=1000 rowspan=65000>x</td>" * 300 + b"</tr>"
    return b"<html><body><table>" + row * 300 + b"</table></body></html>"


BOMBS = {
    "zip": zip_bomb,
    "billion laughs": laughs,
    "pdf": pdf_bomb,
    "deep page": lambda: b"<html><body>" + b"<div>" * 2_000_000 + b"x",
    "wide table": wide_table,
    "deep JSON": lambda: b"[" * 3_000_000,
    "deep RST": lambda: b".. x::\n\n" + b"\n".join(b" " * n + b"- x\n" for n in range(3000)),
    "nested XML": lambda: b"<akomaNtoso>" + b"<part>" * 1_000_000,
}
SMALL = Limits(seconds=8, memory=512 * MB, ocr_seconds=0)


@pytest.mark.parametrize("bomb", BOMBS)
async def test_a_bomb_ends_in_time_and_hurts_no_other_file(bomb: str) -> None:
    raw = BOMBS[bomb]()
    began = time.monotonic()
    bombed, harmless = await asyncio.gather(
        parse_apart(raw, name="bomb", limits=SMALL),
        parse_apart(b"# Tolls\n\nOne goat.\n", name="tolls.md", limits=SMALL),
    )
    assert time.monotonic() - began < SMALL.seconds + 10
    assert isinstance(harmless, Parsed)
    assert harmless.title == "Tolls"
    # Either the limits held, or the parser gave something small in time.
    if isinstance(bombed, Rejected):
        (reason,) = bombed.reasons
        assert reason
    else:
        assert len(bombed.body) < 50 * MB


@pytest.mark.parametrize("bomb", ["zip", "billion laughs"])
async def test_the_classic_bombs_are_rejected_with_the_reason(bomb: str) -> None:
    found = await parse_apart(BOMBS[bomb](), name="bomb", limits=SMALL)
    assert isinstance(found, Rejected)


async def test_a_file_that_is_too_large_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    with path.open("wb") as file:
        file.truncate(1_000_000_000)  # a hole: takes no room on the disk
    began = time.monotonic()
    found = await parse(path)
    assert isinstance(found, Rejected)
    assert "larger than 200 MB" in found.reasons[0]
    assert time.monotonic() - began < 10


SLEEPER = b"Tolls\n=====\n\n" + b"\n\n".join(b"*a* `b` |c| [d]_ e_ " * 500 for _ in range(2000))


async def test_what_takes_too_long_is_ended_with_all_its_processes() -> None:
    began = time.monotonic()
    found = await parse_apart(SLEEPER, name="x.rst", limits=Limits(seconds=2))
    assert found == Rejected(where="x.rst", reasons=("took more than 2 s to read",))
    assert time.monotonic() - began < 6
    assert not children_left()


async def test_a_cancelled_parse_leaves_no_process_and_no_folder() -> None:
    before = folders()
    task = asyncio.create_task(parse_apart(SLEEPER, name="x.rst"))
    while not children_left():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not children_left()
    assert folders() <= before


def folders() -> set[Path]:
    """Return the folders that parsers were given."""
    return set(Path(tempfile.gettempdir()).glob("permitbox-*"))


def children_left() -> list[str]:
    """Return the parsers that still run as children of this test's process."""
    if Path("/proc").is_dir():
        return [p.parent.name for p in Path("/proc").glob("[0-9]*/cmdline") if _is_ours(p)]
    listed = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
    return [args for ppid, args in lines if ppid == str(os.getpid()) and "formats.child" in args]


def _is_ours(command: Path) -> bool:
    try:
        stat = (command.parent / "stat").read_text("utf-8").rpartition(")")[2].split()
        return stat[1] == str(os.getpid()) and b"formats.child" in command.read_bytes()
    except OSError:  # ended meanwhile
        return False


# ------------------------------------------------------------------ a city by hand


def test_the_corpus_file_says_what_is_known_and_nothing_else(page: Path, tmp_path: Path) -> None:
    found = permitbox(
        *("parse", page, "--to", tmp_path, "--city", "troll-bridge-xx"),
        *("--url", "https://trolls.example/7", "--fetched-at", "2026-03-02T10:00:00+01:00"),
    )
    assert found.returncode == 0, found.stderr
    text = (tmp_path / "chapter-7-bridges.md").read_text("utf-8")
    _, front, body = text.split("---\n", 2)
    assert yaml.safe_load(front) == {
        "source_url": "https://trolls.example/7",
        "city": "troll-bridge-xx",
        "doc_type": "code",
        "title": "Chapter 7 Bridges",
        "fetched_at": datetime(2026, 3, 2, 9, tzinfo=UTC),
        "content_sha256": digest_of(body),
    }


def test_nothing_is_written_of_a_file_that_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "fees.html"
    path.write_text(WALL, "utf-8")
    found = permitbox("parse", path, "--to", tmp_path / "fees.md", "--city", "troll-bridge-xx")
    assert found.returncode == 1
    assert not (tmp_path / "fees.md").exists()


async def test_a_city_is_added_by_hand(page: Path, empty: Database, tmp_path: Path) -> None:
    """A downloaded file -> parse -> corpus file -> ingest: its sections are stored as they stand."""
    reading = await parse(page)
    assert isinstance(reading, Reading)
    assert not reading.reasons
    known = Provenance(city=CityId("troll-bridge-xx"), fetched_at=datetime(2026, 3, 2, tzinfo=UTC))
    target = tmp_path / "bridges.md"
    target.write_bytes(corpus_file(reading, known).encode())
    async with open_house(empty.settings) as house:
        summary = await ingested(house, target)
    assert (summary.documents, summary.rejected, summary.unreadable) == (1, [], [])
    body, fetched = empty.rows("select body, fetched_at from document")[0]
    assert (body, fetched.date()) == (reading.parsed.body, date(2026, 3, 2))
    stored = empty.rows(
        "select number, heading, span_start, span_end from section order by span_start"
    )
    assert [row[1] for row in stored] == [s.heading for s in reading.sections]
    for (number, _, start, end), section in zip(stored, reading.sections, strict=True):
        assert (number, start, end) == (section.number, section.span.start, section.span.end)


async def test_a_file_that_is_no_corpus_file_is_refused_with_the_way(
    page: Path, empty: Database
) -> None:
    async with open_house(empty.settings) as house:
        summary = await ingested(house, page)
    (error,) = summary.unreadable
    assert "run `permitbox parse FILE --to FILE.md --city ID` first" in str(error)


async def test_a_sample_citys_file_reads_as_itself() -> None:
    path = next(p for p in sorted(SAMPLES.rglob("*.md")) if p.read_bytes().startswith(b"---"))
    reading: Any = await parse(path)
    assert isinstance(reading, Reading)
    assert reading.parsed.body == path.read_text("utf-8").split("---\n", 2)[2].lstrip("\n")

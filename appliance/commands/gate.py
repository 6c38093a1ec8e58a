"""`permitbox gate`: may these files enter the corpus?  Needs no database.

A web page is judged by its markup before any parser sees it, then by its text; other files
are parsed in quarantine first.  Each file is also compared with those before it on the
command line.  A corpus file of many records has one verdict: it is rejected if no record of
it, or too few, would be let in.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from appliance.commands.options import Json, err, out, print_json
from appliance.corpus.fingerprints import Seen
from appliance.corpus.frontmatter import (
    FieldError,
    optional_date,
    optional_moment,
    optional_text,
    split_front_matter,
)
from appliance.corpus.gate import Candidate, judge_markup, judge_next
from appliance.corpus.objection import Objection
from appliance.corpus.places import place_name
from appliance.corpus.records import read_records
from appliance.domain import Rejected, digest_of
from appliance.errors import UnreadableFile
from appliance.formats.charset import decode
from appliance.formats.quarantine import parse_apart
from appliance.ingest import read_bytes

_WEB = (".html", ".htm", ".xhtml")
_TEXT = (".md", ".txt", ".md.zst")
_RECORDS = (".jsonl", ".jsonl.zst")
_OTHER = (".json", ".xml", ".pdf", ".docx", ".doc", ".rst")
_KNOWN = (*_WEB, *_TEXT, *_RECORDS, *_OTHER)
# Of the 44 corpus files that were at hand the one with most rejected records lost 4 of 1,862.
_TOO_MANY = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the gate says of one file."""

    file: str
    reasons: tuple[str, ...]
    records: int | None = None  # of a corpus file
    rejected_records: int | None = None

    @property
    def verdict(self) -> str:
        """Return the word that the interface prints."""
        return "rejected" if self.reasons else "accepted"


def gate_command(
    files: Annotated[list[Path], typer.Argument(help="Pages, documents or corpus files.")],
    city: Annotated[
        str | None, typer.Option("--city", help="Whose law it should be, by name or id.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say of each file whether the gate lets it in, and why not.  Needs no database."""
    rejected = unread = 0
    seen = Seen()
    for path in files:
        try:
            ruling, seen = _rule(path, city, seen)
        except UnreadableFile as error:
            err.print(f"not read: {error}", style="red", markup=False)
            unread += 1
            continue
        rejected += bool(ruling.reasons)
        _print(ruling, as_json)
    if rejected or unread:
        raise typer.Exit(1)


def _print(ruling: Ruling, as_json: bool) -> None:
    if as_json:
        facts: dict[str, object] = {
            "file": ruling.file,
            "verdict": ruling.verdict,
            "reasons": list(ruling.reasons),
        }
        if ruling.records is not None:
            facts |= {"records": ruling.records, "rejected_records": ruling.rejected_records}
        print_json(facts)
        return
    out.print(f"{ruling.verdict}  {ruling.file}", markup=False)
    for reason in ruling.reasons:
        out.print(f"    {reason}", markup=False)


# ------------------------------------------------------------------ one file


def _rule(path: Path, city: str | None, seen: Seen) -> tuple[Ruling, Seen]:
    """Judge one file; return the ruling, and what was seen with it.  Raises UnreadableFile."""
    name = path.name.lower()
    if not name.endswith(_KNOWN):
        raise UnreadableFile(str(path), f"is of no known kind ({', '.join(_KNOWN)})")
    if path.is_dir():
        raise UnreadableFile(str(path), "is a folder; name the files in it")
    raw = read_bytes(path)
    if name.endswith(_RECORDS) or (name.endswith(".json") and _is_record(raw)):
        return _rule_records(path, decode(raw).text), seen
    candidate = _candidate(path, raw, city)
    if not isinstance(candidate, Candidate):
        return Ruling(file=str(path), reasons=candidate), seen
    reasons, seen = judge_next(candidate, seen, today=date.today())
    return Ruling(file=str(path), reasons=reasons), seen


def _candidate(path: Path, raw: bytes, city: str | None) -> Candidate | tuple[str, ...]:
    """Return what the file holds, or why nothing can be said to be in it."""
    if not raw.strip():
        return (Objection.EMPTY.because("the file is empty"),)
    name = path.name.lower()
    text = decode(raw).text if name.endswith((*_WEB, *_TEXT)) else ""
    is_page = name.endswith(_WEB) or _looks_like_page(text)
    if is_page and (reasons := judge_markup(text)):
        return reasons
    if text and not is_page:
        return _written(path, text, city)
    parsed = asyncio.run(parse_apart(raw, name="page.html" if is_page else path.name))
    if isinstance(parsed, Rejected):
        return tuple(Objection.UNPARSABLE.because(reason) for reason in parsed.reasons)
    return Candidate(
        body=parsed.body,
        title=parsed.title,
        markup=text if is_page else None,
        link_share=parsed.link_share,
        city=place_name(city) if city else None,
        url=parsed.url,
        name=str(path),
    )


def _looks_like_page(text: str) -> bool:
    return (
        text.lstrip("\ufeff \t\r\n")[:15]
        .casefold()
        .startswith(("<!doctype html", "<html", "<head"))
    )


def _written(path: Path, text: str, city: str | None) -> Candidate | tuple[str, ...]:
    """Return the document of a Markdown or text file; its front matter may say whose it is."""
    try:
        fields, body = split_front_matter(text) if text.startswith("---\n") else ({}, text)
        declared = optional_text(fields, "content_sha256")
        if declared and declared.strip().lower() != digest_of(body):
            return (Objection.CHANGED.because("content_sha256 is not the digest of the body"),)
        expected = city or optional_text(fields, "city_name") or optional_text(fields, "city")
        return Candidate(
            body=body,
            title=optional_text(fields, "title") or _first_heading(body),
            city=place_name(expected) if expected else None,
            url=optional_text(fields, "source_url"),
            fetched_at=optional_moment(fields, "fetched_at"),
            effective_from=optional_date(fields, "effective_from"),
            name=str(path),
        )
    except FieldError as error:
        return (Objection.UNPARSABLE.because(str(error)),)


def _first_heading(body: str) -> str:
    line = body.lstrip().split("\n", 1)[0]
    return line.lstrip("#").strip() if line.startswith("#") else ""


# ------------------------------------------------------------------ corpus files


def _is_record(raw: bytes) -> bool:
    """Tell whether a JSON file holds one corpus record, and not a publisher's answer."""
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and bool({"jurisdiction", "city", "LocalLaw"} & fields.keys())


def _rule_records(path: Path, text: str) -> Ruling:
    if path.name.lower().endswith(".json"):
        text = json.dumps(json.loads(text))  # one record on several lines
    results = list(read_records(text, name=path.name))
    rejected = [r for r in results if isinstance(r, Rejected)]
    reasons: tuple[str, ...] = ()
    if not results:
        reasons = (Objection.EMPTY.because("the file holds no record"),)
    elif len(rejected) > _TOO_MANY * len(results):
        reasons = tuple(_summed_up(rejected, len(results)))
    return Ruling(
        file=str(path), reasons=reasons, records=len(results), rejected_records=len(rejected)
    )


def _summed_up(rejected: list[Rejected], of: int) -> Iterator[str]:
    """Yield each reason with how many records have it, the commonest first."""
    counts = Counter(reason for r in rejected for reason in r.reasons)
    for reason, count in counts.most_common(5):
        yield f"{reason} ({count:,} of {of:,} records)"

"""A file as a city published it -> the document in it with its sections, or Rejected with reasons.

The flow: quarantine parses the bytes, the gate judges, the heading tree gives the sections.  What
passes can be written as a corpus file, which `permitbox ingest` reads; nothing here knows a store.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import anyio.to_thread
import yaml

from appliance.corpus.gate import Candidate, judge, judge_markup
from appliance.corpus.kinds import kind_of
from appliance.corpus.objection import Objection
from appliance.corpus.places import place_name
from appliance.corpus.sections import parse_markdown
from appliance.corpus.tables import find_tables
from appliance.domain import CityId, Rejected, Section, digest_of
from appliance.errors import BadRequest
from appliance.formats.charset import decode
from appliance.formats.parsed import Parsed
from appliance.formats.quarantine import Limits, parse_apart
from appliance.formats.sniff import is_page

# What comes in these is law, whatever its title says.
_LAW_FORMATS = frozenset({"akn", "law-xml", "publisher-json"})
# The section ids made on the way are not shown; the corpus file's reader makes them anew.
_NO_CITY = CityId("city")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What the person at hand knows of a file that it does not say itself."""

    city: CityId | None = None
    url: str | None = None
    fetched_at: datetime | None = None  # None: not known; nothing is guessed
    doc_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read in a file, and what the gate says to it."""

    parsed: Parsed
    title: str  # the file's own, else its first heading, else its name
    kind: str
    sections: tuple[Section, ...]
    tables: int
    reasons: tuple[str, ...]  # why the gate turns it away; empty: it passes


async def parse(
    path: Path, known: Provenance | None = None, *, limits: Limits | None = None
) -> Reading | Rejected:
    """Read the document in a file.  Raises BadRequest if there is no file to read."""
    known = known or Provenance()
    limits = limits or Limits()
    raw = await anyio.to_thread.run_sync(_bytes_of, path, limits.largest)
    markup = decode(raw).text if is_page(raw) else None
    parsed = await parse_apart(raw, name=path.name, url=known.url, limits=limits)
    if isinstance(parsed, Rejected):
        # Of a page without text the gate can say what it is, too.
        walls = judge_markup(markup) if markup is not None else ()
        because = tuple(Objection.UNPARSABLE.because(reason) for reason in parsed.reasons)
        return Rejected(where=str(path), reasons=(*walls, *because))
    return await anyio.to_thread.run_sync(reading_of, parsed, path.stem, known, markup)


def _bytes_of(path: Path, largest: int) -> bytes:
    """Return the file's bytes; of one that is too large, enough to see that."""
    try:
        if path.is_dir():
            raise BadRequest(f"{path} is a folder; `permitbox parse` reads one file.")
        with path.open("rb") as file:
            return file.read(largest + 1)
    except FileNotFoundError:
        raise BadRequest(f"{path}: there is no such file.") from None
    except (OSError, ValueError) as error:  # closed to us; a name with NUL
        raise BadRequest(f"{path}: {getattr(error, 'strerror', None) or error}.") from None


def reading_of(parsed: Parsed, name: str, known: Provenance, markup: str | None) -> Reading:
    """Return sections, kind, tables and the gate's word for a parsed document."""
    sections = parse_markdown(
        parsed.body, city=_NO_CITY, document_id=name, title=parsed.title or name
    )
    title = parsed.title or next((s.heading for s in sections), name)
    candidate = Candidate(
        body=parsed.body,
        title=title,
        markup=markup,
        city=None if known.city is None else place_name(known.city),
        url=known.url or parsed.url,
        fetched_at=known.fetched_at,
        effective_from=parsed.effective_from,
        link_share=parsed.link_share,
    )
    return Reading(
        parsed=parsed,
        title=title,
        kind=_kind(title, parsed),
        sections=sections,
        tables=len(find_tables(parsed.body)),
        reasons=judge(candidate, today=date.today()),
    )


def _kind(title: str, parsed: Parsed) -> str:
    kind = kind_of(title, parsed.body)
    return "regulation" if kind == "page" and parsed.format in _LAW_FORMATS else kind


# ------------------------------------------------------------------ as JSON


def reading_json(outcome: Reading | Rejected) -> dict[str, object]:
    """Return what was read, or why nothing was, as `permitbox parse --json` prints it."""
    if isinstance(outcome, Rejected):
        nothing = {"title": "", "kind": "page", "body": "", "sections": [], "tables": 0}
        return {**nothing, "rejected": list(outcome.reasons)}
    parsed = outcome.parsed
    return {
        "title": outcome.title,
        "kind": outcome.kind,
        "body": parsed.body,
        "sections": [_section_json(s) for s in outcome.sections],
        "tables": outcome.tables,
        "rejected": list(outcome.reasons),
        "format": parsed.format,
        "url": parsed.url,
        "effective_from": parsed.effective_from and parsed.effective_from.isoformat(),
        "effective_until": parsed.effective_until and parsed.effective_until.isoformat(),
        "pages": [{"start": p.start, "end": p.end} for p in parsed.pages],
        "notes": list(parsed.notes),
    }


def _section_json(section: Section) -> dict[str, object]:
    return {
        "number": section.number,
        "heading": section.heading,
        "level": len(section.path) + 1,
        "path": list(section.path),
        "start": section.span.start,
        "end": section.span.end,
        "parent": section.parent,
    }


# ------------------------------------------------------------------ as a corpus file


def corpus_file(reading: Reading, known: Provenance) -> str:
    """Return an accepted document in the corpus form: front matter, then the body as it is."""
    parsed = reading.parsed
    fields = {
        "source_url": known.url or parsed.url,
        "city": known.city,
        "doc_type": known.doc_type or _doc_type(reading),
        "title": reading.title,
        "fetched_at": known.fetched_at,
        "content_sha256": digest_of(parsed.body),
        "effective_from": parsed.effective_from,
        "effective_until": parsed.effective_until,
    }
    written = yaml.safe_dump(
        {name: value for name, value in fields.items() if value is not None},
        allow_unicode=True,
        sort_keys=False,
        width=1000,
    )
    return f"---\n{written}---\n{parsed.body}"


def _doc_type(reading: Reading) -> str:
    """Return what the corpus form calls the document: law text is `code`, whatever it is about."""
    law = reading.kind == "regulation" or reading.parsed.format in _LAW_FORMATS
    return "code" if law else reading.kind


def file_name_of(reading: Reading) -> str:
    """Return a name for the document's corpus file, by its title."""
    words = re.sub(r"[^a-z0-9]+", "-", reading.title.casefold()).strip("-")
    return f"{words[:80] or 'document'}.md"

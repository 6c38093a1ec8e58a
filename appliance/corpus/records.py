"""Corpus files to documents and sections: Markdown with front matter, and JSON records.

Pure: the caller reads the bytes.  Every record comes out as Accepted or Rejected,
in the file's order; nothing is dropped in silence and no body is ever edited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from appliance.corpus.amendments import NOT_STATED, amendments_of, takes_effect
from appliance.corpus.frontmatter import (
    FieldError,
    Fields,
    optional_date,
    optional_moment,
    optional_text,
    required_text,
    split_front_matter,
    text_list,
)
from appliance.corpus.gate import objections
from appliance.corpus.hidden import with_hidden
from appliance.corpus.kinds import KINDS as PAGE_KINDS
from appliance.corpus.references import parse_citation
from appliance.corpus.sections import number_in_heading, parse_markdown
from appliance.corpus.standing import standing_of
from appliance.corpus.supersession import supersession_of
from appliance.domain import (
    Accepted,
    Amendment,
    City,
    CityId,
    Document,
    Rejected,
    Section,
    Source,
    Span,
    Standing,
    digest_of,
    parse_city_id,
)

KINDS = ("code", "ordinance", *PAGE_KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One accepted record together with what it says about its city."""

    city: City
    accepted: Accepted
    place: int = 0  # in its corpus file


def read_records(text: str, *, name: str, city: CityId | None = None) -> Iterator[Read | Rejected]:
    """Yield each record of a JSON-lines file.  `city` overrides the records' own."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            yield _record(_json_fields(line), city, where)
        except FieldError as error:
            yield Rejected(where=where, reasons=(str(error),))


def _json_fields(line: str) -> Fields:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise FieldError(f"not valid JSON: {error.msg}") from None
    except (ValueError, RecursionError):  # a number of 5,000 digits, 5,000 brackets
        raise FieldError("not a JSON record of law text") from None
    if not isinstance(fields, dict):
        raise FieldError("the line is not a JSON object")
    return fields


def read_markdown(text: str, *, name: str, city: CityId | None = None) -> Read | Rejected:
    """Return the one document of a Markdown file with front matter."""
    try:
        fields, body = split_front_matter(text)
        return _whole_document(fields, body, city, where=name, stem=_stem(name))
    except FieldError as error:
        return Rejected(where=name, reasons=(str(error),))


def _whole_document(
    fields: Fields, body: str, city: CityId | None, *, where: str, stem: str | None = None
) -> Read | Rejected:
    """Read a document with a heading tree; without an id of its own it is named by `stem` or title."""
    place = _city(fields, city, key="city")
    title = required_text(fields, "title")
    _check_digest(fields, body)
    if reasons := objections(body):
        return Rejected(where=where, reasons=reasons)
    document = Document(
        city=place.id,
        external_id=optional_text(fields, "id") or f"{place.id}:{stem or _slug(title)}",
        kind=_kind(fields),
        title=title,
        source=_source(fields, url="source_url", moment="fetched_at"),
        body=body,
        effective_from=optional_date(fields, "effective_from"),
        effective_until=optional_date(fields, "effective_until"),
        superseded_by=optional_text(fields, "superseded_by"),
    )
    sections = parse_markdown(body, city=place.id, document_id=document.external_id, title=title)
    return _accepted(place, document, sections, fields, stated="effective_from")


def _check_digest(fields: Fields, body: str) -> None:
    declared = optional_text(fields, "content_sha256")
    if declared and declared.strip().lower() != digest_of(body):
        raise FieldError("content_sha256 is not the digest of the body: the file was changed")


def _stem(name: str) -> str:
    return name.rsplit("/", 1)[-1].removesuffix(".md")


def _city(fields: Fields, override: CityId | None, *, key: str) -> City:
    if override is None:
        written = required_text(fields, key)
        try:
            id_ = parse_city_id(written)
        except ValueError as error:
            raise FieldError(f"field '{key}': {error}") from None
    else:
        id_ = override
    name = optional_text(fields, f"{key}_name") or _city_name(id_)
    return City(id=id_, name=name, office=optional_text(fields, "office"))


def _city_name(id_: CityId) -> str:
    """Return "San Mateo, CA" for "san-mateo-ca"."""
    *words, state = id_.split("-")
    if not words or len(state) != 2:
        return id_.replace("-", " ").title()
    return f"{' '.join(words).title()}, {state.upper()}"


def _kind(fields: Fields) -> str:
    kind = optional_text(fields, "doc_type") or "code"
    if kind not in KINDS:
        raise FieldError(f"field 'doc_type' must be one of {', '.join(KINDS)}, not {kind!r}")
    return kind


def _source(fields: Fields, *, url: str, moment: str) -> Source:
    return Source(
        url=optional_text(fields, url),
        fetched_at=optional_moment(fields, moment),
        publisher=optional_text(fields, "publisher"),
    )


# ------------------------------------------------------------------ JSON records


def _record(fields: Fields, city: CityId | None, where: str) -> Read | Rejected:
    """Read one JSON record: a section of a code, a whole document, or an enacted law."""
    if "LocalLaw" in fields:
        fields = _law_fields(fields)
    elif "body" in fields:
        body = fields["body"]
        if not isinstance(body, str):
            raise FieldError("field 'body' must be text")
        return _whole_document(fields, body, city, where=where)
    return _section_record(fields, city, where)


def _section_record(fields: Fields, city: CityId | None, where: str) -> Read | Rejected:
    place = _city(fields, city, key="jurisdiction")
    body = fields.get("text")
    if not isinstance(body, str):
        raise FieldError("field 'text' is missing or not text")
    external_id = required_text(fields, "id")
    citation = required_text(fields, "citation")
    heading = optional_text(fields, "heading") or citation
    standing = standing_of(heading, body, optional_text(fields, "status"))
    _check_digest(fields, body)
    if reasons := objections(body, stub_allowed=True, dead=standing is not Standing.IN_FORCE):
        return Rejected(where=f"{where} ({external_id[:80]})", reasons=reasons)
    path = text_list(fields, "path")
    document = Document(
        city=place.id,
        external_id=external_id,
        kind=_kind(fields),
        title=heading,
        source=_source(fields, url="url", moment="retrieved_at"),
        body=body,
        effective_from=optional_date(fields, "effective_date")
        or optional_date(fields, "applies_from"),
        effective_until=optional_date(fields, "effective_until"),
        superseded_by=optional_text(fields, "superseded_by"),
    )
    section = Section(
        external_id=external_id,
        citation=citation,
        number=_number(citation, heading),
        heading=heading,
        path=path,
        span=Span(start=0, end=len(body)),
        standing=standing,
    )
    document = _ended(document, citation)
    sections = with_hidden(body, section)
    return _accepted(place, document, sections, fields, stated="effective_date")


def _ended(document: Document, citation: str) -> Document:
    """Return the document with the end that is known of it though its own record does not say so."""
    known = supersession_of(document.city, citation)
    if known is None:
        return document
    until = min(known.until, document.effective_until or known.until)
    return replace(document, effective_until=until, superseded_by=known.by)


def _accepted(
    place: City, document: Document, sections: tuple[Section, ...], fields: Fields, *, stated: str
) -> Read:
    """Return what was read; an ordinance with what it does to the code."""
    amendments: tuple[Amendment, ...] = ()
    if document.kind == "ordinance":
        enacted, since = optional_date(fields, "enacted"), optional_date(fields, stated)
        found = amendments_of(document.body, enacted=enacted)
        amendments = tuple(_dated_by_record(a, since) for a in found)
    accepted = Accepted(document=document, sections=sections, amendments=amendments)
    return Read(city=place, accepted=accepted)


def _dated_by_record(amendment: Amendment, since: date | None) -> Amendment:
    """Return the amendment with the day that the record states, where the law's text states none."""
    if amendment.undated != NOT_STATED or since is None:
        return amendment
    return replace(amendment, effective=since, undated=None)


def _number(citation: str, heading: str) -> str | None:
    cited = parse_citation(citation)
    if cited.number:
        return cited.number if cited.kind == "section" else f"{cited.kind} {cited.number}"
    return number_in_heading(heading)[0]


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")[:80]


def _law_fields(fields: Fields) -> Fields:
    """Return an enacted law of a Legistar mirror in the form of a section record.

    It applies from the first day that its own clauses set; where they leave the day to another event,
    from the day on which it became law, before which it cannot have applied.
    """
    law = required_text(fields, "LocalLaw")
    year, _, number = law.partition("/")
    enacted = optional_date(fields, "EnactmentDate") or optional_date(fields, "PassedDate")
    text = fields.get("Text")
    since = takes_effect(text, enacted=enacted) if isinstance(text, str) else None
    return {
        "jurisdiction": fields.get("jurisdiction") or "new-york-ny",
        "id": str(required_text(fields, "ID")),
        "citation": f"Local Law {number.lstrip('0')} of {year}",
        "heading": optional_text(fields, "Name") or required_text(fields, "Title"),
        "path": ["Local Laws", year],
        "text": text,
        "doc_type": "ordinance",
        "enacted": enacted,
        "applies_from": since or enacted,
    }

"""Akoma Ntoso, the XML of legislatures (OASIS LegalDocML), to Markdown.

Knows versions 2 and 3 by the names of their elements, in any namespace.  Does not know amendments
that are still to be applied: a file is one version of a law, and its dates are those it states.
"""

from __future__ import annotations

import re
from datetime import date

from appliance.formats.law_tree import Schema, blocks_of, line_of, part
from appliance.formats.outline import Block, heading, markdown
from appliance.formats.parsed import Parsed, Unparsable
from appliance.formats.strict_xml import Element, name_of, names, read_xml

# The upper half of the standard's hierarchy; its lower half is numbered text.
_CONTAINERS = names("book tome part subpart title subtitle chapter subchapter division subdivision")
_UNITS = frozenset({"section", "article", "rule"})
_NUMBERED = names("""subsection subrule paragraph subparagraph clause subclause alinea point indent item list
    level proviso transitional""")
_INLINE = names("""a abbr affectedDocument authorialNote b br change concept courtType date def del docAuthority
    docCommittee docDate docIntroducer docJurisdiction docketNumber docNumber docProponent docPurpose
    docStage docStatus docTitle docType embeddedText entity eol event extractText fillIn formula i img
    inline ins judge lawyer legislature location mod mref neutralCitation noteRef num object omissis
    opinion organization party person placeholder process quantity quotedText ref relatedDocument
    remark rmod role rref session shortTitle signature span sub sup term time tocItem u vote""")
# How the standard and its users name the day on which a text begins or ceases to be law.
_BEGINS = frozenset({"commencement", "entryintoforce", "inforce", "effective"})
_ENDS = frozenset({"repeal", "expiry", "endinforce"})
_ROOTS = ("act", "bill", "doc", "statement", "documentCollection", "amendmentList", "judgment")


def parse_akn(raw: bytes) -> Parsed:
    """Return an Akoma Ntoso document as Markdown.  Raises Unparsable."""
    root = read_xml(raw)
    document = next((e for e in root if name_of(e) in _ROOTS), None)
    if document is None:
        raise Unparsable("the Akoma Ntoso file holds no act, bill or document")
    title = _title(document)
    blocks = [heading(1, title)] if title else []
    # Schedules are components within the act in version 3, beside it in version 2.
    for child in (*document, *root.iterfind("{*}components")):
        blocks += _part_of_document(child)
    begins, ends = _dates(document)
    return Parsed(
        format="akn",
        title=title,
        body=markdown(blocks),
        notes=_notes(document, begins),
        effective_from=begins,
        effective_until=ends,
    )


def _part_of_document(child: Element) -> list[Block]:
    if name_of(child) != "components":
        return blocks_of(child, _SCHEMA, level=2)
    blocks: list[Block] = []
    for component in child.iter("{*}doc"):
        title = _title(component)
        blocks += [heading(2, title)] if title else []
        for inner in component:
            if name_of(inner) != "components":
                blocks += blocks_of(inner, _SCHEMA, level=3 if title else 2)
    return blocks


def _heading(element: Element) -> str:
    """Return "Chapter 1. General", "Section 3. Fencing": a bare number is no number of a section yet."""
    number, text = part(element, "num").rstrip(". "), part(element, "heading")
    name = name_of(element)
    if number and not re.match(r"[^\W\d]{3,}", number):
        number = f"{name.capitalize()} {number}"
    return ". ".join(filter(None, (number, text)))


_SCHEMA = Schema(
    headed=_CONTAINERS | _UNITS,
    numbered=_NUMBERED,
    inline=_INLINE,
    skipped=frozenset({"meta"}),
    title=_heading,
)


# ------------------------------------------------------------------ what the file says of itself


def _title(document: Element) -> str:
    """Return the name by which the law is known, else its long title."""
    for alias in document.iterfind("{*}meta/{*}identification/{*}FRBRWork/{*}FRBRalias"):
        if text := " ".join((alias.get("value") or "").split()):
            return text
    for name in ("shortTitle", "docTitle", "longTitle"):
        for element in document.iter(f"{{*}}{name}"):
            if text := " ".join(line_of(element).split()):
                return text
    return ""


def _dates(document: Element) -> tuple[date | None, date | None]:
    """Return when the text became law and when it ceased to be, each None if not stated."""
    begins, ends = [], []
    for event in document.iterfind("{*}meta/{*}lifecycle/{*}eventRef"):
        day = _day(event.get("date"))
        kind = re.sub(r"[^a-z]", "", (event.get("type") or "").casefold())
        if day and kind in _BEGINS:
            begins.append(day)
        elif day and kind in _ENDS:
            ends.append(day)
    return min(begins, default=None), max(ends, default=None)


def _day(written: str | None) -> date | None:
    try:
        day = date.fromisoformat((written or "")[:10])
    except ValueError:
        return None
    return day if day.year > 1 else None


def _notes(document: Element, begins: date | None) -> tuple[str, ...]:
    notes = []
    published = document.find("{*}meta/{*}publication")
    if published is not None and (day := _day(published.get("date"))):
        where = published.get("showAs") or published.get("name") or "the gazette"
        notes.append(f"Published on {day} in {where}.")
    if begins is None:
        notes.append("The file does not say when the text takes effect.")
    if next(document.iter("{*}remark"), None) is not None:
        notes.append("An editor left a remark in the text, in square brackets.")
    return tuple(notes)

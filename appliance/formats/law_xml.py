"""The D.C. Council's law XML, and United States Legislative Markup, to Markdown.

Knows both schemas' names for containers, sections and paragraphs.  A container file that only
includes its sections from other files gives their headings alone, and says so: nothing is fetched.
"""

from __future__ import annotations

from datetime import date

from appliance.formats.law_tree import Schema, blocks_of, line_of, part
from appliance.formats.outline import Block, heading, markdown, paragraph
from appliance.formats.parsed import Parsed
from appliance.formats.strict_xml import Element, name_of, names, namespace_of, read_xml

DC_LIBRARY = "https://code.dccouncil.us/schemas/dc-library"
USLM = ("http://xml.house.gov/schemas/uslm/1.0", "http://schemas.gpo.gov/xml/uslm")

_HISTORY = "History and notes"

_CONTAINERS = names("""title subtitle chapter subchapter part subpart division subdivision article appendix
    preliminary""")
_LEVELS = names(
    """subsection paragraph subparagraph clause subclause item subitem subsubitem level"""
)
_INLINE = names("""a abbr b br center cite date def em entity footnote i img ins del inline num person
    quotedText ref short-title shortTitle span strong sub sup term u""")


def parse_law_xml(raw: bytes) -> Parsed:
    """Return a law in the D.C. Council's or the federal schema as Markdown.  Raises Unparsable."""
    root = read_xml(raw)
    if namespace_of(root) == DC_LIBRARY:
        return _dc(root)
    return _uslm(root)


# ------------------------------------------------------------------ D.C. Council


def _dc(root: Element) -> Parsed:
    title = _dc_heading(root)
    blocks = blocks_of(root, _DC, level=1)
    for section in root.iter(f"{{{DC_LIBRARY}}}annotations"):
        blocks += _annotations(section, level=2)
    elsewhere = sum(1 for _ in root.iter("{http://www.w3.org/2001/XInclude}include"))
    begins = _newest_history(root)
    notes = []
    if elsewhere:
        notes.append(f"The text of {elsewhere:,} sections lies in other files.")
    if begins:
        notes.append("The effective date is that of the newest history note.")
    else:
        notes.append("The file does not say when the text takes effect.")
    return Parsed(
        format="law-xml",
        title=title,
        body=markdown(blocks),
        notes=tuple(notes),
        effective_from=begins,
    )


def _dc_heading(element: Element) -> str:
    """Return "§ 6-1405.01. Permits." of a section, "Chapter 14. Construction Codes." of a container."""
    number, text = part(element, "num").rstrip("."), part(element, "heading")
    if number and name_of(element) == "section":
        number = f"§ {number}"
    elif number:
        number = " ".join(filter(None, (part(element, "prefix"), number)))
    title = ". ".join(filter(None, (number, text)))
    reason = part(element, "reason")  # why it is law no longer: "Repealed"
    return title if not reason or reason in text else f"{title} [{reason}]"


_DC = Schema(
    headed=frozenset({"container", "section"}),
    numbered=frozenset({"para"}),
    inline=_INLINE,
    skipped=names("""prefix reason annotation annotations meta include-history find-replace insert repeal
        temporary find replace"""),
    title=_dc_heading,
)


def _annotations(element: Element, *, level: int) -> list[Block]:
    """Return the publisher's notes under a heading of their own, apart from the law."""
    lines = []
    for note in element:
        text = line_of(note)
        kind = note.get("type") or ""
        if text:
            lines.append(paragraph(f"{kind}: {text}" if kind else text))
    return [heading(level, _HISTORY), *lines] if lines else []


def _newest_history(root: Element) -> date | None:
    """Return the latest day on which a law that made the text took effect."""
    days = [
        date.fromisoformat(eff)
        for note in root.iter(f"{{{DC_LIBRARY}}}annotation")
        if note.get("type") == "History" and _is_day(eff := note.get("eff") or "")
    ]
    return max(days, default=None)


def _is_day(written: str) -> bool:
    try:
        return date.fromisoformat(written).year > 1
    except ValueError:
        return False


# ------------------------------------------------------------------ USLM


def _uslm(root: Element) -> Parsed:
    title = _uslm_title(root)
    blocks = blocks_of(root, _USLM, level=1)
    if not any(b.level == 1 and b.text == title for b in blocks) and title:
        blocks = [heading(1, title), *blocks_of(root, _USLM, level=2)]
    return Parsed(
        format="law-xml",
        title=title,
        body=markdown(blocks),
        notes=("The file does not say when the text takes effect.",),
    )


def _uslm_title(root: Element) -> str:
    for wanted in ("{http://purl.org/dc/elements/1.1/}title", "{*}shortTitle", "{*}docTitle"):
        for element in root.iter(wanted):
            if text := " ".join(line_of(element).split()):
                return text
    first = next((e for e in root.iter() if name_of(e) in _CONTAINERS | {"section"}), None)
    return "" if first is None else _uslm_heading(first)


def _uslm_heading(element: Element) -> str:
    """Return "§ 101. Definitions": in this schema the number brings its word along."""
    number, text = part(element, "num").rstrip(".—- "), part(element, "heading")
    return ". ".join(filter(None, (number, text)))


_USLM = Schema(
    headed=_CONTAINERS | {"section"},
    numbered=_LEVELS,
    inline=_INLINE,
    skipped=frozenset({"meta", "toc", "sourceCredit", "notes", "note"}),
    title=_uslm_heading,
)

"""Sections of real codes with a weak label: the heading names the kind, the learner sees the body only.

Nobody labelled these pages.  A heading "Definitions" or "Fees" is the publisher's own word for the
section, and it is kept from the learner.  One correction: of the sections headed "Fees", those without
a single amount only empower someone to set fees, and count as regulations.  Guides, forms, minutes and
plain pages do not occur in codes, so this task knows three kinds of the seven.

Read by hand to see how far such labels can be trusted: of 114 sections headed "Fees" with an amount,
101 set fees and 13 mention some; 25 of 25 headed "Definitions" were that; of 30 regulations, 30.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import zstandard

from appliance.corpus.standing import standing_of
from appliance.domain import Standing

Label = Literal["definition", "fee_schedule", "regulation"]

# The number that a code puts before its heading.
_NUMBER = re.compile(
    r"^\W*(?:sec(?:tion|\.)?|chapter|article|part)?\W*[\d.:§a-z-]*\d[\d.:§-]*[a-z]?\W+"
)
_DEFINITION = re.compile(
    r"(?:general |certain |additional )?(?:definitions?|terms defined|defined terms|glossary)"
    r"(?: of terms| generally| and (?:rules of )?construction)?"
)
_FEES = re.compile(
    r"(?:[\w ,/-]+\W)?(?:permit|license|application|filing|inspection|review|annual|registration"
    r"|connection|processing|other|service)? ?(?:fees?|fee schedule)"
    r"|schedule of (?:permit |license )?fees|fees and charges"
)
# Headings that speak of terms or money without being one of the two kinds: no label at all.
_UNCLEAR = re.compile(
    r"defin|terms|glossary|meaning|\bfees?\b|\brates?\b|charges?\b|costs?\b|fines?\b|penalt|schedule"
    r"|taxes|\btax\b|\bforms?\b"
)
_AMOUNT = re.compile(r"\$\s?\d|\b(?:dollars|cents)\b", re.IGNORECASE)
_SHORTEST = 200  # below this a body is a stub; the gate's bound for a page

# Two cities hold most of the sections; without a cap they would be the whole benchmark.
_MOST_OF_A_PLACE: dict[Label, int] = {"definition": 60, "fee_schedule": 60, "regulation": 60}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One body with the kind that its heading names."""

    place: str
    heading: str
    body: str
    label: Label


def label_of(heading: str, body: str) -> Label | None:
    """Return the kind that a heading names, or None where it leaves doubt."""
    plain = heading.casefold().replace("’", "'").strip()
    plain = _NUMBER.sub("", plain).strip(" .;:-—–")
    if _DEFINITION.fullmatch(plain):
        return "definition"
    if _FEES.fullmatch(plain) and "attorney" not in plain and "cost" not in plain:
        return "fee_schedule" if _AMOUNT.search(body) else "regulation"
    return None if _UNCLEAR.search(plain) else "regulation"


def labelled_sections(corpus: Path) -> list[Labelled]:
    """Return the labelled sections of all places, at most so many of a place and kind."""
    taken: dict[tuple[str, Label], int] = {}
    chosen = []
    for section in sorted(_sections(corpus), key=_lot):
        key = (section.place, section.label)
        taken[key] = taken.get(key, 0) + 1
        if taken[key] <= _MOST_OF_A_PLACE[section.label]:
            chosen.append(section)
    return chosen


def _lot(section: Labelled) -> str:
    """Return a number to draw by that depends on nothing but the text."""
    return hashlib.sha256((section.place + section.heading + section.body).encode()).hexdigest()


def _sections(corpus: Path) -> Iterator[Labelled]:
    for path in sorted(corpus.glob("code-*/*.jsonl.zst")):
        with path.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
            for line in io.TextIOWrapper(stream, "utf-8", newline="\n"):
                section = _section(line)
                if section is not None:
                    yield section


def _section(line: str) -> Labelled | None:
    record = json.loads(line)
    heading, text = record.get("heading"), record.get("text")
    if not heading or not text or "jurisdiction" not in record:
        return None
    body = _without_heading(text, heading)
    label = label_of(heading, body)
    alive = standing_of(heading, text, record.get("status")) is Standing.IN_FORCE
    if label is None or not alive or len(body) < _SHORTEST:
        return None
    return Labelled(place=record["jurisdiction"], heading=heading, body=body, label=label)


def _without_heading(text: str, heading: str) -> str:
    """Return the body without the heading that some publishers repeat above it: it is the label."""
    first, _, rest = text.lstrip("#* \n").partition("\n")
    return rest if heading.casefold().strip(" .") in first.casefold() else text

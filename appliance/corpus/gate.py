"""The gate: what no body of law may hold.  Pure; returns reasons, never edits.

Two doors.  `objections` is for the records of a corpus file, which may be stubs, short or
repealed, and whose loss would leave a hole in the registry: only what is certainly no law is
turned away.  `judge` is for whole pages and documents as they were fetched and parsed: there
doubt is enough, as the page can be fetched again.  `judge_next` also knows what was accepted
before.  The gate does not know how a text was fetched or parsed, and keeps nothing itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from appliance.corpus.damage import (
    beyond_reading,
    broken_off,
    garbled,
    missing_parts,
    other_language,
)
from appliance.corpus.fingerprints import Seen, copy_of, fingerprint_of
from appliance.corpus.objection import Objection
from appliance.corpus.pages import page_of_html, page_of_markdown
from appliance.corpus.places import other_place
from appliance.corpus.standing import standing_of
from appliance.corpus.table_loss import lost_tables
from appliance.corpus.walls import menu_of, outdated, wall_in_record, wall_of
from appliance.domain import Standing

# The longest real record known has 2.4 M code points, the longest whole code 5 M; beyond this a
# file is something else.
LONGEST = 30_000_000

_SCRIPT = re.compile(r"\A\s*<(?:script|!doctype|html)\b", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
# Walls and menus are small; the largest page at hand, a menu around a library's calendar, has 230,000
# characters.  Larger ones are law or harm, and neither is read twice.
_LONGEST_WALL = 2_000_000
_STUB = 120  # characters of "[Reserved]" with its heading
# Law is rewritten every few years; a page that was fetched before is no proof of what holds today.
_OLDEST_DAYS = 5 * 365


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A page or document that asks to be let in."""

    body: str  # Markdown, as the parser gave it
    title: str = ""
    markup: str | None = None  # the web page that the body was made of
    city: str | None = None  # the place whose law it is said to be: "San Mateo, CA"
    language: str = "en"
    url: str | None = None
    name: str = "an earlier file"  # how a later reason shall call it
    fetched_at: datetime | None = None
    effective_from: date | None = None
    link_share: float = 0.0  # the part of the page's text that was links, where the parser knows


def objections(body: str, *, stub_allowed: bool = False, dead: bool = False) -> tuple[str, ...]:
    """Return the reasons to turn a record's body away; an empty tuple lets it pass.

    Section records may be empty stubs ("[Repealed]" in the heading, no text): `stub_allowed`.  Of a
    `dead` one, repealed or reserved, only the number counts, which the registry must know: a
    publisher's error page in place of its text does no harm, as it is never searched or cited.
    """
    reasons = list(_not_text(body))
    if not dead and _SCRIPT.match(body):
        reasons.append(Objection.MARKUP.because("the text is a web page or script, not law text"))
    if not stub_allowed and not body.strip():
        reasons.append(Objection.EMPTY.because("the text is empty"))
    if not dead and not reasons:
        reasons += _hopeless(body)
    return tuple(reasons)


def judge_markup(markup: str) -> tuple[str, ...]:
    """Return the reasons to turn a web page away before it is parsed."""
    if reasons := tuple(_not_text(markup)):
        return reasons
    if not markup.strip():
        return (Objection.EMPTY.because("the file is empty"),)
    if len(markup) <= _LONGEST_WALL:
        page = page_of_html(markup)
        if reason := wall_of(page) or menu_of(page):
            return (reason,)
        if sentence := outdated(page.text):  # a parser may drop the banner
            return (Objection.STALE.because(sentence),)
    reason = _unclosed(markup)
    return (reason,) if reason else ()


def judge(candidate: Candidate, *, today: date | None = None) -> tuple[str, ...]:
    """Return the reasons to turn a page or document away; an empty tuple lets it pass.

    A page that is not the one asked for has that one reason: nothing else about it matters.
    `today` is the day from which age is counted; without it age is no reason.
    """
    if candidate.markup is not None and (reasons := judge_markup(candidate.markup)):
        return reasons
    if reasons := objections(candidate.body):
        return reasons
    if _is_stub(candidate):
        return ()
    page = page_of_markdown(candidate.body, candidate.title)
    if reason := wall_of(page) or menu_of(page, candidate.link_share):
        return (reason,)
    return tuple(_faults(candidate, today))


def judge_next(
    candidate: Candidate, seen: Seen, *, today: date | None = None
) -> tuple[tuple[str, ...], Seen]:
    """Judge one of many; return its reasons and what was seen with it, if it was accepted."""
    if reasons := judge(candidate, today=today):
        return reasons, seen
    fingerprint = fingerprint_of(
        candidate.body,
        name=candidate.name,
        title=candidate.title,
        effective_from=candidate.effective_from,
    )
    if reason := copy_of(fingerprint, seen):
        return (reason,), seen
    return (), seen.with_(fingerprint)


# ------------------------------------------------------------------ the steps


def _is_stub(candidate: Candidate) -> bool:
    """Tell whether the page is a section's place alone: "[Reserved]" is all that it has to say."""
    standing = standing_of(candidate.title, candidate.body, None)
    return standing is not Standing.IN_FORCE and len(candidate.body) < _STUB


def _not_text(body: str) -> Iterator[str]:
    if "\0" in body:
        yield Objection.BINARY.because(
            "the text holds NUL characters: the file is binary or damaged"
        )
    if not body.isascii() and _SURROGATE.search(body):
        yield Objection.UNDECODED.because(
            "the text holds halves of characters (surrogates): it was decoded wrongly"
        )
    if len(body) > LONGEST:
        yield Objection.TOO_LONG.because(f"the text is longer than {LONGEST:,} characters")


def _hopeless(body: str) -> Iterator[str]:
    """Yield what is wrong with a record beyond doubt."""
    if sentence := beyond_reading(body):
        yield Objection.MOJIBAKE.because(sentence)
    if reason := wall_in_record(body):
        yield reason


def _faults(candidate: Candidate, today: date | None) -> Iterator[str]:
    body = candidate.body
    if sentence := garbled(body, of_page=candidate.markup is not None):
        yield Objection.MOJIBAKE.because(sentence)
    if sentence := other_language(body, candidate.language):
        yield Objection.WRONG_LANGUAGE.because(sentence)
    if sentence := broken_off(body) or missing_parts(body):
        yield Objection.TRUNCATED.because(sentence)
    if candidate.city and (sentence := other_place(body, candidate.title, candidate.city)):
        yield Objection.WRONG_CITY.because(sentence)
    if candidate.markup and (sentence := lost_tables(candidate.markup, body)):
        yield Objection.TABLES_LOST.because(sentence)
    if sentence := outdated(f"{candidate.title}\n{body}"):
        yield Objection.STALE.because(sentence)
    if sentence := _too_old(candidate.fetched_at, today):
        yield Objection.STALE.because(sentence)


def _unclosed(markup: str) -> str | None:
    """Say that a web page's file breaks off."""
    end = markup[-2_000:]
    if end.rfind("<") > end.rfind(">"):
        return Objection.TRUNCATED.because("the page's file breaks off within a tag")
    opened = re.search(r"<(?:html|body)\b", markup[:20_000], re.IGNORECASE)
    if opened and not re.search(r"</(?:html|body)\s*>", end, re.IGNORECASE):
        return Objection.TRUNCATED.because("the page's file ends before </html>")
    return None


def _too_old(fetched_at: datetime | None, today: date | None) -> str | None:
    if fetched_at is None or today is None or (today - fetched_at.date()).days <= _OLDEST_DAYS:
        return None
    return f"it was fetched on {fetched_at.date()}; fetch it again"

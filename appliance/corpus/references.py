"""How people and codes write the numbers of sections, tables and chapters.

Pure text in, records out.  It finds and normalises references; whether a
reference exists is the registry's business, not decided here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from appliance.domain import Span

Kind = Literal["section", "table", "chapter", "article", "title", "appendix", "part"]

# A number as codes write it: 28-105.9.1, 17.102.130, 45-516.1, 24-4420, A-201, 1.A, 28:2A-101, 60A-01.
# At least one digit; joints are dots, hyphens and colons between letters or digits, so that the full
# stop of a sentence is never taken in.
NUMBER = r"(?:[A-Za-z]{1,2}[.\-])?\d+[A-Za-z]{0,2}(?:[.\-:]{1,2}[0-9]+[A-Za-z]{0,2}|[.\-][A-Z](?![a-z]))*"
# Tables also bear letters and Roman numerals: Table A, Table N1, Table IV, Table 4.3.9.A-2.
_TABLE_NUMBER = rf"(?:{NUMBER}(?:\(\d+\))?|[IVX]+\b|[A-Z]\d*(?:[.\-]\d+)*\b)"

_KEYWORDS: dict[Kind, str] = {
    "section": r"§{1,2}|\b(?:sub)?sections?\b|\bsecs?\b\.?",
    "table": r"\btables?\b",
    "chapter": r"\bchapters?\b|\bchap\b\.?|\bch\b\.",
    "article": r"\barticles?\b|\bart\b\.",
    "title": r"\btitles?\b",
    "appendix": r"\bappendix\b|\bapp\b\.",
    "part": r"\bparts?\b",
}
_CONTAINER = r"(?:[IVXLC]+\b|[A-Z]\b|\d+[A-Za-z]?(?:[.\-]\d+[A-Za-z]?)*)"
_PATTERNS: dict[Kind, re.Pattern[str]] = {
    kind: re.compile(
        rf"(?:{word})\s*(?:no\.\s*)?\[?(?P<number>"
        + (NUMBER if kind == "section" else _TABLE_NUMBER if kind == "table" else _CONTAINER)
        + r")",
        # Table letters and Roman numerals are told from words by their capitals.
        re.IGNORECASE if kind == "section" else 0,
    )
    for kind, word in ((k, w if k == "section" else f"(?i:{w})") for k, w in _KEYWORDS.items())
}
# Without a keyword only a number with two joints or long parts counts: "28-105.9", "17.102.130",
# "42-3506.02", "24-4420"; "24-7", "2.5" and "1-2" stay what they are.
_BARE = re.compile(rf"(?<![\w.\-:$]){NUMBER}(?![\w%])")
_LIST = re.compile(
    rf"\s*(?:,|;|(?i:and|or|to|through|,\s*and|,\s*or)|&)\s*(?:§{{1,2}}\s*)?(?P<number>{NUMBER})"
)

DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One mention of a numbered part of a code."""

    kind: Kind
    number: str  # normalised
    span: Span  # of the mention, keyword included
    bare: bool = False  # written without a keyword: only meant if it exists


def normalise_number(text: str) -> str:
    """Return the one form under which a number is looked up: lower case, plain hyphens, no tail.

    "§ 28‑105.9." and "28-105.9" are the same number, and so are "[25-116.01]" and "25-116.01".
    """
    plain = text.translate(DASHES).casefold()
    plain = re.sub(r"[\s§\[\]{}*]+", "", plain)
    plain = re.sub(r"^(?:subsections?|sections?|secs?\.?)", "", plain)
    plain = plain.strip(".,;:-")
    return plain if plain.count("(") == plain.count(")") else plain.strip("().,;:-")


def number_key(number: str) -> str:
    """Return what writings of one normalised number share: its parts, whatever joins them.

    "28-105.9", "28.105.9" and "28 105 9" have the key "28.105.9"; "15.04.020" and "15.4.20" have
    "15.4.20".  The store's function of the same name gives the same (migration 0009).
    """
    joined = re.sub(r"[^a-z0-9]+", ".", number)
    return re.sub(r"(^|\.)0+(?=[0-9])", r"\1", joined).strip(".")


def find_references(text: str) -> list[Reference]:
    """Return every mention in running text, in reading order; overlaps go to the earlier keyword."""
    plain = text.translate(DASHES)
    named = _apart(sorted(_keyword_mentions(plain), key=_place))
    starts = [r.span.start for r in named]
    bare = (r for r in _bare_mentions(plain) if not _covered(r.span, named, starts))
    return sorted([*named, *bare], key=_place)


def _place(reference: Reference) -> tuple[int, int]:
    return reference.span.start, -reference.span.end


def _apart(references: Iterable[Reference]) -> list[Reference]:
    """Return the references, in reading order, that do not reach into an earlier one."""
    kept: list[Reference] = []
    for reference in references:
        if not kept or kept[-1].span.end <= reference.span.start:
            kept.append(reference)
    return kept


def _covered(span: Span, named: list[Reference], starts: list[int]) -> bool:
    last = bisect_left(starts, span.end) - 1  # the last one that begins before the span ends
    return last >= 0 and named[last].span.end > span.start


def _keyword_mentions(text: str) -> Iterator[Reference]:
    for kind, pattern in _PATTERNS.items():
        listed = 0  # a list is read once, not again from each "§" in it
        for match in pattern.finditer(text):
            yield _reference(kind, match)
            if kind == "section" and match.end() > listed:
                for reference in _listed(text, match.end()):
                    listed = reference.span.end
                    yield reference


def _listed(text: str, position: int) -> Iterator[Reference]:
    """Yield the further numbers of "Sections 12-1, 12-2 and 12-5"."""
    while (match := _LIST.match(text, position)) and re.search(r"[.\-:]", match["number"]):
        yield _reference("section", match, start=match.start("number"))
        position = match.end()


def _bare_mentions(text: str) -> Iterator[Reference]:
    for match in _BARE.finditer(text):
        number = match.group()
        if is_compound(number) and not _is_measure(text, match.end()):
            yield Reference(
                kind="section",
                number=normalise_number(number),
                span=Span(start=match.start(), end=match.end()),
                bare=True,
            )


def is_compound(number: str) -> bool:
    """Tell whether a number looks like a section's even without a keyword."""
    if _CALENDAR.fullmatch(number):
        return False
    joints = len(re.findall(r"[.\-:]", number))
    digits = sum(c.isdigit() for c in number)
    if joints >= 2 and digits < 3 and number[0].isalpha() and number[1] == "-":
        return False  # a district: "R-1-6"
    return joints >= 2 or (joints == 1 and digits >= 4 and "-" in number)


# What people write with joints that is no section: a date, a telephone number, hours of the day.
_CALENDAR = re.compile(
    r"(?:19|20)\d\d-\d\d-\d\d|(?:1-)?(?:\d{3}[-.])?\d{3}[-.]\d{4}|\d{1,2}:\d\d(?:-\d{1,2}:\d\d)?"
)
_UNIT = re.compile(
    r"\s*(?:%|(?:percent|feet|foot|ft|inch|inches|sq|square|acres?|yards?|days?|hours?|years?|months?"
    r"|family|story|stories|units?)\b|in\.)"
)


def _is_measure(text: str, end: int) -> bool:
    return _UNIT.match(text, end) is not None


def _reference(kind: Kind, match: re.Match[str], start: int | None = None) -> Reference:
    return Reference(
        kind=kind,
        number=normalise_number(match["number"]),
        span=Span(start=match.start() if start is None else start, end=match.end()),
    )


# ------------------------------------------------------------------ a citation on its own


# Words that name no particular code.
_GENERIC = frozenset(
    [
        "a",
        "ann",
        "annotated",
        "and",
        "article",
        "chapter",
        "city",
        "code",
        "codes",
        "county",
        "general",
        "of",
        "official",
        "ordinance",
        "ordinances",
        "part",
        "regulations",
        "regs",
        "revised",
        "rules",
        "sec",
        "section",
        "sections",
        "see",
        "subsection",
        "the",
        "title",
        "town",
        "zoning",
        "municipal",
        "no",
        "law",
        "laws",
    ]
)
_LITTLE = frozenset(["a", "and", "of", "the"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A citation as a person writes it, taken apart."""

    kind: Kind
    number: str  # normalised; "" if there is none
    words: tuple[str, ...]  # of the code's name, in order, lower case: ("nyc", "admin", "code")
    whole: str  # the whole citation, normalised, for codes that cite by a term


def parse_citation(text: str) -> Cited:
    """Take apart "NYC Admin. Code § 28-105.9(a)", "SEC. 31-390", "11 DCMR 845", "Table 9.1.1".

    A citation without any number ("Kennel") has the number "" and only its whole form.
    """
    plain = " ".join(text.translate(DASHES).split())
    match = _best_match(plain)
    whole = normalise_whole(plain)
    if match is None:
        return Cited(kind="section", number="", words=(), whole=whole)
    kind, number, start, end = match
    return Cited(kind=kind, number=number, words=_name_words(plain, start, end), whole=whole)


# "Local Law 110 of 2019" is cited as a whole: neither number is one of a section.
_ENACTED = re.compile(r"\d of (?:19|20)\d\d$")


def _best_match(plain: str) -> tuple[Kind, str, int, int] | None:
    order: tuple[Kind, ...] = (
        "table",
        "section",
        "appendix",
        "article",
        "chapter",
        "part",
        "title",
    )
    for kind in order:
        matches = list(_PATTERNS[kind].finditer(plain))
        if matches:
            match = matches[-1] if kind == "section" else matches[0]
            bare = [m for m in _BARE.finditer(plain) if is_compound(m.group())]
            # "Title 16, 16-309": the compound number is meant, not its container.
            if kind in ("title", "chapter", "part", "article") and bare:
                break
            return kind, normalise_number(match["number"]), match.start(), match.end()
    numbers = list(_BARE.finditer(plain))
    if not numbers or _ENACTED.search(plain):
        return None
    match = max(numbers, key=lambda m: (len(re.findall(r"[.\-:]", m.group())), m.start()))
    return "section", normalise_number(match.group()), match.start(), match.end()


def _name_words(plain: str, start: int, end: int) -> tuple[str, ...]:
    for listed in _listed(plain, end):
        end = listed.span.end
    outside = plain[:start] + " " + re.sub(r"^(?:\s*\([^)]{1,6}\))+", "", plain[end:])
    outside = re.sub(r"\b((?:[A-Za-z]\.){2,})", lambda m: m.group().replace(".", ""), outside)
    return tuple(re.findall(r"[a-z0-9]+", outside.casefold()))


def normalise_whole(text: str) -> str:
    """Return a whole citation in the form under which it is looked up."""
    plain = text.translate(DASHES).casefold()
    return " ".join(re.findall(r"[a-z0-9](?:[a-z0-9.\-:]*[a-z0-9])?|§", plain))


def names_a_code(words: Iterable[str]) -> bool:
    """Tell whether the words name some code in particular ("nyc admin code"), not just any."""
    return any(w not in _GENERIC for w in words)


def same_code(asked: Iterable[str], registered: Iterable[str], place: Iterable[str]) -> bool:
    """Tell whether two names can mean the same code of law.

    `asked` and `registered` are the words of `Cited.words`, `place` the words of the city's name.
    A name without particular words ("Sec. 12-1") fits every code.  Initials count: "San Mateo
    Municipal Code" is "SMMC", "Rules of the City of New York" is "RCNY".
    """
    a, r, p = tuple(asked), tuple(registered), tuple(dict.fromkeys(place))
    special_a = [w for w in a if w not in _GENERIC]
    special_r = [w for w in r if w not in _GENERIC]
    if not special_a:
        return True
    return _explained(special_a, r, a, p) and _explained(special_r, a, r, p)


def _explained(
    words: Iterable[str], by: tuple[str, ...], own: tuple[str, ...], place: tuple[str, ...]
) -> bool:
    initials_by, initials_own = _initials(by), _initials(own)
    place_initials = _initials(place)
    place_initials |= {f"{i}c" for i in place_initials}  # "NYC": the place as a city
    return all(
        word in by
        or word in place
        or word in initials_by
        or word in place_initials
        or any(_abbreviates(word, other) for other in by)
        or any(other in initials_own and len(other) > 1 for other in by if not other.isdigit())
        for word in words
    )


def _abbreviates(a: str, b: str) -> bool:
    short, long = sorted((a, b), key=len)
    return len(short) >= 3 and long.startswith(short) and not short.isdigit()


def _initials(words: tuple[str, ...]) -> frozenset[str]:
    """Return the initials of every run of two to six words, little words left out."""
    kept = [w for w in words if w not in _LITTLE and not w.isdigit()]
    return frozenset(
        "".join(w[0] for w in kept[i : i + n])
        for n in range(2, 7)
        for i in range(len(kept) - n + 1)
    )

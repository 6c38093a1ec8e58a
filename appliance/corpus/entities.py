"""What a text names in a way that can be compared: districts, permits, sizes, fees, ordinances, dates.

Pure and deterministic: a text in, records with exact spans out, in linear time.  A code such as "R-1"
is a district only where the text says so ("R-1 district", "zoned R-1") or where the city's own
headings do; alone it may be a section, a drawing or a form.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Literal

from appliance.corpus.quantities import in_words, quantities
from appliance.domain import ENTITY_KINDS, EntityKind, Having, Span
from appliance.ports import Entity

Bound = Literal["min", "max"]


def entities_of(text: str, districts: Collection[str] = ()) -> tuple[Entity, ...]:
    """Return the entities of a text in reading order; `districts` are codes that the city defines."""
    found = [
        *_sizes_and_amounts(text),
        *_districts(text, frozenset(districts)),
        *_permits(text),
        *_ordinances(text),
        *_dates(text),
    ]
    return tuple(sorted(found, key=lambda e: (e.span, e.kind, e.value)))


def parse_having(written: str) -> Having:
    """Return the filter that "district=R-1", "permit=fence" or "dimension=6 feet" stands for.

    What the kind's own grammar does not read is taken as it is written.  Raises ValueError with a
    sentence that says what a filter looks like.
    """
    name, _, words = (part.strip() for part in written.partition("="))
    kind = next((k for k in ENTITY_KINDS if k == name), None)
    if kind is None or not words:
        raise ValueError(
            f"{written[:80]!r} is not like 'district=R-1'; the kinds are {', '.join(ENTITY_KINDS)}"
        )
    for entity in entities_of(_in_context(kind, words)):
        if entity.kind == kind or {entity.kind, kind} == {"fee", "money"}:
            unit = None if entity.unit == "dollar" else entity.unit
            return Having(kind=kind, value=entity.value, unit=unit)
    return Having(kind=kind, value=" ".join(words.split()), unit=None)


def _in_context(kind: EntityKind, words: str) -> str:
    """Return the words as a code would write them, so that its grammar reads them."""
    match kind:
        case "district":
            return f"{words.upper()} district"
        case "ordinance" if words[0].isdigit():
            return f"Ordinance No. {words}"
        case "permit" if not re.search(r"permit|certificate", words, re.IGNORECASE):
            return f"{words} permit"
        case "fee" | "money" if words[0].isdigit():
            return f"${words}"
        case _:
            return words


def _entity(
    kind: EntityKind,
    value: str,
    start: int,
    end: int,
    *,
    unit: str | None = None,
    bound: Bound | None = None,
) -> Entity:
    return Entity(kind=kind, value=value, unit=unit, bound=bound, span=Span(start=start, end=end))


# ------------------------------------------------------------------ sizes and amounts of money

_SIZES = frozenset(
    [
        "foot",
        "inch",
        "yard",
        "mile",
        "sqft",
        "sqyd",
        "sqmi",
        "cuft",
        "cuyd",
        "acre",
        "percent",
        "story",
    ]
)
# What stands before or after a size and makes a bound of it.
_AT_LEAST = re.compile(
    r"\b(?:at least|(?:not|no|nor) (?:be )?(?:less|fewer|smaller|lower|closer|nearer) than"
    r"|minimum(?: \w+){0,6}|in excess of|(?:more|greater|larger|higher) than|exceed(?:s|ing)?|over)"
    r"[\s:(]*(?:(?:of|is|be|shall|a|the|to|than|by)\s+){0,4}$",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"\b(?:(?:not|no|nor) (?:\w+ ){0,2}(?:more|greater|larger|higher|taller|wider|farther) than"
    r"|(?:not|never) (?:to )?exceed(?: \w+){0,3}|maximum(?: \w+){0,6}|up to|at most|within"
    r"|(?:less|fewer|smaller|lower) than|under)[\s:(]*(?:(?:of|is|be|shall|a|the|to|than|by)\s+){0,4}$",
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    r"[\s,(]*(?:or (?:more|greater|larger|higher)|minimum|min\.?)\b", re.IGNORECASE
)
_OR_LESS = re.compile(r"[\s,(]*(?:or (?:less|fewer|smaller|lower)|maximum|max\.?)\b", re.IGNORECASE)
_BEFORE, _AFTER = 60, 20  # how far from a size the words of its bound stand

# "five to ten feet", "5 - 10 feet": the quantity is the last number, the first one has its unit.
_RANGE = re.compile(
    r"(?<![\w.,$-])(?P<first>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|[a-z]+(?:-[a-z]+)?)"
    r"(?:\s*\(\d+\))?\s*(?:\bto\b|-|–|—)\s*$",
    re.IGNORECASE,
)

# "$5.00 per square foot", "$25 for each additional unit", "$10/day"
_PER = re.compile(
    r"\s*(?:per|for\s+each|for\s+every|each|/)\s*(?:additional\s+)?(?:one\s+)?"
    r"(?P<what>square\s+(?:foot|feet|yard)|sq\.?\s*ft\.?|(?:linear|lineal|cubic)\s+(?:foot|feet|yard)"
    r"|[a-z]+(?:\s+unit)?)",
    re.IGNORECASE,
)
_PER_UNITS = {"square feet": "sqft", "square foot": "sqft", "sq ft": "sqft"}
# An amount is a fee where the words around it say so: a fine or a value of works is money, too.
_FEE = re.compile(r"\b(?:fees?|charges?|deposit|costs? of the permit)\b", re.IGNORECASE)
_FINE = re.compile(r"\b(?:fines?|fined|penalt(?:y|ies)|bond|damages)\b", re.IGNORECASE)
# How far back, within the paragraph or the table: a schedule names the fee in its header only.
_NEAR_FEE = 2000


def _sizes_and_amounts(text: str) -> Iterator[Entity]:
    words = _MoneyWords(text)
    for quantity in quantities(text):
        start, end = quantity.span.start, quantity.span.end
        if quantity.unit in ("dollar", "cent"):
            yield _amount(text, words, quantity.value, quantity.unit, start, end)
        elif quantity.unit in _SIZES:
            bound = _bound(text, start, end)
            if (first := _first_of_range(text, start)) is not None:
                value, begin = first
                yield _entity(
                    "dimension", _number(value), begin, end, unit=quantity.unit, bound=bound
                )
            yield _entity(
                "dimension", _number(quantity.value), start, end, unit=quantity.unit, bound=bound
            )


def _number(value: Decimal) -> str:
    """Return "6", "0.5" or "33.333": at most three digits behind the point."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _bound(text: str, start: int, end: int) -> Bound | None:
    before, after = text[max(0, start - _BEFORE) : start], text[end : end + _AFTER]
    if _OR_MORE.match(after):
        return "min"
    if _OR_LESS.match(after):
        return "max"
    # "shall not exceed" holds "exceed", "no more than" holds "more than": the longer wording first.
    if _AT_MOST.search(before):
        return "max"
    return "min" if _AT_LEAST.search(before) else None


def _first_of_range(text: str, start: int) -> tuple[Decimal, int] | None:
    begin = max(0, start - 40)
    match = _RANGE.search(text[begin:start])
    if match is None:
        return None
    words = match["first"]
    value = Decimal(words.replace(",", "")) if words[0].isdigit() else Decimal(in_words(words))
    return (value, begin + match.start()) if value else None


def _amount(
    text: str, words: _MoneyWords, value: Decimal, unit: str, start: int, end: int
) -> Entity:
    kind: EntityKind = "fee" if words.speak_of_a_fee(start) else "money"
    per = _PER.match(text, end)
    if per is not None:
        unit, end = f"{unit} per {_per_unit(per['what'])}", per.end()
    return _entity(kind, _number(value), start, end, unit=unit)


class _MoneyWords:
    """Where a text speaks of fees and where of fines; looked up by amounts in ascending order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._fees: list[int] | None = None
        self._fines: list[int] = []

    def speak_of_a_fee(self, position: int) -> bool:
        """Tell whether the last such word in the paragraph before the position is a fee's."""
        if self._fees is None:
            self._fees = [m.start() for m in _FEE.finditer(self._text)]
            self._fines = [m.start() for m in _FINE.finditer(self._text)]
        begin = self._text.rfind("\n\n", max(0, position - _NEAR_FEE), position)
        begin = max(begin, position - _NEAR_FEE)
        fee, fine = _last_before(self._fees, position), _last_before(self._fines, position)
        return fee >= begin and fee > fine


def _last_before(places: Sequence[int], position: int) -> int:
    index = bisect_left(places, position)
    return places[index - 1] if index else -1


def _per_unit(what: str) -> str:
    plain = " ".join(what.casefold().replace(".", " ").split())
    return _PER_UNITS.get(plain, plain)


# ------------------------------------------------------------------ districts

# R-1, C-2A, RS-7.2, R1-B, PD-H3, B3; with letters only ("GI Districts") where a heading defines it or
# the word follows at once.
_CODE = (
    r"[A-Z]{1,4}-\d{1,3}(?:\.\d{1,2})?[A-Z]{0,2}(?:-[A-Z0-9]{1,3})?"
    r"|[A-Z]{1,3}\d{1,2}[A-Z]?(?:-[A-Z0-9]{1,3})?"
)
_LETTERS = r"[A-Z]{1,4}(?:-[A-Z]{1,3})?"
_CODES = re.compile(rf"(?<![\w.§#/-])(?:{_CODE}|{_LETTERS})(?![\w-]|\.\d)")
_SEPARATOR = re.compile(
    r"[\s\"“”(),;/&]{1,4}(?:(?:and|or|to|through|and/or)\s+)?(?:the\s+)?[\"“”(]?"
)
_DISTRICT_AFTER = re.compile(
    r"[\"”)]?\s*(?:\([^()]{1,40}\)\s*)?(?:[A-Za-z][\w-]*[,/]?\s+){0,5}?"
    r"(?:zoning\s+)?(?:districts?|zones?|zoned|zoning)\b",
    re.IGNORECASE,
)
_DISTRICT_BEFORE = re.compile(
    r"\b(?:districts?|zones?|zoned|zoning)\b(?:\s+(?:as|is|are|to|of|in|from|either|including"
    r"|classifications?|designated))?[\s:,(\"“—–-]*$",
    re.IGNORECASE,
)
# What the same sort of code stands for elsewhere.
_NOT_DISTRICT = re.compile(
    r"\b(?:sections?|secs?\.?|§+|tables?|figures?|exhibits?|sheets?|forms?|groups?|occupancy|class|type"
    r"|appendix|chapter|article|ordinance|no\.|page|route|highway|paragraph)\s*$",
    re.IGNORECASE,
)
# "A District", "IN THE DISTRICT": words, not codes.
_LETTERED = re.compile(
    r"[\"”)]?\s+(?:(?i:zoning|overlay|base|historic)\s+){0,2}(?:[Dd]istrict|[Zz]one)s?\b"
)
_WORDS = re.compile(
    r"AN?|I[NS]?|ANY|ALL|AND|OR|OF|THE|THIS|THAT|EACH|SUCH|SAID|ONE|NEW|PER|FOR|USE|IF"
)
_ROMAN = re.compile(r"[IVXLC]{1,4}")
_LIST = 24  # a list of codes is broken by more than so many characters


def _districts(text: str, known: frozenset[str]) -> Iterator[Entity]:
    for chain in _chains(text):
        start, end = chain[0].start(), chain[-1].end()
        before = text[max(0, start - 30) : start]
        if _NOT_DISTRICT.search(before):
            continue
        said = _DISTRICT_AFTER.match(text, end, end + 70) or _DISTRICT_BEFORE.search(before)
        named = _LETTERED.match(text, end)
        for code in chain:
            value, alone = district_code(code[0]), any(map(str.isdigit, code[0]))
            if (
                named
                or (said and (alone or "-" in value or value in known))
                or (alone and value in known)
            ):
                yield _entity("district", value, code.start(), code.end())


def _chains(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield codes that stand in one list, "R-1, R-2 and R-3", together."""
    chain: list[re.Match[str]] = []
    for code in _CODES.finditer(text):
        if _WORDS.fullmatch(code[0]):
            continue
        if chain and not _joined(text, chain[-1].end(), code.start()):
            yield chain
            chain = []
        chain.append(code)
    if chain:
        yield chain


def _joined(text: str, end: int, start: int) -> bool:
    return start - end <= _LIST and bool(_SEPARATOR.fullmatch(text, end, start))


def district_code(written: str) -> str:
    """Return one form of a district's code: "R-1" for "R1", "R-1B" for "R1-B" as for "R-1-B".

    >>> [district_code(c) for c in ("R-1", "R1", "R1-B", "RS-7.2", "PD-H")]
    ['R-1', 'R-1', 'R-1B', 'RS-7.2', 'PD-H']
    """
    match = re.fullmatch(r"([A-Z]+)-?(\d[\d.]*)-?([A-Z]*)", written)
    return f"{match[1]}-{match[2]}{match[3]}" if match else written


_HEADING_CODE = re.compile(
    rf"\bdistricts?\b[\s—–,:(.-]+(?P<after>{_CODE}|{_LETTERS})\)?\W*$"
    rf"|(?<![\w.§#/-])(?P<code>{_CODE})(?![\w-]|\.\d|[\s.:]*[—–-]\s)"
    rf"|\((?P<bracketed>{_LETTERS})\)",
)
_ABOUT_DISTRICT = re.compile(r"\bdistricts?\b|\bzones?\b", re.IGNORECASE)


def districts_defined(headings: Iterable[Sequence[str]]) -> frozenset[str]:
    """Return the codes of the districts that headings name: "GENERAL BUSINESS DISTRICT B-3".

    A heading comes with those above it: under "DISTRICT REGULATIONS", "C-1 COMMERCIAL OFFICE" is one.
    A code that begins a heading and is set off from it, "A-809 - Antennas", is the section's number.
    """
    found = set()
    for heading in {" > ".join(path) for path in headings}:
        if _ABOUT_DISTRICT.search(heading):
            for match in _HEADING_CODE.finditer(re.sub(r"(?i:districts?)", "district", heading)):
                code = match["after"] or match["code"] or match["bracketed"]
                if not _ROMAN.fullmatch(code) and not _WORDS.fullmatch(code):
                    found.add(district_code(code))
    return frozenset(found)


# ------------------------------------------------------------------ permits

_TYPES = (
    r"building|demolition|fence|signs?|temporary sign|electrical|plumbing|mechanical|grading"
    r"|excavation|zoning|land[ -]disturb(?:ing|ance)|land[ -]use|occupancy|use and occupancy"
    r"|special use|conditional use|provisional use|temporary use|special|conditional|temporary"
    r"|home occupation|encroachment|driveway|moving|tree(?: removal)?|floodplain(?: development)?"
    r"|storm ?water(?: construction| management)?|construction|foundation|(?:swimming )?pool"
    r"|right-of-way|street opening|roofing|alteration|renovation|fire|operational|work"
    r"|development|site development|subdivision|parking|sewer|water|well|septic|blasting|burning"
    r"|vending|mobile vending|food truck|sidewalk caf[eé]|special exception|accessory dwelling unit"
    r"|short-term rental|rental|place of assembly|crane|scaffold|sidewalk shed|coastal development"
)
_LISTED = re.compile(
    rf"(?<![\w-])(?:{_TYPES})(?:(?:,\s*|\s+)(?:(?:and|or|and/or)\s+)?(?:{_TYPES})(?![\w-]))*\s+$",
    re.IGNORECASE,
)
_TYPE = re.compile(rf"(?<![\w-])(?:{_TYPES})(?![\w-])", re.IGNORECASE)
_PERMIT = re.compile(r"\bpermits?\b(?!\s+offices?\b)", re.IGNORECASE)
_CERTIFICATE = re.compile(
    r"\bcertificates?\s+of\s+(?:use\s+and\s+occupancy|occupancy|appropriateness|zoning\s+compliance"
    r"|compliance|completion|no\s+effect|no\s+harassment)\b",
    re.IGNORECASE,
)
_LOOK_BACK = 90
# "The live entertainment permit": a type that no list has, behind an article.
_UNLISTED = re.compile(
    r"\b(?:an?|the|any|each|every|no)\s+(?P<type>[a-z]+(?:-[a-z]+)*(?:\s[a-z]+(?:-[a-z]+)*)?)\s$",
    re.IGNORECASE,
)
# Not a type: what state a permit is in, whose it is, and words that do not go before a noun.
_NO_TYPE = re.compile(
    r"\b(?:new|valid|approved|issued|required|requested|original|proposed|existing|applicable|necessary"
    r"|other|separate|written|final|initial|additional|appropriate|same|said|such|first|second|single"
    r"|current|city|county|town|state|federal|local|borough|annual|monthly|outstanding|amended|expired"
    r"|revoked|subject|particular|relevant|underlying|individual|prior|previous|active|pending|to|of|for"
    r"|or|and|by|in|shall|may|will|with|which|that|not|under)\b",
    re.IGNORECASE,
)


def _permits(text: str) -> Iterator[Entity]:
    for match in _PERMIT.finditer(text):
        begin = max(0, match.start() - _LOOK_BACK)
        before = text[begin : match.start()]
        listed = _LISTED.search(before)
        if listed is None:
            other = _UNLISTED.search(before)
            if other and not _NO_TYPE.search(other["type"]):
                value = _permit(f"{other['type']} permit")
                yield _entity("permit", value, begin + other.start("type"), match.end())
            continue
        types = list(_TYPE.finditer(text, begin + listed.start(), match.start()))
        for one in types:
            end = match.end() if one is types[-1] else one.end()
            yield _entity("permit", _permit(f"{one[0]} permit"), one.start(), end)
    for match in _CERTIFICATE.finditer(text):
        yield _entity("permit", _permit(match[0]), match.start(), match.end())


_SINGULAR = {"certificates": "certificate", "signs": "sign"}


def _permit(words: str) -> str:
    return " ".join(_SINGULAR.get(w, w) for w in words.casefold().split())


# ------------------------------------------------------------------ ordinances and dates

# Such as 2019-12, O-2017-01, 19-O-030, 98-A(1) and 47,652.
_NUMBER = (
    r"(?:[A-Z]{1,4}-?)?(?:\d{1,3},\d{3}\b|\d[\dA-Za-z]*)"
    r"(?:[-./](?:\d[\dA-Za-z]*|[A-Z]{1,3}(?=[-./]\d|[(,;\s])))*(?:\(\d+\))?"
)
_ORDINANCE = re.compile(
    rf"\b(?:Ordinances?|ORDINANCES?|Ords?\.|ORD\.|Resolutions?|Res\.)\s*"
    rf"(?:(?:Nos?\.?|NOS?\.?|Numbers?|#)\s*)?(?P<first>{_NUMBER})"
    rf"(?P<more>(?:(?:,\s*|\s+)(?:and\s+)?(?:No\.\s*)?\d[\dA-Za-z]*-\d[\dA-Za-z-]*)*)"
)
_MORE_ORDINANCES = re.compile(r"\d[\dA-Za-z]*-\d[\dA-Za-z-]*")
_LOCAL_LAW = re.compile(
    r"\bLocal\s+Laws?\s+(?:(?:No\.|number)\s*)?(?P<number>\d{1,4})\s+(?:of|for\s+the\s+year)\s+"
    r"(?P<year>\d{4})|\bL\.?L\.?\s+(?P<old_year>\d{4})/(?P<old_number>\d{1,4})",
    re.IGNORECASE,
)


def _ordinances(text: str) -> Iterator[Entity]:
    for match in _ORDINANCE.finditer(text):
        yield _entity("ordinance", match["first"].rstrip("."), match.start(), match.end("first"))
        for more in _MORE_ORDINANCES.finditer(text, match.start("more"), match.end("more")):
            if _day_of_history(more[0]) is None:  # "Ord. No. 96-13, 6-10-96": number and day
                yield _entity("ordinance", more[0], more.start(), more.end())
    for match in _LOCAL_LAW.finditer(text):
        number, year = match["number"] or match["old_number"], match["year"] or match["old_year"]
        value = f"Local Law {int(number)} of {year}"
        yield _entity("ordinance", value, match.start(), match.end())


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORDED = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
# A year is looked for, and the day before it: few words of a text look like a year.
_YEAR = re.compile(r"(?:1[6-9]|20)\d\d")
_DAY_BEFORE = re.compile(
    rf"(?<![A-Za-z])(?P<month>{_WORDED})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s*,?\s*$"
    rf"|(?<!\d)(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:day\s+of\s+)?(?P<month2>{_WORDED})\s*,?\s*$"
    r"|(?<![\d/.-])(?P<number>\d{1,2})([/-])(?P<day3>\d{1,2})\6$",
    re.IGNORECASE,
)
_DAY_AFTER = re.compile(r"-(\d\d)-(\d\d)(?![\d-])")
_LONGEST_DAY = 28  # "30th day of September,   "
# The notes on a section's history write days as "6-10-03"; elsewhere that is a section's number.
_HISTORY = re.compile(
    r"\bOrd(?:inance)?s?\.?(?:[^()\n]|\(\d+\)){0,80}?(?:[,;]|adopted|of)\s*(?P<day>\d{1,2}-\d{1,2}-\d\d)(?![\d-])"
    r"|(?<![\d/.])(?P<slashed>\d{1,2}/\d{1,2}/\d\d)(?![\d/])"
)


def _dates(text: str) -> Iterator[Entity]:
    for year in _YEAR.finditer(text):
        if found := _date_at(text, year):
            day, start, end = found
            yield _entity("date", day.isoformat(), start, end)
    for match in _HISTORY.finditer(text):
        written = match["day"] or match["slashed"]
        if (history := _day_of_history(written)) is not None:
            start = match.end() - len(written)
            yield _entity("date", history.isoformat(), start, match.end())


def _date_at(text: str, year: re.Match[str]) -> tuple[date, int, int] | None:
    """Return the day that a year ends or begins, with its place."""
    start, end = year.span()
    if text[end : end + 1].isdigit():
        return None
    begin = max(0, start - _LONGEST_DAY)
    if before := _DAY_BEFORE.search(text[begin:start]):
        day = _day(year[0], _month(before), before["day"] or before["day2"] or before["day3"])
        return None if day is None else (day, begin + before.start(), end)
    if text[start - 1 : start].isalnum():
        return None
    if after := _DAY_AFTER.match(text, end):
        day = _day(year[0], int(after[1]), after[2])
        return None if day is None else (day, start, after.end())
    return None


def _month(match: re.Match[str]) -> int:
    name = match["month"] or match["month2"]
    return _MONTHS.index(name[:3].casefold()) + 1 if name else int(match["number"])


def _day_of_history(written: str) -> date | None:
    parts = re.split("[-/]", written)
    return (
        _day(parts[2], int(parts[0]), parts[1])
        if len(parts) == 3 and all(map(str.isdigit, parts))
        else None
    )


# "6-10-03" is of 2003, "6-10-65" of 1965: no code is dated beyond this year's next decade.
_CENTURY = 40


def _day(year: str, month: int, day: str) -> date | None:
    """Return the day, or None where the calendar has none."""
    number = int(year)
    if len(year) == 2:
        number += 2000 if number < _CENTURY else 1900
    try:
        return date(number, month, int(day))
    except ValueError:
        return None

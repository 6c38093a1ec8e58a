"""How a question names parts of the law by number: "sec 28 105 9", "Ch 15", "LL97", "12 DCMR 105".  Pure.

People write worse than codes do, so that one mention has several readings, the likeliest first; the
registry decides which is meant.  What is no mention of the law (a date, a price, a district, a
telephone number) has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from appliance.corpus.law_names import enactment_of
from appliance.corpus.number_words import TENS, UNITS
from appliance.corpus.references import DASHES, is_compound, normalise_number, number_key
from appliance.domain import Part, Span

LAW = "law"  # an enacted law, by its own number
SPACES = str.maketrans(dict.fromkeys("\t\n\r\u00a0\u2002\u2003\u2007\u2009\u200a\u202f", " "))
NEAR = 120  # code points before a number that may say what it is
MOST = 8  # mentions of one question that are looked up

# One part of a number, and what may join two: codes write a dot, a hyphen or a colon; people a blank
# beside it or alone, and what they dictate says the joint's name.
_PART = r"(?:\d+[A-Za-z]{0,2}(?![A-Za-z])|[A-Za-z](?![A-Za-z]))"
_SPOKEN = r" (?:dash|hyphen|point|dot|period) "
_JOINT = rf"(?:{_SPOKEN}| ?[.\-:]{{1,2}} ?(?=\d)|[.\-:]{{1,2}}(?=[A-Za-z](?![A-Za-z]))| (?=\d))"
_HEAD = r"(?:[A-Za-z]{1,2}[.\-](?=\d))?\d+[A-Za-z]{0,2}(?![A-Za-z])"
_LOOSE = rf"{_HEAD}(?:{_JOINT}{_PART}){{0,5}}"
_TIGHT = rf"{_HEAD}(?:[.\-:]{{1,2}}{_PART}){{0,6}}"
_ROMAN = r"(?=[IVXLC]+(?![A-Za-z]))(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?![A-Za-z])"
_LETTER = r"[A-Za-z](?![A-Za-z'’])"
_LETTERED = rf"(?:[A-Za-z]{{1,2}}\d+[A-Za-z]?|{_LETTER})(?:[.\-]\w+)*"
_TABLE_NUMBER = rf"(?:{_LOOSE}(?:\(\d+\))?|{_ROMAN}|{_LETTERED})"
_CONTAINER_NUMBER = rf"(?:{_LOOSE}|{_ROMAN}(?:-[A-Za-z](?![A-Za-z]))?|{_LETTER})"

_WORDS: dict[str, str] = {
    "section": r"§{1,2}|\b(?:sub)?sec(?:tions?|ts?|s)?(?![A-Za-z])\.?|\bsect?ion",
    "table": r"\b(?:tables?|tbl)(?![A-Za-z])\.?",
    "subchapter": r"\bsub(?:chapters?|ch)(?![A-Za-z])\.?",
    "chapter": r"\b(?:chapters?|chapt|chap|ch|chpt)(?![A-Za-z])\.?",
    "article": r"\b(?:articles?|art)(?![A-Za-z])\.?",
    "subtitle": r"\bsubtitles?(?![A-Za-z])",
    "title": r"\b(?:titles?|tit)(?![A-Za-z])\.?",
    "appendix": r"\b(?:appendix|appx|app)(?![A-Za-z])\.?",
    "part": r"\bparts?(?![A-Za-z])",
    "division": r"\b(?:divisions?|div)(?![A-Za-z])\.?",
    "schedule": r"\bschedules?(?![A-Za-z])",
    # Words that stand before a section's number, though they name something else: "Rule 101-06".
    "code": r"\b(?:rules?|regulations?|regs?|codes?|ordinances?|provisions?|statutes?)(?![A-Za-z])\.?",
}
_NUMBERS = {"section": _LOOSE, "code": _LOOSE, "table": _TABLE_NUMBER}
_BETWEEN = r"\s*(?:(?:nos?\.?|numbers?|#)\s*)?[\[({\"“'‘*]?\s*"
_SUB = r"(?P<sub>(?:\s?\((?:[A-Za-z]{1,4}|\d{1,3})\))*)"
_MENTIONS = {
    kind: re.compile(
        rf"(?:{word}){_BETWEEN}(?P<number>{_NUMBERS.get(kind, _CONTAINER_NUMBER)}){_SUB}",
        re.IGNORECASE,
    )
    for kind, word in _WORDS.items()
}
_ALSO = {
    kind: re.compile(
        rf"\s*(?P<to>,?\s*\b(?:to|through|thru|until)\b|-)?"
        rf"(?:\s*(?:,|;|&|/|\band\b|\bor\b|\bversus\b|\bvs\b\.?))*\s*(?:{word})?\s*"
        rf"(?P<number>{{number}}){_SUB}".replace(
            "{number}", _TIGHT if kind in ("section", "code") else numbers
        ),
        re.IGNORECASE,
    )
    for kind, word in _WORDS.items()
    for numbers in [_TABLE_NUMBER if kind == "table" else _CONTAINER_NUMBER]
}
_PLURAL = re.compile(r"(?:§§|[a-z]s\b)", re.IGNORECASE)
# The order of what stands in what; sections and tables stand lowest.
RANKS = {
    unit: rank
    for rank, unit in enumerate(
        ("title", "subtitle", "appendix", "chapter", "subchapter", "article", "part", "division")
        + ("schedule", "section", "table")
    )
}

_BARE = re.compile(rf"(?<![\w.\-:$#/@§])(?P<number>{_LOOSE})(?![\w%]|[/:]\d){_SUB}", re.IGNORECASE)
# Words that stand before a number and are the letters of no code.
_NO_CODE = frozenset(
    [
        *("a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "does"),
        *("for", "from", "has", "have", "if", "in", "into", "is", "it", "its", "me", "my"),
        *("no", "not", "of", "on", "or", "our", "per", "see", "than", "that", "the"),
        *("then", "this", "to", "under", "until", "up", "us", "was", "what", "when"),
        *("where", "which", "who", "will", "with", "would", "you", "your", "about", "feet"),
        *("foot", "inch", "units", "unit", "days", "over", "only", "just", "says", "say"),
        *("read", "show", "explain", "open", "quote", "find", "cite", "part", "parts"),
    ]
)
# "12 DCMR 105", "SZO 3.1": the letters must be those of the code that the section's citation names.
_BY_CODE = re.compile(
    r"(?<![\w.\-])(?=(?P<all>(?:(?P<title>\d{1,3}(?:-?[A-Z])?)\s+)?"
    rf"(?P<code>[A-Za-z](?:\.?[A-Za-z]){{1,6}})\.?\s*,?\s*"
    rf"(?P<number>{_TIGHT}){_SUB}(?![\w%]|[.\-/:]\d)))"
)
_BEFORE_TITLE = re.compile(
    r"(?<![\w.\-])(?P<title>\d{1,3}(?:-?[A-Z])?)\s+(?P<code>[A-Za-z](?:\.?[A-Za-z]){1,5})\.?[\s,]*$"
)
_LOCAL_LAW = re.compile(
    r"\b(?:local\s+laws?|l\.?\s?l\.?)(?=[\s\d#\-.]|no)[\s\-]*(?:(?:nos?\.?|number|#)\s*)?"
    r"(?P<number>\d{1,3})(?!\d|\.\d)"
    r"(?:\s*(?:/|-|,?\s*of(?:\s+the\s+year)?|,?\s*for\s+the\s+year|,|\()\s*"
    r"(?P<year>(?:19|20)?\d\d)(?![\d\-])\)?)?",
    re.IGNORECASE,
)
_LOCAL_LAW_BY_YEAR = re.compile(
    r"\b(?:local\s+laws?|l\.?\s?l\.?)\s*(?:(?:nos?\.?|number|#)\s*)?"
    r"(?P<year>(?:19|20)\d\d)\s*/\s*(?P<number>\d{1,3})(?!\d)",
    re.IGNORECASE,
)
_ENACTED = re.compile(
    r"\b(?P<word>ord(?:inances?|s)?|res(?:olutions?)?)(?![A-Za-z])\.?\s*(?P<no>(?:nos?\b\.?|number|#)\s*)?"
    r"(?P<number>[A-Z]{0,3}-?\d[\w\-]*(?:[/.]\d+)?(?:\s+of\s+(?:19|20)\d\d)?)",
    re.IGNORECASE,
)

# What is no part of this city's law: what other bodies of law are called, right before or after.
_FOREIGN_NAME = (
    r"(?:I\.?(?:B|R|F|P|M|EB|EC|PM|FG|ZC)\.?C\.?|IECC|IEBC|IPMC|IFGC|N\.?E\.?C\.?|NFPA(?:\s+\d+[A-Z]?)?|ASCE(?:\s+7)?"
    r"|ASTM|ANSI|OSHA|ADA|ADAAG|C\.?F\.?R\.?|U\.?S\.?C\.?(?:A\.?)?|CalGreen"
    r"|(?:international|uniform|national|california|virginia|tennessee|new york state|massachusetts"
    r"|missouri|utah)"
    r"\s+(?:[a-z]+\s+){0,4}?codes?"
    r"|(?:penal|vehicle|government|labor|civil|family|internal revenue|(?:public )?health (?:and|&) safety)"
    r"\s+(?:code|law)"
    r"|multiple dwelling law|general municipal law|fair housing act|clean (?:air|water) act|civil rights act"
    r"|rehabilitation act|(?:united states|u\.s\.) (?:constitution|code))"
)
_FOREIGN_BEFORE = re.compile(rf"\b{_FOREIGN_NAME}[\s,'’s]*$", re.IGNORECASE)
_FOREIGN_AFTER = re.compile(
    rf"^[\s,]*(?:\([\w]+\)\s*)*(?:(?:of|in|under|from)\s+)?(?:the\s+)?(?:\d{{4}}\s+)?\b{_FOREIGN_NAME}(?![a-z])",
    re.IGNORECASE,
)
_PROGRAMME = re.compile(
    r"^\s*(?:\(c\)\s*\(3\)|voucher|housing|tenants?|landlords?|rent|apartments?|plans?\b|program|loan)",
    re.IGNORECASE,
)
# What a bare number is, by what stands before and after it.
_OTHER_BEFORE = re.compile(
    r"(?:\b(?:permit|application|app|job|case|docket|form|bin|bbl|lot|block|parcel|apn|invoice|receipt|account"
    r"|acct|phone|tel|telephone|mobile|call|dial|text|fax|zip|model|serial|licen[sc]e|plan|project|file|unit|apt"
    r"|apartment|suite|room|rm|floor|route|rte|hwy|highway|interstate|bill|zone|district|zoned|area|map|sheet"
    r"|drawing|item|grade|version|bus|line|extension|ext|ticket|violation|order|inspection|certificate|contract|po"
    r"|dated?|on|since|until|by|at|from|between|before|after|born|aged?)s?\b\.?\s*"
    r"(?:(?:nos?\b\.?|number|num|id|code|is|was|me|us|them)\s*)*[:#]?|[#$@€£])\s*$",
    re.IGNORECASE,
)
_TIMELY = re.compile(
    r"\b(?:on|since|until|by|at|from|between|before|after|dated?)\s*$", re.IGNORECASE
)
_OTHER_AFTER = re.compile(
    r"^\s*(?:%|°|['’\"”]\s*(?:x|by|tall|high|wide|\d|$)|x\s*\d|(?:by|x)\s+\d|[ap]\.?m\b\.?"
    r"|(?:percent|per\s?cent|feet|foot|ft|inch|inches|in\.|sq|square|acres?|yards?|yds?|meters?|metres?|cm|mm"
    r"|days?|hours?|hrs?|minutes?|weeks?|months?|years?|yrs?|family|families|story|stories|storey|units?|bedrooms?"
    r"|people|persons|dwellings?|dollars?|bucks|cents|degrees|gallons?|psi|amps?|volts?|watts?|kw|lbs?|pounds?|tons?"
    r"|miles?|mph|times?|zones?|districts?|zoning|zoned|lots?|hp|db|dba|decibels|chairs?|car|cars|ratio|scale|grade"
    r"|slope|pitch|rated?|bath|br|ba)\b"
    r"|\w*\s*(?:streets?|st|avenues?|ave|roads?|rd|blvd|boulevard)\b\.?"
    r"|(?-i:(?:[NSEW]\.?\s+)?(?:[A-Z]\w+\s+){1,3}(?:Street|St|Ave|Avenue|Road|Rd|Blvd|Boulevard|Place|Pl|Drive|Dr"
    r"|Lane|Ln|Court|Ct|Broadway|Parkway|Pkwy|Terrace|Highway|Hwy|Way)\b)|broadway\b)",
    re.IGNORECASE,
)
_OTHER_NUMBER = re.compile(
    r"(?:19|20)\d\d[.\- ]\d{1,2}[.\- ]\d{1,2}|\d{1,2}[.\- ]\d{1,2}[.\- ](?:19|20)\d\d"
    r"|(?:19|20)\d\d-(?:19|20)?\d\d"
    r"|(?:\+?1[\-. ])?(?:\(?\d{3}\)?[\-. ])?\d{3}[\-. ]\d{4}|\d{5}-\d{4}|\d{3}-\d\d-\d{4}"
    r"|\d{1,2}:\d\d(?::\d\d)?(?:\s?-\s?\d{1,2}:\d\d)?|24[\-/]7"
)
# Sections of some codes look like these: only the registry tells, and only to the letter.
_DAY_OR_ADDRESS = re.compile(r"\d{1,2}[.\-]\d{1,2}[.\-]\d\d|\d{1,3}(?:\.\d{1,3}){3}")
_OTHER_CODE = re.compile(
    r"\b(?:zip|area|dress|bar|qr|country|promo|access|door|gate|postal|fee|account|dialing|lock|item|project"
    r"|building permit|error)\s+$",
    re.IGNORECASE,
)
# One joint and few digits ("12-2") is a section only in words that ask for one.
_ASKS_BEFORE = re.compile(
    r"(?:^|\b(?:what\s+(?:does|do|is|are|is\s+in)|what['’]?s\s+(?:in|the\s+text\s+of)|whats\s+in|explain|read|show(?:\s+me)?"
    r"|quote|summari[sz]e|(?:text|wording|language|meaning|content|contents)\s+of|open|find|look\s+up|lookup"
    r"|per|under|see|cite|cited|violat(?:e|es|ed|ing)|according\s+to|pursuant\s+to|as\s+per|required\s+by))\s+$",
    re.IGNORECASE,
)
_ASKS_AFTER = re.compile(
    r"^\s*(?:says?|saying|means?|requires?|covers?|provides?|states?|about|regulates?|allows?|prohibits?|applies|apply"
    r"|deals?|in\s+(?:plain|the\s+code|full)|[?.,]|$)",
    re.IGNORECASE,
)
_SUB_BEFORE = re.compile(
    r"\b(?:sub)?(?:paragraphs?|para|sections?|sec|§|subdivisions?|clauses?|items?|subsec)\.?\s+"
    r"\(?[A-Za-z0-9]{1,3}\)?\s+(?:of|in)\s+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One mention of a part of the law in a question."""

    kind: str  # a unit, or LAW
    readings: tuple[str, ...]  # normalised numbers, the likeliest first; the registry decides
    span: Span  # in the question
    firm: bool  # a number of the law whether or not the registry has it
    bare: bool = False  # without a word that says so: in firm ones only near numbers tell
    part: bool = False  # a part of what bears the number is meant: "(a)(2)"
    loose: bool = True  # other joints and leading zeros may be meant
    within: tuple[Part, ...] = ()  # containers that the question names
    code: str = ""  # letters beside the number that may be a code's: "dcmr"
    title: str = ""  # the number before those letters: "12"
    by_code: bool = False  # nothing but those letters says that it is a section's number
    through: str = ""  # the last number of a range that begins here

    @property
    def number(self) -> str:
        """Return the number as it stands there: joints that are no mere blanks."""
        return self.readings[0]


def asked_of(text: str) -> tuple[Asked, ...]:
    """Return the mentions of a question in reading order; containers are also `within` of the rest."""
    plain = _plain(text)
    found: list[Asked] = []
    taken = bytearray(len(plain))
    for asked in [*_laws(plain), *_worded(plain), *_bare(plain), *_by_code(plain)]:
        start, end = asked.span.start, asked.span.end
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            found.append(asked)
    found = sorted((a for a in found if not _foreign(plain, a)), key=lambda a: a.span.start)
    return tuple(_in_context(plain, found))[:MOST]


def _plain(text: str) -> str:
    """Return a text of the same length with plain dashes, blanks and numbers."""
    return _unspelled(text.translate(DASHES).translate(SPACES))


_TENS_WORDS = "|".join(TENS)
_UNIT_WORDS = "|".join(sorted(UNITS[1:], key=len, reverse=True))
_SPELLED = re.compile(
    rf"(?<![A-Za-z])(?:(?P<hundreds>{'|'.join(UNITS[1:10])}) hundred(?: and)? ?)?"
    rf"(?:(?P<tens>{_TENS_WORDS})(?:[ \-](?P<ones>{'|'.join(UNITS[1:10])}))?|(?P<unit>{_UNIT_WORDS}))?"
    r"(?![A-Za-z])",
    re.IGNORECASE,
)
_SPOKEN_NUMBER = re.compile(
    rf"(?:{'|'.join(w for k, w in _WORDS.items() if k != 'code')})\s+"
    rf"(?P<words>(?:(?:{_TENS_WORDS}|{_UNIT_WORDS}|hundred|and|dash|hyphen|point|dot)\b[ \-]?)+)",
    re.IGNORECASE,
)


def _unspelled(text: str) -> str:
    """Return the text with spelled numbers of sections in figures, filled up to the same length."""
    return _SPOKEN_NUMBER.sub(_in_figures, text)


def _in_figures(match: re.Match[str]) -> str:
    words = match["words"]
    figures = _SPELLED.sub(lambda m: str(_value(m)) if m.group() else "", words)
    figures = re.sub(r" ?\b(?:dash|hyphen)\b ?", "-", figures)
    figures = re.sub(r" ?\b(?:point|dot)\b ?", ".", figures)
    if not re.match(r"\d", figures) or len(figures.rstrip()) > len(words):
        return match.group()
    start = match.start("words") - match.start()
    return (
        match.group()[:start]
        + figures.strip().rjust(len(words.rstrip()))
        + words[len(words.rstrip()) :]
    )


def _value(match: re.Match[str]) -> int:
    places = {word: value for value, word in enumerate(UNITS)}
    tens = {word: 10 * value for value, word in enumerate(TENS, start=2)}
    hundreds = 100 * places.get((match["hundreds"] or "").lower(), 0)
    small = places.get((match["unit"] or match["ones"] or "").lower(), 0)
    return hundreds + tens.get((match["tens"] or "").lower(), 0) + small


# ------------------------------------------------------------------ enacted laws


def _laws(text: str) -> Iterator[Asked]:
    for pattern in (_LOCAL_LAW_BY_YEAR, _LOCAL_LAW):
        for match in pattern.finditer(text):
            span = Span(start=match.start(), end=match.end())
            yield Asked(
                kind=LAW,
                readings=tuple(_local_laws(int(match["number"]), match["year"])),
                span=span,
                firm=True,
            )
    for match in _ENACTED.finditer(text):
        number = match["number"].rstrip(".-")
        if match["no"] or re.search(r"\d{4}-\d|\bof\b|/", number):
            word = "resolution" if match["word"][0] in "rR" else "ordinance"
            yield Asked(
                kind=LAW,
                readings=tuple(_enactments(word, number)),
                span=Span(start=match.start(), end=match.start("number") + len(number)),
                firm=True,
            )


def _local_laws(number: int, year: str | None) -> Iterator[str]:
    """Yield the names of a local law; without a year the newest first, as it is the one talked of."""
    if year is None:
        yield from (f"local law {number} of {y}" for y in range(2039, 1949, -1))
        return
    years = [year] if len(year) == 4 else [f"20{year}", f"19{year}"]
    yield from (enactment_of(f"local law {number} of {y}") for y in years)


def _enactments(word: str, number: str) -> Iterator[str]:
    """Yield the ways in which codes cite an ordinance."""
    plain = normalise_number(number)
    for name in (word, word[:3]):
        for between in (" no ", " number ", " "):
            yield f"{name}{between}{plain}"


# ------------------------------------------------------------------ by a word


def _worded(text: str) -> Iterator[Asked]:
    for kind, pattern in _MENTIONS.items():
        listed = 0  # as far as the list of an earlier mention goes
        for match in pattern.finditer(text):
            asked = _mention(kind, match, text) if match.start() >= listed else None
            for one in _listed(kind, text, match, asked) if asked is not None else ():
                listed = one.span.end
                yield one


def _mention(kind: str, match: re.Match[str], text: str) -> Asked | None:
    number = match["number"]
    word = text[match.start() : match.start("number")]
    if kind == "code":
        other = _other(text, match, "number") or _OTHER_CODE.search(_before(text, match.start()))
        if other or not re.search(r"[.\-:]\d|\d{3}", number):
            return None
        kind = "section"
    elif not _meant(kind, number, word, text[match.end("number") :]):
        return None
    readings = _readings(_measured_off(number, text[match.end("number") :]))
    return Asked(
        kind=kind,
        readings=readings,
        span=Span(start=match.start(), end=match.end()),
        firm=_is_firm(kind, readings),
        part=bool(match["sub"]) or _SUB_BEFORE.search(_before(text, match.start())) is not None,
    )


def _is_firm(kind: str, readings: Sequence[str]) -> bool:
    """Tell whether a number that is not there deserves a word: "section 8" is often a programme."""
    if kind == "section":
        return len(readings) > 2 or re.search(r"[.\-:]|\d{3}", readings[-1]) is not None
    return any(c.isdigit() for c in readings[0])


def _meant(kind: str, number: str, word: str, after: str) -> bool:
    """Tell whether a word and a number are a mention, and not "part I did" or "table 4 chairs"."""
    if kind == "section":
        return not (_PROGRAMME.match(after) and number.isdigit())
    if re.search(r"\s", word) is None and not re.search(r"[.#]$", word):
        return False  # "ch15" is one, "art1" none
    if len(number) == 1 and number in "aAiI" and kind not in ("appendix", "schedule"):
        return number.isupper() and (word[0].isupper() or not re.match(r"\s+[a-z]", after))
    if number.isalpha() and kind in ("part", "division", "schedule", "table"):
        return number.isupper() or not re.match(r"\s+[a-z]", after)
    return _OTHER_AFTER.match(after) is None


def _measured_off(number: str, after: str) -> str:
    """Return a number without a last part that is a measure: "24-4432 3" before "feet"."""
    return re.sub(r" \w+$", "", number) if _OTHER_AFTER.match(after) else number


def _readings(written: str) -> tuple[str, ...]:
    """Return the readings of a loosely written number: whole, and cut at each blank, from the end."""
    whole = re.sub(r" (?:dash|hyphen) ", "-", written, flags=re.IGNORECASE)
    whole = re.sub(r" (?:point|dot|period) ", ".", whole, flags=re.IGNORECASE)
    cuts = [m.start() for m in re.finditer(r" ?[.\-:]{0,2} ", whole)]
    kept = [whole, *(whole[:cut] for cut in reversed(cuts))]
    numbers = [_with_blanks(re.sub(r" ?([.\-:]+) ?", r"\1", k)) for k in kept]
    return tuple(dict.fromkeys(n for n in numbers if n)) or (normalise_number(written),)


def _with_blanks(number: str) -> str:
    """Return a normalised number that keeps the blanks between its parts: it is no one's to the letter."""
    return " ".join(normalise_number(part) for part in number.split())


def _listed(kind: str, text: str, match: re.Match[str], first: Asked) -> Iterator[Asked]:
    """Yield a mention and the further numbers of its list: "Sections 12-1, 12-2 and 12-5"."""
    plural = _PLURAL.search(text[match.start() : match.start("number")]) is not None
    last, position = first, match.end()
    while (also := _ALSO[kind].match(text, position)) and also.end() > position:
        gap = text[position : also.start("number")]
        jointed = re.search(r"\d[.\-:]\w", also["number"]) is not None
        apart = re.search(r"[,;&/\-]|[a-z§]", gap, re.IGNORECASE)
        if not apart or not (plural or jointed) or _OTHER_AFTER.match(text[also.end("number") :]):
            break
        further = replace(
            first,
            readings=(normalise_number(also["number"]),),
            span=Span(start=also.start("number"), end=also.end()),
            part=bool(also["sub"]),
        )
        yield replace(last, through=further.number) if also["to"] else last
        last, position = further, also.end()
    yield from _range_in_one(last)


def _range_in_one(asked: Asked) -> Iterator[Asked]:
    """Yield both ends of "28-105.1-28-105.4", which reads like one number."""
    parts = re.split(r"([.\-:]+)", asked.number)
    half = len(parts) // 2
    if len(parts) >= 7 and parts[half] == "-" and parts[0] == parts[half + 1]:
        first, last = "".join(parts[:half]), "".join(parts[half + 1 :])
        yield replace(asked, readings=(*asked.readings, first), through=last)
    else:
        yield asked


# ------------------------------------------------------------------ by the code's letters, or bare


def _by_code(text: str) -> Iterator[Asked]:
    found = sorted(_BY_CODE.finditer(text), key=lambda m: (m["title"] is None, m.start()))
    for match in found:
        code = match["code"].replace(".", "").lower()
        if code not in _NO_CODE and not _other(text, match, "number"):
            yield Asked(
                kind="section",
                readings=(normalise_number(match["number"]),),
                span=Span(start=match.start(), end=match.end("all")),
                firm=False,
                part=bool(match["sub"]),
                code=code,
                title=(match["title"] or "").lower(),
                by_code=True,
            )


def _bare(text: str) -> Iterator[Asked]:
    alone = re.fullmatch(rf"\W*(?P<number>{_LOOSE}){_SUB}\W*", text, re.IGNORECASE)
    for match in (
        [alone] if alone and not _is_other_number(alone["number"]) else _BARE.finditer(text)
    ):
        asked = _bare_mention(text, match, alone=alone is not None)
        if asked is not None:
            yield from _range_in_one(asked)


def _bare_mention(text: str, match: re.Match[str], *, alone: bool) -> Asked | None:
    number, start, end = match["number"], match.start("number"), match.end("number")
    readings = _readings(_measured_off(number, text[end:]))
    tight = readings[-1]
    span = Span(start=start, end=match.end())
    part = bool(match["sub"]) or _SUB_BEFORE.search(_before(text, start)) is not None
    common = Asked(kind="section", readings=readings, span=span, firm=False, part=part, bare=True)
    if alone:
        return replace(common, bare=False, firm=_is_firm("section", readings))
    before, after = _before(text, start), text[end:]
    if _means_other(number, before, after, alone=len(readings) == 1):
        return None
    asks = _ASKS_BEFORE.search(before) and _ASKS_AFTER.match(text[match.end() :])
    if is_compound(tight) and not _DAY_OR_ADDRESS.fullmatch(number):
        return replace(common, firm=True)
    if len(readings) > 2 or (len(readings) == 2 and asks and re.search(r"[. ]", readings[0])):
        return replace(common, readings=readings[:1])  # "15 04 020": all of it or nothing
    exact = asks and re.search(r"[.\-:]", tight)
    return replace(common, loose=False) if exact or _DAY_OR_ADDRESS.fullmatch(number) else None


def _before(text: str, at: int) -> str:
    """Return what stands just before a place; a question of thousands of numbers is no reason to wait."""
    return text[max(0, at - NEAR) : at]


def _means_other(number: str, before: str, after: str, *, alone: bool) -> bool:
    """Tell whether a bare number is a date, a price, a measure, an address, the number of a form."""
    timely = _TIMELY.search(before) is not None
    compound = is_compound(number) and not _DAY_OR_ADDRESS.fullmatch(number)
    return bool(
        _is_other_number(number)
        or (alone and _OTHER_AFTER.match(after))
        or (_OTHER_BEFORE.search(before) and not (timely and compound))
    )


def _is_other_number(number: str) -> bool:
    return _OTHER_NUMBER.fullmatch(number) is not None


def _other(text: str, match: re.Match[str], group: str) -> bool:
    number = match[group]
    return _is_other_number(number) or _OTHER_AFTER.match(text[match.end(group) :]) is not None


# ------------------------------------------------------------------ in its sentence


def _foreign(text: str, asked: Asked) -> bool:
    """Tell whether the number is one of another body's law: "IBC section 1004", "42 CFR 35.151"."""
    before, after = _before(text, asked.span.start), text[asked.span.end :]
    if asked.code and re.fullmatch(_FOREIGN_NAME, asked.code, re.IGNORECASE):
        return True
    return bool(_FOREIGN_BEFORE.search(before) or _FOREIGN_AFTER.match(after))


def _in_context(text: str, found: Sequence[Asked]) -> Iterator[Asked]:
    """Yield the mentions with the containers that the question names and that can hold them."""
    containers = [
        (RANKS[a.kind], Part(unit=a.kind, number=a.number))
        for a in found
        if a.kind not in (LAW, "section", "table")
    ]
    for asked in found:
        if asked.kind == LAW:
            yield asked
            continue
        rank = RANKS[asked.kind]
        over = [part for r, part in containers if r < rank]
        yield replace(_with_code(text, asked), within=tuple(dict.fromkeys(over)))


def _with_code(text: str, asked: Asked) -> Asked:
    """Return a mention with the title and letters that stand before it: "12 DCMR § 105"."""
    before = _BEFORE_TITLE.search(text[: asked.span.start])
    if before is None or asked.code or before["code"].lower() in _NO_CODE:
        return asked
    code = before["code"].replace(".", "").lower()
    return replace(asked, code=code, title=before["title"].lower())


def targets(found: Sequence[Asked]) -> tuple[Asked, ...]:
    """Return what a question is about: not the containers that only say where something stands."""
    lowest = max((RANKS[a.kind] for a in found if a.kind in RANKS), default=0)
    return tuple(a for a in found if a.kind == LAW or RANKS[a.kind] == lowest or _apart(a, found))


def _apart(asked: Asked, found: Sequence[Asked]) -> bool:
    return not any(Part(unit=asked.kind, number=asked.number) in a.within for a in found)


# ------------------------------------------------------------------ numbers to look up


def roman_value(numeral: str) -> int | None:
    """Return the value of a Roman numeral below 90, in either case; None if it is none."""
    if not re.fullmatch(_ROMAN, numeral.upper()) or not numeral:
        return None
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[c] for c in numeral.lower()]
    return sum(-v if v < after else v for v, after in pairwise([*values, 0]))


def roman(value: int) -> str:
    """Return the Roman numeral of 1 to 89 in lower case."""
    tens = ("", "x", "xx", "xxx", "xl", "l", "lx", "lxx", "lxxx")[value // 10]
    return tens + ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")[value % 10]


def container_keys(number: str) -> tuple[str, ...]:
    """Return the keys of a container's number in both kinds of figures: "iv" and "4"."""
    key = number_key(number)
    if key.isdigit() and 0 < int(key) < 90:
        return key, roman(int(key))
    value = roman_value(key)
    return (key,) if value is None else (key, str(value))


def keys_of(asked: Asked) -> tuple[str, ...]:
    """Return the keys under which a mention may be registered, the likeliest first."""
    own: Iterable[str] = (number_key(r) for r in asked.readings)
    if asked.kind not in (LAW, "section"):
        own = (key for r in asked.readings for key in container_keys(r))
    keys = list(own)
    if asked.kind != LAW:
        keys += composed_keys(asked)
    return tuple(dict.fromkeys(k for k in keys if k))


def composed_keys(asked: Asked) -> list[str]:
    """Return the keys of a number put together with its containers': 105.9 of title 28."""
    return [
        f"{over}.{number_key(reading)}"
        for part in reversed(asked.within)
        for over in container_keys(part.number)
        for reading in asked.readings
    ]

"""Every mention of a numbered part of the law in law text, each with its span.

Pure: text in, mentions out, in one pass.  It reads what is written ("Chapter 5 of
Title 17", "this article", "Va. Code § 15.2-2200", "Ord. No. 12-4, § 1"); which
section that is, and whether it exists, `resolution` decides.

The text is cut into tokens (a unit with its numbers, a "this chapter", the name of
a law, an ordinance), and tokens that words like "of" join become one phrase.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from appliance.corpus import number_words
from appliance.corpus.law_names import (
    ENACTED,
    ENACTED_FEDERAL,
    NAME,
    NOT_INITIALS,
    Body,
    body_of,
)
from appliance.corpus.references import (
    DASHES,
    NUMBER,
    is_compound,
    normalise_number,
    normalise_whole,
)
from appliance.domain import Mention, Part, Section, Span

# The units of codes, the widest first: a narrower one may follow a wider one after a comma.
UNITS = (
    "title",
    "subtitle",
    "chapter",
    "subchapter",
    "article",
    "part",
    "subpart",
    "division",
    "unit",
    "appendix",
    "section",
)
_SHORT_UNITS = {
    "§": "section",
    "§§": "section",
    "sec": "section",
    "secs": "section",
    "ch": "chapter",
    "chs": "chapter",
    "chap": "chapter",
    "c": "chapter",
    "art": "article",
    "arts": "article",
    "pt": "part",
    "div": "division",
    "tit": "title",
    "app": "appendix",
    "appendice": "appendix",
    "appendixe": "appendix",
}
# "chapter four of this title", "title twenty-eight"; hundreds are chapters of a state's session laws.
_WORD_NUMBERS = {word: n for n, word in enumerate(number_words.UNITS) if n}
_WORD_NUMBERS |= {ten: 10 * n for n, ten in enumerate(number_words.TENS, start=2)}
_WORD_NUMBERS |= {
    f"{ten}-{one}": 10 * n + m
    for n, ten in enumerate(number_words.TENS, start=2)
    for m, one in enumerate(number_words.UNITS[1:10], start=1)
}

_STEPS = {
    "preceding": "preceding",
    "previous": "preceding",
    "foregoing": "preceding",
    "following": "following",
    "next": "following",
    "succeeding": "following",
}
_RELATIVE = (
    r"(?i:(?:sub)?(?:title|chapter|part|section|paragraph)|article|division|appendix"
    r"|code|ordinance|regulation|act|compact|agreement|local\s+law)"
)
_CONTAINERS = (
    r"(?i:(?:sub)?titles?|(?:sub)?chapters?|articles?|(?:sub)?parts?|divisions?|units?)"
    r"|(?i:append(?:ix|ices|ixes))|(?:[Cc]haps?|[Cc]hs?|[Aa]rts?|[Dd]iv|[Tt]it|c)\."
)
_WORDS = "|".join(sorted(_WORD_NUMBERS, key=len, reverse=True))
_PLAIN = (
    rf"(?:\d+[A-Z]{{0,2}}\b(?:[.\-:]\d+[A-Za-z]?\b)*|(?i:{_WORDS})\b(?!-?[a-z]|[\s-]+hundred))(?:-[A-Z]\b)?"
    r"|[IVXLC]+(?:-[A-Z]+)?\b|[A-Z]{1,3}(?:-\d+)?\b"
)
# "§ 226-b" of a state's law; in a city's code the letter names a paragraph.
_SECTION = rf"{NUMBER}(?:-[a-z]\b)?"
_PIN = r"(?:\s?\([A-Za-z0-9]{1,5}(?:-\d+)?\))"  # "(b)(2)", "(a-1)"
_TABLE_NUMBER = rf"(?:{NUMBER}|[IVX]+\b|[A-Z]\d*(?:[.\-]\d+)*\b)"
_SMALL = r"sub-?sections?|(?:sub-?){0,2}paragraphs?|(?:sub)?clauses?|(?:sub-?)?divisions?|items?"
_SMALL_NUMBER = rf"(?:{_PIN}+|(?:[a-z]|\d{{1,2}}|[A-Z])\b)"

# A token begins at the beginning of a word, which saves five of six tries; only "§" may follow one.
_TOKEN = re.compile(
    rf"(?P<sign>§{{1,2}})\s*\[?(?P<signed>{_SECTION})|(?<!\w)(?:"
    + "|".join(
        (
            rf"(?P<section>(?i:sections?|secs?\b\.?))\s*\[?(?P<section_number>{_SECTION})",
            rf"(?P<enacted>{ENACTED})",
            rf"(?P<congress>{ENACTED_FEDERAL})",
            rf"(?P<relative>(?i:this|the\s+(?P<step>{'|'.join(_STEPS)}))\s+(?P<relative_unit>{_RELATIVE})\b)",
            rf"(?P<table>(?i:tables?))\s+(?:(?i:no)\.\s*)?(?P<table_number>{_TABLE_NUMBER})",
            rf"(?P<small>(?i:{_SMALL}))\s*(?P<small_number>{_SMALL_NUMBER})",
            rf"(?P<container>{_CONTAINERS})\s+(?P<container_number>{_PLAIN})",
            NAME,
        )
    )
    + ")"
)
# Between the numbers of one list: "12-1, 12-2 and 12-5 through 12-9".
_REMARK = r"(?:\s*(?:\[[^\[\]\n]{1,60}\]|\([^()\n]{6,100}\)))?"  # "[repealed]", "(arson)"
_AND = r"\s*(?:(?:,|;)\s*)?(?:(?i:and|or|to|through|thru|and/or)\b|&|-)?\s*"
_NEXT_SECTION = re.compile(rf"{_REMARK}{_AND}(?:§{{1,2}}\s*)?(?P<number>{NUMBER})")
_NEXT_CONTAINER = re.compile(rf"{_AND}(?P<number>{_PLAIN})")
# "(a)(2), (b) and (c)"; a semicolon or a new line begins another thought.
_PINS = re.compile(rf"{_PIN}*(?:[ \t]*(?:,[ \t]*)?(?:(?i:and|or|to|through)\b)?[ \t]*{_PIN}+)*")
_SEPARATED = re.compile(r"[,;&\-]|\b(?:and|or|to|through|thru)\b", re.IGNORECASE)

# What joins two tokens to one phrase.
_OF = re.compile(
    r"\)?\s*,?\s*(?:(?:of|in|under|to|from)\s+)(?:the\s+|said\s+|such\s+)?", re.IGNORECASE
)
# "Part 1 (commencing with Section 6001) of Division 2": where a part begins is not what is meant.
_COMMENCING = re.compile(r"\s*\((?:commencing|beginning)\s+(?:with|at)\s+", re.IGNORECASE)
_COMMA = re.compile(r"\s*,?\s*")
# "of the New York city administrative code": the words of a name before the word that it ends in.
_OF_NAME = re.compile(
    r"\s*,?\s*(?:of|in|under)\s+(?P<words>(?:(?:the|said|such|that|our|an?)\s+)?(?:[\w.&'’\-/]{1,40},?\s+){0,14})",
    re.IGNORECASE,
)
# "Title 12, United States Code"
_OF_CODE = re.compile(r"Code|Regulations|Statutes|Laws")
_COMMA_NAME = re.compile(
    r"\s*,\s*(?:the\s+)?(?P<words>(?:[A-Z][\w.]{0,30}\s+(?:of\s+(?:the\s+)?)?){0,6})"
)
_NOT_IN_A_NAME = re.compile(
    r"\b(?:shall|must|may|which|who|is|are|was|be|been|by|with|if|when|where|until|not|any|all|no|as"
    r"|provided|pursuant|applicable|comply|compliance|subject|section|permit)\b|[.;:]\s+[A-Z][a-z]+\s|\bthe\b.*\bthe\b.*\bthe\b",
    re.IGNORECASE,
)
# From the name of a law to the number that follows it: "Code of Virginia (1950), as amended, § …".
_AFTER_NAME = re.compile(
    r"(?:,?\s*\(\d{4}\))?,?\s*(?:(?i:as\s+amended)\b,?\s*|(?i:Ann(?:otated)?)\b\.?,?\s*)*[,:(\[]?\s*(?:at\s+)?"
)
_BARE_AFTER_NAME = re.compile(rf"[,\s]*(?P<number>{NUMBER})(?!\s*(?:U\.?S|C\.?F\.?R|RCNY|DCMR))")
_LONGEST_NAME = 160  # code points
_BEFORE_NAME = 70  # code points in which the words of a name are looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    """A stretch of text that means one thing."""

    what: str  # unit | small | relative | name | enacted | congress
    span: Span
    unit: str = ""
    numbers: tuple[tuple[str, Span], ...] = ()


def mentions_in(text: str) -> list[Mention]:
    """Return the mentions of a text in reading order; none reaches into another."""
    plain = text.translate(DASHES)
    tokens = list(_tokens(plain))
    mentions: list[Mention] = []
    position = 0
    while position < len(tokens):
        taken, found = _phrase(plain, tokens, position, mentions)
        mentions += found
        position += taken
    return mentions


def mentions_of(body: str, sections: Sequence[Section]) -> Iterator[tuple[int, Mention]]:
    """Yield what each section of a document mentions, with its position; spans are in the body."""
    for position, section in enumerate(sections):
        for mention in mentions_in(section.span.of(body)):
            yield position, replace(mention, span=mention.span.shifted(section.span.start))


# ------------------------------------------------------------------ tokens


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while match := _TOKEN.search(text, position):
        token = _token(text, match)
        position = match.end() if token is None else max(token.span.end, match.start() + 1)
        if token is not None:
            yield token


def _token(text: str, match: re.Match[str]) -> _Token | None:
    """Return the token that a match is; None if it only looks like one."""
    for group, read in _READERS.items():
        if match[group]:
            return read(text, match)
    raise AssertionError(f"no reader for {match.group()!r}")  # each branch of _TOKEN has a group


def _read_enacted(_: str, match: re.Match[str]) -> _Token:
    return _Token(what="enacted", span=_span(match))


def _read_congress(_: str, match: re.Match[str]) -> _Token:
    return _Token(what="congress", span=_span(match))


def _read_relative(_: str, match: re.Match[str]) -> _Token:
    step = _STEPS.get((match["step"] or "").casefold(), "")
    unit = " ".join(match["relative_unit"].casefold().split())
    return _Token(what="relative", span=_span(match), unit=unit, numbers=((step, _span(match)),))


def _read_section(text: str, match: re.Match[str]) -> _Token:
    group = "signed" if match["sign"] else "section_number"
    return _listed(text, match, "section", group, _NEXT_SECTION)


def _read_table(text: str, match: re.Match[str]) -> _Token:
    return _listed(text, match, "table", "table_number", None)


def _read_small(text: str, match: re.Match[str]) -> _Token:
    end = _after_pins(text, match.end(), "section")
    return _Token(what="small", span=Span(start=match.start(), end=end))


def _read_container(text: str, match: re.Match[str]) -> _Token | None:
    unit, number = _unit(match["container"]), match["container_number"]
    # "dwelling unit 0.50", "ACCESSORY UNIT A dwelling": a unit of a code is lettered, and of one.
    lettered = number.isupper() and text.startswith(" of ", match.end())
    if number.casefold() in _NOT_NUMBERS or (unit == "unit" and not lettered):
        return None
    return _listed(text, match, unit, "container_number", _NEXT_CONTAINER)


def _read_initials(_: str, match: re.Match[str]) -> _Token | None:
    if not match["title"] and match["initials"].strip(".") in NOT_INITIALS:
        return None
    return _Token(what="name", span=_span(match), unit="initials")


def _read_name(_: str, match: re.Match[str]) -> _Token:
    return _Token(what="name", span=_span(match), unit="name")


def _span(match: re.Match[str]) -> Span:
    return Span(start=match.start(), end=match.end())


_READERS: dict[str, Callable[[str, re.Match[str]], _Token | None]] = {
    "sign": _read_section,
    "section": _read_section,
    "enacted": _read_enacted,
    "congress": _read_congress,
    "relative": _read_relative,
    "table": _read_table,
    "small": _read_small,
    "container": _read_container,
    "initials": _read_initials,
    "name": _read_name,
}
# "Part A", but not "part OF" in a heading in capitals.
_NOT_NUMBERS = frozenset(
    {"of", "or", "and", "the", "in", "is", "to", "by", "for", "on", "as", "at", "no", "if", "an"}
)


def _unit(word: str) -> str:
    plain = word.casefold().rstrip(".").removesuffix("s")
    return _SHORT_UNITS.get(plain, plain)


def _listed(
    text: str, match: re.Match[str], unit: str, group: str, following: re.Pattern[str] | None
) -> _Token:
    """Return a unit with its number and those that a list adds: "§§ 12-1, 12-2(a) and 12-5"."""
    end = _after_pins(text, match.end(), unit)
    numbers = [(_number(match[group]), Span(start=match.start(), end=end))]
    while (
        following
        and (more := following.match(text, end))
        and _goes_on(text, more, unit, match[group])
    ):
        end = _after_pins(text, more.end(), unit)
        numbers.append((_number(more["number"]), Span(start=more.start("number"), end=end)))
    return _Token(
        what="unit",
        span=Span(start=match.start(), end=end),
        unit=unit,
        numbers=tuple(numbers),
    )


def _number(written: str) -> str:
    plain = normalise_number(written)
    word, letter = (plain[:-2], plain[-2:]) if plain[-2:-1] == "-" else (plain, "")
    return f"{_WORD_NUMBERS[word]}{letter}" if word in _WORD_NUMBERS else plain


def _after_pins(text: str, position: int, unit: str) -> int:
    if unit not in ("section", "table"):
        return position
    pins = _PINS.match(text, position)
    return pins.end() if pins else position


def _goes_on(text: str, more: re.Match[str], unit: str, first: str) -> bool:
    """Tell whether what follows is one more number of the list, not a date or an amount."""
    between = text[more.start() : more.start("number")]
    if not _SEPARATED.search(between):
        return False
    number = more["number"]
    if unit == "section":
        return _alike(number, first) and not _NO_SECTION.match(text, more.start("number"))
    if number.casefold() in _NOT_NUMBERS:
        return False
    return number.isdigit() == first.isdigit() and number[0].isalpha() == first[0].isalpha()


# A date, an amount, or the volume of another reporter ("§ 1983; 24 CFR 100").
_NO_SECTION = re.compile(
    r"\d{1,2}-\d{1,2}-(?:\d{2}|\d{4})\b|(?:1[89]|20)\d\d\b"
    r"|\d+\s*(?:feet|ft\b|percent|%|days|years|square|[A-Z]{3,}\b|U\.|C\.|Stat|Fed|F\.R)"
)


def _alike(number: str, first: str) -> bool:
    """Tell whether two numbers can be of one list: "12-1" and "12-2.5", not "12-1" and "30"."""
    joints, others = set(re.findall(r"[.\-:]", number)), set(re.findall(r"[.\-:]", first))
    long = all(re.match(r"\d{3}", n) for n in (number, first))  # "6366 and 6366.1"
    return bool(joints & others) or joints == others or long


# ------------------------------------------------------------------ phrases


def _phrase(
    text: str, tokens: Sequence[_Token], position: int, before: Sequence[Mention]
) -> tuple[int, list[Mention]]:
    """Return how many tokens one phrase takes, and its mentions."""
    first = tokens[position]
    if first.what == "name":
        return _named(text, tokens, position)
    if first.what in ("enacted", "congress"):
        return _enacted(text, tokens, position)
    if text.startswith("c.", first.span.start):
        return 1, []  # a chapter only behind the name of a law: "M.G.L. c. 40A"
    end, chain, named = _chain(text, tokens, position)
    law = named.of(text) if named else ""
    if not law and chain[0].what == "unit":
        law = _inherited(text, chain[0], before)
    return end - position, _mentions(chain, law, named)


def _chain(
    text: str, tokens: Sequence[_Token], position: int
) -> tuple[int, list[_Token], Span | None]:
    """Follow "… of … of …" and "Title 17, Chapter 5" from a token on; the narrowest comes first.

    Returns where the next phrase begins, the tokens, and the span of the law's name if they end in one.
    """
    chain = [tokens[position]]
    end = position + 1
    while end < len(tokens):
        last, following = tokens[end - 1], tokens[end]
        if following.what == "name":
            if last.what == "relative":
                return end, chain, None
            name = _name_after_of(text, last, following)
            return (end + 1, chain, name) if name else (end, chain, None)
        if _fits(_COMMENCING, text, last.span.end, following.span.start):
            end += 1
            continue
        of = _fits(_OF, text, last.span.end, following.span.start)
        if following.what in ("enacted", "congress"):
            return (end + 1, chain, following.span) if of else (end, chain, None)
        if of:
            chain.append(following)
        elif _narrows(last, following) and _fits(_COMMA, text, last.span.end, following.span.start):
            chain.insert(0, following)
        else:
            return end, chain, None
        end += 1
    return end, chain, None


def _fits(pattern: re.Pattern[str], text: str, start: int, end: int) -> bool:
    return end - start <= 40 and pattern.fullmatch(text, start, end) is not None


def _narrows(wide: _Token, narrow: _Token) -> bool:
    """Tell whether "Title 17, Chapter 5" can be read as one: a wider unit, then a narrower one."""
    return (
        wide.what == narrow.what == "unit"
        and wide.unit in UNITS
        and narrow.unit in UNITS
        and len(wide.numbers) == 1
        and UNITS.index(wide.unit) < UNITS.index(narrow.unit)
    )


def _name_after_of(text: str, last: _Token, name: _Token) -> Span | None:
    """Return the span of the name in "… of the New York city charter", None if it is not one."""
    start = last.span.end
    if name.span.start - start > _LONGEST_NAME:
        return None
    match = _OF_NAME.fullmatch(text, start, name.span.start)
    if match is None and last.unit in UNITS[:-1] and _OF_CODE.match(name.span.of(text)):
        match = _COMMA_NAME.fullmatch(text, start, name.span.start)
    if match is None or _NOT_IN_A_NAME.search(match["words"]):
        return None
    written = text[match.start("words") : name.span.end]
    if name.unit == "initials" and not text[start : match.start("words")].strip(" ,").startswith(
        "of"
    ):
        return None  # "Section 10.11 in NER": a place on a map
    if written.islower() and not re.match(r"(?:the|said|such|that|our)\s", written):
        return None  # "to act", "in plan"
    return Span(start=match.start("words"), end=name.span.end)


def _named(text: str, tokens: Sequence[_Token], position: int) -> tuple[int, list[Mention]]:
    """Read what follows the name of a law: "Va. Code § 15.2-2200", "SDCL 11-4"."""
    name = tokens[position]
    if position + 1 < len(tokens) and tokens[position + 1].what in ("unit", "small"):
        following = tokens[position + 1]
        if _fits(_AFTER_NAME, text, name.span.end, following.span.start) and _is_name(
            text, name, following
        ):
            end, chain, _ = _chain(text, tokens, position + 1)
            own = _name_before(text, name)
            return end - position, _mentions(chain, own.of(text), own)
    bare = _BARE_AFTER_NAME.match(text, name.span.end)
    if bare and _takes_bare(text, name, bare["number"]):
        own = _name_before(text, name)
        end = _after_pins(text, bare.end(), "section")
        token = _Token(
            what="unit",
            span=Span(start=bare.start("number"), end=end),
            unit="section",
            numbers=((_number(bare["number"]), Span(start=bare.start("number"), end=end)),),
        )
        inside = 1
        while position + inside < len(tokens) and tokens[position + inside].span.start < end:
            inside += 1
        return inside, _mentions([token], own.of(text), own)
    return 1, []


def _is_name(text: str, name: _Token, following: _Token) -> bool:
    """Initials alone are a law's name only before a sign of a section: "MDL § 4", not "PER Section 4"."""
    written = name.span.of(text)
    aside = re.search(r"[(\[]", text[name.span.end : following.span.start])
    if aside and body_of(written) in (Body.NAMED, Body.ACT):
        return (
            False  # "the Retirement Act (§ 5-701 …)": where it is codified, not whose number it is
        )
    if name.unit != "initials" or not written.isalpha():
        return True
    return text[following.span.start] == "§" or body_of(name.span.of(text)) is not Body.NAMED


def _takes_bare(text: str, name: _Token, number: str) -> bool:
    written = name.span.of(text)
    if name.unit == "initials":
        return written[0].isdigit() or body_of(written) is not Body.NAMED or is_compound(number)
    if not written.casefold().startswith("code"):
        return False
    of_state = body_of(_name_before(text, name).of(text)) is Body.STATE
    return is_compound(number) or (of_state and re.search(r"\d[.\-]\d", number) is not None)


def _name_before(text: str, name: _Token) -> Span:
    """Return the span of a whole name: the word that it ends in, and the capitalised ones before it."""
    if name.unit == "initials":
        return name.span
    start = name.span.start
    line = text[max(0, start - _BEFORE_NAME) : start]
    for match in reversed(list(re.finditer(r"[^\s()\[\];:]+\s+", line))):
        word = match.group().strip()
        if match.end() != len(line) - (name.span.start - start) or not _in_name(word):
            break
        start -= len(match.group())
    while small := re.match(r"(?:of|and|the|&|See|see|by)\s+", text[start : name.span.start]):
        start += small.end()
    return Span(start=start, end=name.span.end)


def _in_name(word: str) -> bool:
    if word.endswith(",") or word.isdigit():
        return False
    if word.casefold() in ("of", "and", "the", "&", "prior", "former", "old", "previous"):
        return True
    return word[0].isupper() and not (word.endswith(".") and len(word) > 6)


def _enacted(text: str, tokens: Sequence[_Token], position: int) -> tuple[int, list[Mention]]:
    """Read an ordinance and the sections of it that are named with it: "Ord. No. 12-4, § 1"."""
    token = tokens[position]
    end, taken = token.span.end, 1
    while position + taken < len(tokens):
        following = tokens[position + taken]
        if following.what != "unit" or not _fits(_OF_ORDINANCE, text, end, following.span.start):
            break
        end, taken = following.span.end, taken + 1
    number = " ".join(token.span.of(text).split())
    return taken, [
        Mention(
            kind="federal" if token.what == "congress" else "ordinance",
            unit="ordinance",
            number=normalise_whole(number),
            span=Span(start=token.span.start, end=end),
            law=number,
        )
    ]


_OF_ORDINANCE = re.compile(r"[ \t]*,?[ \t]*(?:and|&)?[ \t]*\(?", re.IGNORECASE)


def _inherited(text: str, token: _Token, before: Sequence[Mention]) -> str:
    """Return the law of the mention just before: "42 U.S.C. § 1 and § 2" names one law."""
    if not before or not before[-1].law or before[-1].kind == "ordinance":
        return ""
    if before[-1].unit != token.unit or not _alike(token.numbers[0][0], before[-1].number):
        return ""  # "18 U.S.C. § 922(g) and § 22-4501": the second is of another law
    gap = text[before[-1].span.end : token.span.start]
    return before[-1].law if len(gap) <= 12 and _JUST_AND.fullmatch(gap) else ""


_JUST_AND = re.compile(
    r"\s*(?:et\s+seq\.?)?\s*[,;(\[]?\s*(?:and|or|through|to|&)?\s*", re.IGNORECASE
)


def _mentions(chain: Sequence[_Token], law: str, named: Span | None = None) -> list[Mention]:
    """Return what a phrase mentions: its narrowest unit, within all the wider ones."""
    at = next((i for i, t in enumerate(chain) if t.what in ("unit", "relative")), None)
    spans = [t.span for t in chain] + ([named] if named else [])
    whole = Span(start=min(s.start for s in spans), end=max(s.end for s in spans))
    if at is None:
        return [_of_law(Mention(kind="relative", unit="section", number="", span=whole, law=law))]
    head = chain[at]
    within = tuple(
        Part(unit=t.unit, number=t.numbers[0][0])
        for t in chain[at + 1 :]
        if t.what in ("unit", "relative")
    )
    found = [
        Mention(kind=head.unit, unit=head.unit, number=number, span=span, within=within, law=law)
        for number, span in head.numbers
    ]
    if len(found) == 1:
        found = [replace(found[0], span=whole)]
    if head.what == "relative":
        found = [replace(m, kind="relative") for m in found]
    return [_of_law(m) for m in found]


def _of_law(mention: Mention) -> Mention:
    """Give a mention the kind of the law that it names."""
    if not mention.law:
        return mention
    if _ENACTED.match(mention.law):
        return replace(mention, kind="ordinance")
    if _CONGRESS.match(mention.law):
        return replace(mention, kind="federal")
    body = body_of(mention.law)
    return mention if body is Body.NAMED else replace(mention, kind=body.value)


_ENACTED = re.compile(ENACTED)
_CONGRESS = re.compile(ENACTED_FEDERAL)

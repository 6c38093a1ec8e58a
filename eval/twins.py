"""Twins of a question that ask something else, and rephrasings that ask the same.  Pure.

What a cache of answers is measured by: a twin that gets the question's answer is a wrong answer, a
rephrasing that does not is lost time.  Both are made by general rules of English over any question;
each rule is tried on every question and gives nothing where it does not apply.  The rules know
nothing of how the cache compares questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A question made from another one."""

    kind: str  # which rule made it: "digit", "negation", …; "politeness", "clauses", …
    text: str


Rule = Callable[[str], Iterable[str]]


def twins(question: str) -> Iterator[Variant]:
    """Yield questions that differ from this one in what they ask, each text once."""
    yield from _made(question, _TWINS)


def rephrasings(question: str) -> Iterator[Variant]:
    """Yield other ways to ask this question, each text once."""
    yield from _made(question, _REPHRASINGS)


def _made(question: str, rules: Iterable[tuple[str, Rule]]) -> Iterator[Variant]:
    seen = {question}
    for kind, rule in rules:
        for text in rule(question):
            if text not in seen:
                seen.add(text)
                yield Variant(kind=kind, text=text)


def _replaced(question: str, pattern: str, by: str | Callable[[re.Match[str]], str]) -> list[str]:
    """Return the question with each match of the pattern replaced, one at a time."""
    found = []
    for match in _compiled(pattern).finditer(question):
        new = match.expand(by) if isinstance(by, str) else by(match)
        if match[0][:1].isupper():
            new = new[:1].upper() + new[1:]
        found.append(question[: match.start()] + new + question[match.end() :])
    return found


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)  # there are more rules than `re` itself remembers


def _swaps(question: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the question with one word of a pair put in the place of the other."""
    small = question.lower()
    for pair in pairs:
        for old, new in (pair, pair[::-1]):
            if old in small:  # quicker than its pattern, and mostly not
                yield from _replaced(question, rf"\b{re.escape(old)}\b", new)


# ------------------------------------------------------------------ twins: numbers and units

_WORDS = "two three four five six seven eight nine ten twelve fifteen twenty thirty".split()  # noqa: SIM905


def _other_digits(question: str) -> Iterator[str]:
    number = r"\d+(?:[.,]\d+)*"
    yield from _replaced(question, number, lambda m: _last_digit(m[0], 1))
    yield from _replaced(question, number, lambda m: _last_digit(m[0], 5))
    yield from _replaced(question, number, lambda m: f"{m[0]}0")
    yield from _replaced(question, number, lambda m: f"1{m[0]}")
    yield from _replaced(question, r"\d+(?=[ -][a-z])", r"\g<0>½")
    yield from _replaced(question, r"\b(\d)(\d)(?!\1)", r"\2\1")
    for word, other in zip(_WORDS, [*_WORDS[1:], "forty"], strict=True):
        yield from _replaced(question, rf"\b{word}\b", other)
        yield from _replaced(question, rf"\b{word}\b", f"{word} hundred")


def _last_digit(number: str, by: int) -> str:
    return f"{number[:-1]}{(int(number[-1]) + by) % 10}"


_UNITS = (
    ("feet", "inches"),
    ("feet", "yards"),
    ("foot", "inch"),
    ("foot", "meter"),
    ("ft", "in"),
    ("square feet", "square yards"),
    ("square feet", "feet"),
    ("square feet", "acres"),
    ("sq ft", "acres"),
    ("sq ft", "ft"),
    ("acres", "square feet"),
    ("acre", "square mile"),
    ("days", "weeks"),
    ("days", "business days"),
    ("days", "calendar days"),
    ("day", "month"),
    ("hours", "minutes"),
    ("hours", "days"),
    ("months", "years"),
    ("year", "month"),
    ("percent", "dollars"),
    ("dollars", "cents"),
    ("stories", "feet"),
    ("pounds", "kilograms"),
    ("gallons", "liters"),
    ("am", "pm"),
)


def _other_units(question: str) -> Iterator[str]:
    yield from _swaps(question, _UNITS)
    yield from _replaced(question, r"(?<=\d)%", " dollars")
    yield from _replaced(question, r"\$(\d[\d,]*)", r"\1 square feet")
    yield from _replaced(question, r"(?<=\d)'", '"')
    yield from _replaced(question, r"(?<=\d) ?a\.?m\b", " pm")
    yield from _replaced(question, r"\b(\d+) (?=[a-z]{4,}s\b)", r"\1 pairs of ")


# ------------------------------------------------------------------ twins: what is asked


def _negated(question: str) -> Iterator[str]:
    yield from _replaced(
        question, r"\b(can|could|must|should|may) (i|we|you|they|a|the)\b", r"\1 \2 not"
    )
    yield from _replaced(question, r"\b(can|could|must|should)\b(?! not)", r"\1 not")
    yield from _replaced(question, r"\bdo (i|we|you)\b", r"don't \1")
    yield from _replaced(question, r"\b(is|are|does)\b(?! not)", r"\1 not")
    yield from _replaced(question, r"\b(?:do not|don't|cannot|can't|not|never) ?", "")
    yield from _swaps(question, [("with", "without"), ("if", "unless"), ("allowed", "prohibited")])
    yield from _replaced(question, r"\b(need|needed|required|allowed|permitted)\b", r"not \1")
    yield from _replaced(question, r"\bany\b", "no")
    yield from _replaced(question, r"\?$", " except where exempt?")
    yield from _replaced(question, r"\bmust not\b", "do not have to")
    yield from _replaced(question, r"\b(?:do|does) not (?:have|need) to\b", "must not")
    yield from _replaced(question, r"\b(?:don't|doesn't) (?:have|need) to\b", "must not")
    yield from _replaced(
        question, r"\b(?:must|have to|has to|need to|needs to) (?=[a-z])", "must never "
    )
    yield from _replaced(
        question, r"\b(?:must|have to|has to|need to|needs to) (?=[a-z])", "never have to "
    )


_KINDS = (
    ("front", "rear"),
    ("front", "side"),
    ("rear", "side"),
    ("back", "front"),
    ("back", "side"),
    ("backyard", "front yard"),
    ("corner", "interior"),
    ("new", "existing"),
    ("old", "new"),
    ("residential", "commercial"),
    ("residential", "industrial"),
    ("home", "office"),
    ("house", "shop"),
    ("house", "apartment"),
    ("single-family", "two-family"),
    ("single-family", "multi-family"),
    ("detached", "attached"),
    ("principal", "accessory"),
    ("minimum", "maximum"),
    ("min", "max"),
    ("least", "most"),
    ("before", "after"),
    ("above", "below"),
    ("inside", "outside"),
    ("indoor", "outdoor"),
    ("public", "private"),
    ("temporary", "permanent"),
    ("wood", "gas"),
    ("open", "close"),
    ("build", "demolish"),
    ("build", "repair"),
    ("replace", "remove"),
    ("tall", "wide"),
    ("tall", "long"),
    ("high", "deep"),
    ("far", "high"),
    ("how many", "how much"),
    ("how long", "how often"),
    ("how close", "how far"),
    ("how big", "how tall"),
    ("when", "where"),
    ("who", "what"),
    ("width", "depth"),
    ("height", "width"),
    ("setback", "height"),
    ("first", "second"),
    ("saturday", "sunday"),
    ("weekday", "weekend"),
    ("summer", "winter"),
    ("morning", "evening"),
    ("day", "night"),
)
_THINGS = (
    ("fence", "wall"),
    ("fence", "hedge"),
    ("shed", "garage"),
    ("garage", "carport"),
    ("deck", "patio"),
    ("pool", "pond"),
    ("sign", "banner"),
    ("hens", "roosters"),
    ("chickens", "goats"),
    ("dog", "cat"),
    ("dogs", "cats"),
    ("bees", "pigs"),
    ("tree", "shrub"),
    ("sidewalk", "driveway"),
    ("street", "alley"),
    ("restaurant", "bar"),
    ("apartment", "hotel"),
    ("boat", "trailer"),
    ("solar panels", "antennas"),
    ("windows", "doors"),
    ("roof", "basement"),
    ("kitchen", "bathroom"),
    ("parking", "loading"),
    ("building permit", "electrical permit"),
    ("building permit", "demolition permit"),
    ("permit", "license"),
    ("permit", "variance"),
    ("permit", "inspection"),
    ("fee", "fine"),
    ("zoning", "building"),
    ("plumber", "electrician"),
    ("lot", "building"),
    ("yard", "porch"),
)
_PEOPLE = (
    ("owner", "tenant"),
    ("landlord", "tenant"),
    ("tenants", "owners"),
    ("homeowner", "contractor"),
    ("contractor", "architect"),
    ("neighbor", "landlord"),
    ("family", "business"),
    ("city", "county"),
    ("city", "state"),
)


_DISTRICT = re.compile(
    r"\b(?P<letters>[A-Z]{1,3})(?P<joint>-?)(?P<number>\d{1,2})(?P<tail>[A-Z]?)(?![\w-])"
)


def _other_district(question: str) -> Iterator[str]:
    for m in _DISTRICT.finditer(question):
        head, tail = question[: m.start()], question[m.end() :]
        yield f"{head}{m['letters']}{m['joint']}{int(m['number']) + 1}{m['tail']}{tail}"
        yield f"{head}{m['letters']}{m['joint']}{m['number']}{m['joint']}B{m['tail']}{tail}"
        other = "C" if m["letters"] != "C" else "M"
        yield f"{head}{other}{m['joint']}{m['number']}{m['tail']}{tail}"
    yield from _replaced(question, r"\bin the (\w+)(?= district)", r"in the A")
    yield from _replaced(question, r"\?$", " in the B-2 district?")
    yield from _replaced(question, r"\?$", " in the R-1 district?")


def _other_person(question: str) -> Iterator[str]:
    yield from _swaps(question, _PEOPLE)
    yield from _replaced(question, r"\bmy\b", "my neighbor's")
    yield from _replaced(question, r"\b(can|may|must|do|should|could) (?:i|we)\b", r"\1 my tenants")
    yield from _replaced(question, r"\bi\b(?!')", "the city")


def _other_time(question: str) -> Iterator[str]:
    yield from _replaced(question, r"\?$", " in 2019?")
    yield from _replaced(question, r"\?$", " in May?")
    yield from _replaced(
        question, r"\b(is|are)\b", lambda m: {"is": "was", "are": "were"}[m[1].lower()]
    )
    yield from _replaced(question, r"\bdo i\b", "did I")


def _other_condition(question: str) -> Iterator[str]:
    for words in ("on a corner lot", "for a historic building", "at night", "without a permit"):
        yield from _replaced(question, r"\?$", f" {words}?")
    yield from _replaced(question, r"\b(can|may|could) (?=i|we|a|the\b)", "must ")
    yield from _replaced(question, r"\b(can|may|must) (?=i|we|a|the\b)", "should ")


def _turned_round(question: str) -> Iterator[str]:
    """Yield the question with the two nouns around a relation changing places."""
    relation = r"\b(?:the|a|an|my) (\w+) (from|to|of|on|in|behind|near|with|under|over) (the|a|an|my) (\w+)\b"
    for m in re.finditer(relation, question, re.IGNORECASE):
        if m[1].casefold() != m[4].casefold():
            yield f"{question[: m.start(1)]}{m[4]} {m[2]} {m[3]} {m[1]}{question[m.end() :]}"


_PLACES = ("Alexandria", "Norfolk", "Franklin")


def _other_place(question: str) -> Iterator[str]:
    for place in _PLACES:
        yield from _replaced(question, r"\?$", f" in {place}?")


_TWINS: tuple[tuple[str, Rule], ...] = (
    ("digit", _other_digits),
    ("unit", _other_units),
    ("negation", _negated),
    ("district", _other_district),
    ("kind", lambda q: _swaps(q, _KINDS)),
    ("thing", lambda q: _swaps(q, _THINGS)),
    ("person", _other_person),
    ("time", _other_time),
    ("condition", _other_condition),
    ("turned round", _turned_round),
    ("place", _other_place),
)


# ------------------------------------------------------------------ rephrasings


def _polite(question: str) -> Iterator[str]:
    asked = question[:1].lower() + question[1:] if not question.startswith("I ") else question
    bare = asked.rstrip("?. ")
    yield f"Please: {asked}"
    yield f"Hello, {asked}"
    yield f"Hi there! {question} Thanks!"
    yield f"{question} Thank you very much."
    if re.match(r"(?:how|what|when|where|who|which|why)\b", asked):
        yield f"Could you please tell me {bare}?"
        yield f"I would like to know {bare}."
        yield f"I was wondering, {bare}?"


_LONG_FORMS = (
    ("what is", "what's"),
    ("who is", "who's"),
    ("cannot", "can't"),
    ("do not", "don't"),
    ("does not", "doesn't"),
    ("is not", "isn't"),
    ("i am", "I'm"),
    ("i have", "I've"),
    ("it is", "it's"),
    ("there is", "there's"),
    ("will not", "won't"),
)


def _contractions(question: str) -> Iterator[str]:
    yield from _swaps(question, _LONG_FORMS)
    if "'" in question:
        yield question.replace("'", "\u2019")


_SPELLINGS = (
    ("color", "colour"),
    ("neighbor", "neighbour"),
    ("neighbors", "neighbours"),
    ("neighborhood", "neighbourhood"),
    ("harbor", "harbour"),
    ("authorized", "authorised"),
    ("organization", "organisation"),
    ("center", "centre"),
    ("theater", "theatre"),
    ("meter", "metre"),
    ("story", "storey"),
    ("stories", "storeys"),
    ("license", "licence"),
    ("curb", "kerb"),
    ("gray", "grey"),
)


def _typed(question: str) -> Iterator[str]:
    """Yield the question as hands and machines write it."""
    yield question.lower()
    yield question.upper()
    yield question.rstrip("?")
    yield f"  {question.replace(' ', '  ')} "
    yield f"{question.rstrip('?')}??"
    if "-" in question:
        yield question.replace("-", "\u2011")
    if '"' in question:
        yield re.sub(r'"([^"]*)"', "\u201c\\1\u201d", question)


def _measures(question: str) -> Iterator[str]:
    yield from _replaced(question, r"(?<=\d )feet\b", "ft")
    yield from _replaced(question, r"(?<=\d )percent\b", "per cent")
    yield from _replaced(question, r"(?<=\d) percent\b", "%")
    yield from _replaced(question, r"(?<=\d)%", " percent")
    yield from _replaced(question, r"(?<=\d) (?:feet|foot|ft)\b(?! [a-z])", "'")
    yield from _replaced(question, r"\bsquare feet\b", "sq. ft.")
    yield from _replaced(question, r"\bsq\.? ?ft\b\.?", "square feet")
    yield from _replaced(question, r"\$(\d[\d,]*)(?![\d.,])", r"\1 dollars")
    yield from _replaced(question, r"(?<=\d)(\d{3})(?= (?:square|sq|dollars))", r",\1")
    figures = dict(zip(("2", "3", "4", "5", "6", "7", "8", "9", "10"), _WORDS[:9], strict=True))
    for figure, word in figures.items():
        yield from _replaced(question, rf"(?<![\w$.,-]){figure}(?= [a-z]{{3,}})", word)
        yield from _replaced(question, rf"\b{word}\b(?!-)", figure)
        yield from _replaced(question, rf"\b{word}\b(?= [a-z])", f"{word} ({figure})")
    yield from _replaced(question, r"\b([A-Z]{1,3})-(\d{1,2})\b(?!-)", r"\1\2")


def _modes(question: str) -> Iterator[str]:
    for pattern in (r"\bcan (i|we)\b", r"\bmay (i|we)\b", r"\bcould (i|we)\b"):
        for by in (r"may \1", r"can \1"):
            yield from _replaced(question, pattern, by)
    yield from _replaced(question, r"^(?:can|may|could) i (?=\w)", "am I allowed to ")
    yield from _replaced(question, r"^(?:can|may|could) (?:i|we) (?=\w)", "is it legal to ")
    yield from _replaced(question, r"\bdo (i|we) have to\b", r"do \1 need to")
    yield from _replaced(question, r"\bdo (i|we) need to\b", r"do \1 have to")
    yield from _replaced(
        question, r"\bdo (?:i|we) need (a [\w ]{0,20}?(?:permit|license))\b", r"is \1 required"
    )
    yield from _replaced(question, r"\bdoes (.{3,30}?) need\b", r"does \1 require")


_SIZES = (
    ("tall", "height"),
    ("high", "height"),
    ("wide", "width"),
    ("deep", "depth"),
    ("big", "size"),
)
_SUBJECT = r"((?:an?|the|my|our) [\w' -]{2,40}?)"


def _sizes(question: str) -> Iterator[str]:
    for how, what in _SIZES:
        asked = rf"\bhow {how} (?:can|may) {_SUBJECT} be\b"
        yield from _replaced(question, asked, rf"what is the maximum {what} of \1")
        yield from _replaced(
            question, rf"\bwhat is the max(?:imum)? {what} (?:of|for) {_SUBJECT}(?= in|\?|$)",
            rf"how {how} may \1 be",
        )  # fmt: skip
        must = rf"\bhow {how} (?:must) {_SUBJECT} be\b"
        yield from _replaced(question, must, rf"what is the minimum {what} of \1")
    many = r"\bhow many ([\w -]{3,30}?) (?:can|may) (i|we) (\w+)"
    yield from _replaced(question, many, r"what is the maximum number of \1 \2 may \3")


def _clauses(question: str) -> Iterator[str]:
    """Yield the question with its condition, or its place, at the other end."""
    bare, mark = question.rstrip("?. "), "?" if question.rstrip().endswith("?") else "."
    if m := re.fullmatch(r"(if|when|before|after) ([^,.?]{8,}), ([^,.?]{8,})", bare, re.IGNORECASE):
        main = m[3][:1].upper() + m[3][1:]
        yield f"{main} {m[1].lower()} {m[2]}{mark}"
    # "What happens when …" asks for what follows "when" and is no clause with a condition.
    if m := re.fullmatch(
        r"(?!what|and)([^,.?]{8,}?) (if|before|after) ([^,.?]{8,})", bare, re.IGNORECASE
    ):
        yield f"{m[2].capitalize()} {m[3]}, {m[1][:1].lower()}{m[1][1:]}{mark}"
    if m := re.fullmatch(r"([^,.?]{8,}) (in (?:the|a|an|my) [\w' -]{3,40})", bare):
        yield f"{m[2].capitalize()}, {m[1][:1].lower()}{m[1][1:]}{mark}"
    sentences = re.split(r"(?<=[.?!]) (?=[A-Z])", question)
    if len(sentences) == 2:
        yield f"{sentences[1]} {sentences[0]}"


_REPHRASINGS: tuple[tuple[str, Rule], ...] = (
    ("politeness", _polite),
    ("contractions", _contractions),
    ("spelling", lambda q: _swaps(q, _SPELLINGS)),
    ("typing", _typed),
    ("measures", _measures),
    ("modes", _modes),
    ("sizes", _sizes),
    ("clauses", _clauses),
)

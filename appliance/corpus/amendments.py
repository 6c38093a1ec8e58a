"""What an enacted law does to a code: the sections it amends, adds, renumbers or repeals, and when.

Pure: the law's text and the day it became law in, records out, each with the words it rests on.
Only enacting clauses are read ("Section 12-5 of the code is amended to read as follows"), so that
a section which the new text merely cites is not taken for an amended one.  Whether the sections
exist is the registry's business.  A day is computed from the law's own clause or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from appliance.corpus.dates import NUMBER, Moment, moment_of, ordinals
from appliance.corpus.references import Reference, find_references, parse_citation, same_code
from appliance.corpus.sections import number_in_heading
from appliance.domain import Amendment, Change, Span

NOT_STATED = "the law does not say when it takes effect"


def amendments_of(text: str, *, enacted: date | None) -> tuple[Amendment, ...]:
    """Return what the law does to sections of a code, in its own order, each target once a clause.

    `enacted` is the day it became law; without it a term like "30 days after it becomes law" stays
    without a day.
    """
    articles = _articles(text)
    effects = _all_effects(text, articles, enacted)
    acts = list(_acts(text, articles))
    touched = {(article.number, target.number) for article, _, target in acts}
    return tuple(
        _amendment(article, clause, target, _effect_on(effects, article, target, touched), enacted)
        for article, clause, target in acts
    )


def _acts(text: str, articles: Sequence[_Article]) -> Iterator[tuple[_Article, Span, _Target]]:
    """Yield each thing that is done, with the article and the clause that do it."""
    code: tuple[str, ...] = ()
    for article in articles:
        clause = _clause(text, article)
        for target in _targets(clause.of(text), code):
            code = target.code or code
            yield article, clause, target


def _amendment(
    article: _Article, clause: Span, target: _Target, effect: _Effect | None, enacted: date | None
) -> Amendment:
    return Amendment(
        kind=target.kind,
        number=target.number,
        within=target.within,
        code=target.code,
        clause=clause,
        matter=Span(start=clause.end, end=max(clause.end, article.span.end)),
        enacted=enacted,
        effective=effect.moment.day if effect else None,
        effective_clause=effect.clause if effect else None,
        undated=NOT_STATED if effect is None else effect.moment.unknown,
    )


def takes_effect(text: str, *, enacted: date | None) -> date | None:
    """Return the first day on which any part of the law applies, if its own clauses tell it."""
    effects = _all_effects(text, _articles(text), enacted)
    return min((e.moment.day for e in effects if e.moment.day), default=None)


def concerns(
    code: Sequence[str],
    within: Sequence[str],
    *,
    citation: str,
    path: Sequence[str],
    place: Iterable[str],
) -> bool:
    """Tell whether a law that names the code and the chapter so means a section of this citation.

    `place` are the words of the city's name.  A chapter is the same if every level that the law
    names ("chapter 3 of title 27") is a level above the section.
    """
    if not same_code(code, parse_citation(citation).words, place):
        return False
    levels = {number for number, _ in map(number_in_heading, path) if number}
    return set(within) <= levels


def incorporated(matter: str, number: str | None, section: str) -> bool:
    """Tell whether a section's text says already what the law wants it to say.

    The law's matter marks what goes in [brackets].  Every sentence that is to be there must be
    there, and nothing of what goes: in doubt the law counts as not yet worked in.
    """
    new = _own_matter(matter, number)
    text = _plain(section)
    gone = [_plain(old) for old in _DELETED.findall(new)]
    if any(len(old.split()) >= _TELLING and old in text for old in gone):
        return False
    wanted = [_plain(s) for s in _SENTENCE.split(_DELETED.sub(" ", new))]
    wanted = [s for s in wanted if len(s.split()) >= _TELLING]
    return bool(wanted) and all(s in text for s in wanted)


# Words that a stretch needs in order to be told from chance: "of this section" stands anywhere.
_TELLING = 5
_DELETED = re.compile(r"\[([^\[\]]*)\]")
_SENTENCE = re.compile(r"(?<=[.;:])\s+|\n\s*\n")


def _own_matter(matter: str, number: str | None) -> str:
    """Return the part of the new matter that belongs to the section with this number.

    It begins with the number in front of a line and ends where another section's number does so.
    """
    if number is None:
        return matter
    heads = list(_HEAD.finditer(matter))
    for head, following in pairwise([*heads, None]):
        if head is not None and _same_number(head["number"], number):
            return matter[head.end() : following.start() if following else len(matter)]
    return matter


_HEAD = re.compile(
    r"(?:^|\n)[ \t]*(?:[§\ufffd]{1,2}|Section)[ \t]*(?P<number>\d[\w.\-:]*\d|\d+)\.?\s",
    re.IGNORECASE,
)


def _same_number(written: str, number: str) -> bool:
    return written.strip(".").casefold() == number


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.casefold()))


# ------------------------------------------------------------------ the law's own sections


@dataclass(frozen=True, slots=True, kw_only=True)
class _Article:
    """One section of the law itself ("§ 3. …"), from behind its number to the next one."""

    number: int
    span: Span


# Mirrors of New York's laws write the section mark as U+FFFD.
_ARTICLE = re.compile(
    r"(?:^|\n)[ \t#*>]*(?:[§\ufffd]{1,2}[ \t]*|sec(?:tion|\.)?[ \t]+)(?P<number>\d{1,3})\.(?=[\s*])[ \t*]*",
    re.IGNORECASE,
)
# A drafter may skip a number; a new section of the code that happens to be called "Section 101." is
# farther away than that.
_SKIPPED = 3
# Whatever its number, this is the law's own voice.
_LAST = re.compile(
    r"\s*this\s+(?:local\s+law|ordinance|act)\s+(?:shall\s+)?takes?\s+effect\b", re.IGNORECASE
)


def _articles(text: str) -> list[_Article]:
    """Return the sections of the law.  Without any the whole text counts as its first."""
    heads: list[re.Match[str]] = []
    stray: re.Match[str] | None = None
    last = 0
    for match in _ARTICLE.finditer(text):
        step = int(match["number"]) - last
        repeated = step == 0 and _VERB.search(text, match.end(), match.end() + 400) is not None
        if repeated or 0 < step <= _SKIPPED:
            heads.append(match)
            last += step
            stray = None
        elif _LAST.match(text, match.end()):
            stray = match  # misnumbered, or quoted from another law if more articles follow
    if stray and heads:
        heads.append(stray)
    if not heads:
        return [_Article(number=1, span=Span(start=0, end=len(text)))]
    ends = [h.start() for h in heads[1:]] + [len(text)]
    return [
        _Article(number=int(h["number"]), span=Span(start=h.end(), end=end))
        for h, end in zip(heads, ends, strict=True)
    ]


# An enacting clause is one sentence; the longest of New York's 151 laws has 1,300 characters.
_LONGEST_CLAUSE = 3000
_CLAUSE_END = re.compile(r"\breads? as follows\b:?|[.:;][ \t*]*(?=\n|$)|\n[ \t]*\n|\Z")


def _clause(text: str, article: _Article) -> Span:
    """Return the enacting clause: from the article's beginning to "as follows" or the line's end."""
    start, end = article.span.start, article.span.end
    match = _CLAUSE_END.search(text, start, min(end, start + _LONGEST_CLAUSE))
    return Span(start=start, end=match.end() if match else end)


# ------------------------------------------------------------------ targets


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    kind: Change
    number: str | None
    within: tuple[str, ...]
    code: tuple[str, ...]


_VERB = re.compile(
    r"\b(?:(?:is|are|be)\s+(?:(?:hereby|further|also)\s+)*|and\s+(?:as\s+so\s+\w+\s+)?)"
    r"(?P<verb>amended|repealed|rescinded|deleted|renumbered|redesignated|relettered|added|replaced)\b",
    re.IGNORECASE,
)
_KINDS: dict[str, Change] = {
    "repealed": "repealed",
    "rescinded": "repealed",
    "deleted": "repealed",
    "renumbered": "renumbered",
    "redesignated": "renumbered",
    "relettered": "renumbered",
}
# Who wrote a section before is told between its number and the verb, with numbers of its own.
_STORY = re.compile(
    r",?\s*\b(?:as|having been|which was)\s+(?:last\s+|so\s+|previously\s+)?"
    r"(?:added|amended|renumbered|redesignated|relettered|enacted|proposed|reenacted)\b.*?"
    r"(?=,?\s*\b(?:is|are)\s+(?:(?:hereby|further|also)\s+)*(?:amended|repealed|rescinded|deleted"
    r"|renumbered|redesignated|relettered|added|replaced)\b"
    r"|,?\s+and\s+(?:(?:a|the)\s+)?(?:new\s+)?(?:sub)?(?:section|division|paragraph|chapter|article)s?\s"
    r"|,\s+(?:a\s+)?(?:new\s+)?(?:sub)?(?:section|division|paragraph|chapter|article)s?\s+[\dA-Z(]"
    r"|,?\s+(?:to\s+)?reads?\s+as\s+follows|$)",
    re.IGNORECASE | re.DOTALL,
)
# "section 5 of local law number 19": a law, not the code.
_OF_A_LAW = re.compile(
    r"\s*(?:,\s*)?of\s+(?:a|this|such|the)?\s*(?:local\s+laws?|ordinance|chapter\s+\d+\s+of\s+the\s+laws"
    r"|laws\s+of|public\s+law)\b",
    re.IGNORECASE,
)
# "a permit pursuant to section 5 is amended …": a mention within the subject, not the subject.
_CITED = re.compile(
    r"(?:pursuant\s+to|under|defined\s+in|required\s+by|described\s+in|set\s+forth\s+in|subject\s+to"
    r"|accordance\s+with|specified\s+in|provided\s+in|imposed\s+by|referred\s+to\s+in|relation\s+to)"
    r"\s+(?:such\s+)?$",
    re.IGNORECASE,
)
_PART_OF = re.compile(r"\b(?:of|in|to|from|within|following)\s+(?:such\s+)?$", re.IGNORECASE)
_NEW = re.compile(r"\b(?:new|adding)\s+$", re.IGNORECASE)
_NEW_NUMBER = re.compile(
    r"\b(?:renumbered|redesignated)\s+(?:as\s+|to\s+be\s+)?(?:and\s+)?$", re.IGNORECASE
)
_DOING = re.compile(
    r"\b(?P<verb>amending|revising|replacing|repealing|deleting|rescinding)\s+$", re.IGNORECASE
)
_LISTED = re.compile(r"[\s,;]*(?:and|through|to|&)?\s*", re.IGNORECASE)


def _targets(clause: str, code_before: tuple[str, ...]) -> Iterator[_Target]:
    """Yield what the clause acts on, each number once; `code_before` is what "such code" means."""
    told = _STORY.sub(lambda m: " " * len(m.group()), clause)
    if not (_VERB.search(told) or _DOING.search(told + " ") or "adding" in told):
        return
    seen: set[tuple[str | None, tuple[str, ...]]] = set()
    for target in [*_section_targets(told, code_before), *_chapter_targets(told, code_before)]:
        key = (target.number, target.within)
        if key not in seen:
            seen.add(key)
            yield target


def _section_targets(told: str, code_before: tuple[str, ...]) -> Iterator[_Target]:
    before: Reference | None = None
    kind: Change | None = None
    for reference in find_references(told):
        if reference.kind not in ("section", "table"):
            continue
        if reference.bare and not _is_new_number(told, reference):
            continue
        # "sections 12-5 and 12-6": what holds of the first holds of the next.
        listed = before is not None and _LISTED.fullmatch(
            told, before.span.end, reference.span.start
        )
        if not (listed and told[reference.span.start].isdigit()):
            kind = _kind(told, reference.span)
        before = reference
        if kind is not None and reference.kind == "table":
            kind = "amended"  # the section that holds it goes on
        if kind is not None and not _OF_A_LAW.match(told, reference.span.end):
            code = _code(told, reference.span.end, code_before)
            yield _Target(kind=kind, number=reference.number, within=(), code=code)


def _is_new_number(told: str, reference: Reference) -> bool:
    return _NEW_NUMBER.search(told[: reference.span.start]) is not None


def _kind(told: str, span: Span) -> Change | None:
    """Return what happens to the section that is mentioned there, None if it is only cited."""
    lead = told[: span.start]
    if _CITED.search(lead):
        return None
    if _NEW.search(lead) or _NEW_NUMBER.search(lead):
        return "added"
    if doing := _DOING.search(lead):
        return "repealed" if doing["verb"][:3].casefold() in ("rep", "del", "res") else "amended"
    verb = _VERB.search(told, span.end)
    if verb is None:
        return "amended" if _PART_OF.search(lead) and _VERB.search(lead) else None
    kind = _KINDS.get(verb["verb"].casefold(), "amended")
    return "amended" if _PART_OF.search(lead) else kind


_NO_NAME = r"of|in|to|and|is|are|by|for|sections?|subdivisions?|titles?|chapters?|articles?|such|this|amended"
_CODE = re.compile(
    rf"\bof\s+(?:the\s+|said\s+)?(?P<name>such\s+code"
    rf"|(?:(?!(?:{_NO_NAME})\b)[a-z.’'\-]+\s+){{0,6}}?(?:code|charter|ordinances|regulations|rules)\b"
    r"(?:\s+of\s+the\s+(?:city|town|village|county|district)\s+of\s+"
    r"(?-i:[A-Z][a-z.]+(?:\s+[A-Z][a-z.]+)*))?)",
    re.IGNORECASE,
)


def _code(told: str, position: int, before: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of the code that is named after the position, else before it, else earlier."""
    names = list(_CODE.finditer(told))
    match = next((m for m in names if m.start() >= position), names[-1] if names else None)
    if match is None or match["name"].casefold().startswith("such"):
        return before
    return tuple(re.findall(r"[a-z0-9]+", match["name"].casefold()))


# A chapter as a whole is repealed or written anew; one that gets a new section is not.
_CONTAINER = r"(?:sub)?chapter|article|title|part|division"
_CHAPTER = re.compile(
    rf"(?:^|[.,;]\s*|\band\s+)\s*(?P<levels>(?:(?:{_CONTAINER})\s+[\dA-Z][\w.\-]*)"
    rf"(?:\s+of\s+(?:{_CONTAINER})\s+[\dA-Z][\w.\-]*)*)",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"\s*(?:repealed|amended\s+to\s+read\s+as\s+follows|rescinded)", re.IGNORECASE)


def _chapter_targets(told: str, code_before: tuple[str, ...]) -> Iterator[_Target]:
    for match in _CHAPTER.finditer(told):
        verb = _VERB.search(told, match.end())
        if verb is None or not _WHOLE.match(told, verb.start("verb")):
            continue
        if find_references(told[match.end() : verb.start()]):
            continue  # the verb is about something that is named in between
        levels = re.split(r"\s+of\s+", " ".join(match["levels"].casefold().split()))
        yield _Target(
            kind=_KINDS.get(verb["verb"].casefold(), "amended"),
            number=None,
            within=tuple(level.strip(".,") for level in reversed(levels)),
            code=_code(told, match.end(), code_before),
        )


# ------------------------------------------------------------------ when


@dataclass(frozen=True, slots=True, kw_only=True)
class _Effect:
    """From when a part of the law applies."""

    articles: frozenset[int]  # of the law; empty: all of it
    numbers: frozenset[str]  # of the code; empty: all that the articles touch
    moment: Moment
    clause: Span

    @property
    def for_all(self) -> bool:
        """Tell whether it is the law's general day."""
        return not self.articles and not self.numbers


# The law speaks of itself: "This local law takes effect", "Sections one and two of this ordinance …".
_OF_ITSELF = re.compile(
    r"\s*(?:effective\s+date\W+)?(?:\(\w+\)\s*|\d+\.\s*)?(?:except\s[^.;]{1,200},\s*)?"
    r"(?:this|sections?\s.{1,300}?\bof\s+this)\b",
    re.IGNORECASE | re.DOTALL,
)
_TAKES_EFFECT = re.compile(
    r"\b(?:takes?|becomes?|(?:is|are|be|go(?:es)?)(?:\s+in(?:to)?)?(?:\s+full)?(?:\s+force\s+and)?)"
    r"\s+(?:effect(?:ive)?)\b",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"\bthis\s+(?:this\s+)?(?:local(?:\s+law)?|ordinance|act|law|resolution)\b", re.IGNORECASE
)
_OWN_SECTIONS = re.compile(
    r"\bsections?\s+(?P<list>[^.;]{1,300}?)\s+of\s+this\s+(?:this\s+)?(?:local|ordinance|act|law)",
    re.IGNORECASE,
)
# "…, except that section 2 shall take effect immediately": its own, too.
_PLAIN = re.compile(
    rf"\bsections?\s+(?P<list>(?:{NUMBER}|through|and|,|\s)+?)\s*(?:shall\s*)?$", re.IGNORECASE
)
# "as added by section four of this local law" says where a part of the code comes from.
_MADE_BY = re.compile(r"(?:added|amended|made|enacted|set\s+forth)\s+(?:by|in)\s+$", re.IGNORECASE)
_PIECE = re.compile(
    r"\b(?:subdivisions?|paragraphs?|subparagraphs?|definitions?|items?|exceptions?|amendments?)\b",
    re.IGNORECASE,
)
_LONGEST_EFFECT = 4000


def _all_effects(text: str, articles: Sequence[_Article], enacted: date | None) -> list[_Effect]:
    """Return the days that a law sets.  Of several for all of it the last article's are its own.

    The earlier ones stand in law that it quotes: "Section 5 of local law 1 is amended to read …".
    """
    effects = [e for a in articles for e in _effects(text, a, enacted)]
    last = max((e.clause.start for e in effects if e.for_all), default=0)
    return [e for e in effects if not e.for_all or e.clause.start == last]


def _effects(text: str, article: _Article, enacted: date | None) -> Iterator[_Effect]:
    """Yield the days that an article of the law sets, if setting them is what it does."""
    end = min(article.span.end, article.span.start + _LONGEST_EFFECT)
    words = text[article.span.start : end]
    opening = _OF_ITSELF.match(words)
    if opening is None:
        return
    begun = 0
    for verb in _TAKES_EFFECT.finditer(words):
        subject = words[begun : verb.start()]
        moment = moment_of(words[verb.end() :], enacted=enacted)
        if not (_SELF.search(subject) or _PLAIN.search(subject)):
            continue
        begun = verb.end()
        end = article.span.start + verb.end() + moment.length
        for articles, numbers in _scopes(subject):
            yield _Effect(
                articles=articles,
                numbers=numbers,
                moment=moment,
                clause=Span(start=article.span.start, end=end),
            )


_ALL = re.compile(
    r"(?<!of )\bthis\s+(?:this\s+)?(?:local(?:\s+law)?|ordinance|act|law|resolution)(?:\s+shall)?\s*$",
    re.IGNORECASE,
)
_EXPIRES = re.compile(r"\bexpires?\b|\bdeemed\s+repealed\b", re.IGNORECASE)


def _scopes(subject: str) -> Iterator[tuple[frozenset[int], frozenset[str]]]:
    """Yield the (articles of the law, numbers of the code) that a subject means, both empty for all.

    A mere piece of a section yields nothing: the section begins to change on the law's general day.
    """
    if _ALL.search(subject):
        yield frozenset(), frozenset()
        return
    if _EXPIRES.search(subject):  # "section three expires on the day that another law takes effect"
        return
    articles: set[int] = set()
    made_by: set[int] = set()
    for match in _OWN_SECTIONS.finditer(subject):
        made = _MADE_BY.search(subject, 0, match.start())
        (made_by if made else articles).update(ordinals(match["list"]))
    if not made_by and not _PIECE.search(subject) and (plain := _PLAIN.search(subject)):
        articles |= ordinals(plain["list"])
    if articles:
        yield frozenset(articles), frozenset()
    if made_by and not _PIECE.search(subject):
        numbers = {r.number for r in find_references(subject) if re.search(r"[.\-]", r.number)}
        yield frozenset(made_by), frozenset(numbers)


def _effect_on(
    effects: Sequence[_Effect],
    article: _Article,
    target: _Target,
    touched: set[tuple[int, str | None]],
) -> _Effect | None:
    """Return the most particular effect that covers what an article does to a target.

    A number that an effect names is meant even if the article that it names does not touch it: then
    the law counts its own articles wrongly, as some do.
    """

    def covers(e: _Effect) -> bool:
        if e.numbers:
            astray = not any((a, target.number) in touched for a in e.articles)
            return target.number in e.numbers and (article.number in e.articles or astray)
        return not e.articles or article.number in e.articles

    fitting = [e for e in effects if covers(e)]
    return max(fitting, key=lambda e: (bool(e.numbers), bool(e.articles)), default=None)

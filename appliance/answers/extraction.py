"""The short fact that answers a question, out of one city's passages: rules, no model.  Pure.

Each passage is cut into clauses and table rows; every quantity of the kind that the question asks
for is a candidate.  What speaks for a candidate is added up by weights that were fitted on
questions about other cities than those it is measured on (eval/ledger/019-cells.md).  A cell that
says something wrong is worse than "not found": below a bound nothing is extracted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp

from appliance.answers.measures import Measure, measures
from appliance.answers.sought import DIMENSIONS, Bound, Kind, Sought, sought
from appliance.corpus.lay import renamed
from appliance.corpus.tables import find_rows
from appliance.corpus.words import idf, terms, written_terms
from appliance.domain import Passage, SectionId, Span

Stems = frozenset[str]


# ------------------------------------------------------------------ the question's concepts


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A thing that the question speaks of: any of its names will do, a name with all of its stems."""

    names: tuple[Stems, ...]
    weight: float  # the rarer in the city, the more it tells

    def stands_in(self, stems: Stems) -> bool:
        """Tell whether some name of it is among the stems of a text."""
        return any(name <= stems for name in self.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as clauses are compared with it."""

    wanted: Sought
    concepts: tuple[Concept, ...]

    def covered(self, stems: Stems) -> float:
        """Return the share, by weight, of the concepts that stand in a text."""
        whole = sum(c.weight for c in self.concepts)
        return sum(c.weight for c in self.concepts if c.stands_in(stems)) / whole if whole else 0.0


# Stems that say what kind of fact is wanted, or only that it is asked for.
_ASKING = frozenset(
    stem
    for stem in terms(
        "how tall high far close near wide deep long soon often big large small largest biggest smallest much "
        "many most least maximum minimum must may can allowed permitted required need needs want before after "
        "until without away know tell exactly still any ordinary stay keep hold use same again someone"
    )
)


def question_terms(question: str) -> list[str]:
    """Return the stems whose frequencies in the city `asked_of` weighs by."""
    names = [name for _, names in renamed(question) for name in names]
    return sorted({t for text in (question, *names) for t in terms(text)})


def things_of(question: str) -> list[tuple[str, frozenset[str]]]:
    """Return the things that a question names, as it writes them, each with its stems."""
    named = [(phrase, frozenset(terms(phrase)) - _ASKING) for phrase, _ in renamed(question)]
    taken = {stem for _, stems in named for stem in stems}
    words = [(w, frozenset({t})) for t, w in written_terms(question).items()]
    named += [(w, stems) for w, stems in words if not stems & (taken | _ASKING)]
    once = {words: stems for words, stems in reversed(named) if stems}
    return list(reversed(once.items()))


# Where a word names a thing: behind an article or the like, and before what ends its phrase.
_NOUN = (
    r"\b(?:a|an|the|my|our|your|any|some|many|of|for)\s+(?:[\w-]+\s+)?{}"
    r"(?=\W*\Z|[,.;?!)]|\s+(?:in|on|at|of|for|to|from|with|near|be|is|are|may|can|must|has|have|and|or)\b)"
)


def nouns_of(question: str) -> frozenset[str]:
    """Return those of the things that are nouns for all that rules can tell: lay terms, "a fence in".

    That a code nowhere has "idle" tells nothing; that it nowhere has "beehive" does.
    """
    lay = {phrase for phrase, _ in renamed(question)}
    return frozenset(
        words
        for words, _ in things_of(question)
        if words in lay or re.search(_NOUN.format(re.escape(words)), question, re.IGNORECASE)
    )


def asked_of(question: str, frequency: Mapping[str, int], chunks: int) -> Asked:
    """Return a question with its concepts; `frequency` counts the chunks of the city with a stem."""
    wanted = sought(question)
    written = dict.fromkeys(t for t in terms(question) if t not in _ASKING)
    concepts: list[tuple[Stems, ...]] = []
    for phrase, names in renamed(question):
        own = frozenset(terms(phrase)) - _ASKING
        if own:
            others = (frozenset(terms(n)) for n in names)
            concepts.append(tuple(dict.fromkeys(n for n in (own, *others) if n)))
            written = {t: None for t in written if t not in own}
    concepts += [(frozenset({t}),) for t in written]
    return Asked(
        wanted=wanted,
        concepts=tuple(
            Concept(names=names, weight=idf(chunks, held))
            for names in concepts
            for held in (_held(names, frequency, chunks),)
        ),
    )


def _held(names: Sequence[Stems], frequency: Mapping[str, int], chunks: int) -> int:
    """Return in how many chunks a concept stands: of a name its rarest stem counts, of the names their sum."""
    return min(chunks, sum(min(frequency.get(stem, 0) for stem in name) for name in names))


# ------------------------------------------------------------------ clauses


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A sentence, an item of a list, or a row of a table, with what it is read under."""

    passage: Passage
    span: Span  # in the section's text
    leads: str  # what introduces it: titles, a table's header, the clause that ends in a colon

    @property
    def text(self) -> str:
        """Return the clause's own words."""
        return self.span.of(self.passage.section.text)


# A clause ends before a capital, a bracket or a number; "sec. 3" and "sq. ft." do not end one.
_END = re.compile(
    r"(?<=[.;:!?])(?<![Ss]ec\.)(?<!\b[Nn]o\.)(?<!\b[Aa]rt\.)(?<!\b[Cc]h\.)(?<![Ss]q\.)(?<![Ff]t\.)(?<!\bSt\.)"
    r"(?<!\b[Ff]ig\.)(?<!\b\d\.)\s+(?=[\"“(A-Z0-9])|\n\s*"
    r"|(?<=\S)\s+(?=\((?:\d{1,2}|[a-z]|[ivx]{1,4})\)\s+[A-Z])"
)
_FEWEST_WORDS = 3


AROUND = (
    1000  # code points of the section on both sides of a passage: an answer often stands beside it
)


def clauses(passage: Passage) -> Iterator[Clause]:
    """Yield the clauses of a passage and of what stands around it, in reading order; rows under a header."""
    whole = passage.section.text
    start = max(0, passage.span.start - AROUND)
    end = min(len(whole), passage.span.end + AROUND)
    text = whole[start:end]
    over = "\n".join(passage.over)
    intro = ""
    for piece in _pieces(text, find_rows(text)):
        words, span = piece.of(text), piece.shifted(start)
        cut = (start > 0 and piece.start == 0) or (end < len(whole) and piece.end == len(text))
        if not cut or _overlap(span, passage.span):
            lead = over if _overlap(span, passage.span) else ""
            yield Clause(passage=passage, span=span, leads=f"{lead}\n{intro}")
        if words.endswith(":"):
            intro = words
        elif not _ITEM.match(words):
            intro = words if words.endswith((",", ";")) else ""


_ITEM = re.compile(r"\(?\w{1,4}[.)]\s")


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _pieces(text: str, rows: Sequence[Span]) -> Iterator[Span]:
    at = 0
    for row in (*rows, Span(start=len(text), end=len(text))):
        yield from _sentences(text, at, row.start)
        if len(row):
            yield _trimmed(text, row.start, row.end)
        at = row.end


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for gap in _END.finditer(text, start, end):
        if len(text[at : gap.start()].split()) >= _FEWEST_WORDS:
            yield _trimmed(text, at, gap.start())
            at = gap.end()
    if text[at:end].strip():
        yield _trimmed(text, at, end)


def _trimmed(text: str, start: int, end: int) -> Span:
    inner = text[start:end]
    left = len(inner) - len(inner.lstrip())
    return Span(start=start + left, end=start + len(inner.rstrip()))


# ------------------------------------------------------------------ candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A fact that may answer, with what speaks for it."""

    clause: Clause
    fact: Span  # in the section's text, within the clause
    measure: Measure | None  # None: the clause's words are the fact
    signs: Mapping[str, float]


def candidates(asked: Asked, passages: Sequence[Passage]) -> list[Candidate]:
    """Return every quantity of the wanted kinds in the passages; whole clauses if words are wanted."""
    once: dict[tuple[SectionId, Span], Candidate] = {}
    for rank, passage in enumerate(passages):
        for clause in clauses(passage):
            for candidate in _in_clause(asked, clause, rank):
                key = (passage.section.id, candidate.fact)
                held = once.get(key)
                if held is None or candidate.signs["outside"] < held.signs["outside"]:
                    once[key] = candidate
    return list(once.values())


def _in_clause(asked: Asked, clause: Clause, rank: int) -> Iterator[Candidate]:
    words = clause.text
    if asked.wanted.kinds == (Kind.WORDS,):
        signs = _signs(asked, clause, rank, Span(start=0, end=len(words)))
        yield Candidate(clause=clause, fact=clause.span, measure=None, signs=signs)
        return
    found = measures(words, asked.wanted)
    for measure, span in zip(found, _neighbourhoods(words, [m.span for m in found]), strict=True):
        around = span.of(words)
        if measure.kind is Kind.LENGTH and _measures_otherwise(asked.wanted.dimension, around):
            continue  # a setback is no height, however much else agrees
        signs = _signs(asked, clause, rank, span) | {
            "other": float(_OTHER.search(around) is not None),
            "kind": float(asked.wanted.kinds.index(measure.kind)),
            "others": float(len({(m.value, m.unit) for m in found}) - 1),
            "bound": _agreement(asked.wanted.bound, words, measure.span, span.start),
        }
        yield Candidate(
            clause=clause,
            fact=measure.span.shifted(clause.span.start),
            measure=measure,
            signs=signs,
        )


_NEAR_BEFORE, _NEAR_AFTER = 110, 70  # code points around a fact: about a line on both sides


def _neighbourhoods(words: str, facts: Sequence[Span]) -> Iterator[Span]:
    """Yield the words around each quantity that belong to it: they end where the next one begins."""
    places = sorted(set(facts))
    for fact in facts:
        before = max((p.end for p in places if p.end <= fact.start), default=0)
        after = min((p.start for p in places if p.start >= fact.end), default=len(words))
        yield Span(
            start=max(before, fact.start - _NEAR_BEFORE), end=min(after, fact.end + _NEAR_AFTER)
        )


# A quantity of something else than the thing itself: of what a longer time, a lot or a share is granted by.
_OTHER = re.compile(
    r"\b(?:exten(?:d|ded|sion)s?|additional|each|every|per|lot area|lot size|land area|excess)\b",
    re.IGNORECASE,
)


def _measures_otherwise(dimension: str | None, around: str) -> bool:
    """Tell whether the words around a length are of other dimensions than the one that was asked for."""
    if dimension is None or DIMENSIONS[dimension].search(around):
        return False
    return any(p.search(around) for p in DIMENSIONS.values())


def _signs(asked: Asked, clause: Clause, rank: int, near: Span) -> dict[str, float]:
    words, passage = clause.text, clause.passage
    section = passage.section
    titles = _stems(" ".join([section.heading, *section.path[-2:]]))
    leads = _stems(clause.leads)
    own = _stems(words)
    return {
        "clause": asked.covered(own),
        "under": asked.covered(own | leads | titles),
        "near": asked.covered(_stems(near.of(words))),
        "titles": asked.covered(titles | leads),
        "rank": 1 / (1 + rank),
        "outside": _outside(clause.span, passage.span) / AROUND,
        "similarity": passage.similarity,
        "modal": float(_MODAL.search(words) is not None),
        "contrary": float(_contrary(asked, own)),
        "exempt": float(_EXEMPT.search(words) is not None),
    }


def _outside(clause: Span, passage: Span) -> int:
    """Return how many code points a clause stands away from the passage that was found; 0 within it."""
    return max(passage.start - clause.end, clause.start - passage.end, 0)


@lru_cache(maxsize=4096)
def _stems(text: str) -> Stems:
    return frozenset(terms(text))


_MODAL = re.compile(
    r"\b(?:shall|must|may|not (?:to )?exceed|maximum|minimum|at least|no (?:more|less|greater|fewer)|limited to"
    r"|required|prohibited|allowed|permitted)\b",
    re.IGNORECASE,
)
_EXEMPT = re.compile(r"\b(?:except|unless|exempt|waive|variance|reduc|increas)\w*", re.IGNORECASE)
# Words that part one case from another: a rule on rear yards does not answer for front yards.
_PAIRS = (
    ("front", "rear"),
    ("front", "side"),
    ("rear", "side"),
    ("residenti", "commerci"),
    ("residenti", "industri"),
    ("interior", "corner"),
    ("new", "exist"),
    ("attach", "detach"),
    ("temporari", "perman"),
    ("minimum", "maximum"),
)


def _contrary(asked: Asked, own: Stems) -> int:
    """Count the cases that the question asks for and the clause names only the others of."""
    meant = frozenset(stem for c in asked.concepts for name in c.names for stem in name)
    return sum(
        (a in meant and b not in meant and b in own and a not in own)
        or (b in meant and a not in meant and a in own and b not in own)
        for a, b in _PAIRS
    )


# How law says that a quantity is an end of what is allowed: before it, and behind it.
_UPPER = re.compile(
    r"(?:not (?:to )?(?:exceed|be (?:more|greater|higher|taller|larger|longer))|no (?:more|greater|higher"
    r"|taller|larger|longer)|maximum|up to|at most|limited to|exceed\w*|more than|greater than|within)\b",
    re.IGNORECASE,
)
_LOWER = re.compile(
    r"(?:at least|not (?:be )?(?:less|closer|fewer|nearer|located)|no (?:less|closer|fewer|nearer)|minimum"
    r"|less than|fewer than|closer than|nearer than|within|set ?back|away from)\b",
    re.IGNORECASE,
)
_OR_LESS = re.compile(
    r"\W{0,3}(?:\w+ )?(?:or (?:less|fewer|lower|under)|maximum|max)\b", re.IGNORECASE
)
_OR_MORE = re.compile(
    r"\W{0,3}(?:\w+ )?(?:or (?:more|greater|higher)|minimum|min)\b", re.IGNORECASE
)
_BOUND_BEFORE = 60  # code points


def _agreement(bound: Bound | None, words: str, fact: Span, begins: int) -> float:
    """Return 1 if the words around a quantity bound it as the question asks, -1 if the other way.

    What stands before `begins` belongs to the quantity before it: "not less than $2 nor more than $50".
    """
    if bound is None:
        return 0.0
    before = words[max(begins, fact.start - _BOUND_BEFORE) : fact.start]
    upper = _UPPER.search(before) is not None or _OR_LESS.match(words, fact.end) is not None
    lower = _LOWER.search(before) is not None or _OR_MORE.match(words, fact.end) is not None
    if upper == lower:
        return 0.0
    return 1.0 if upper == (bound is Bound.MOST) else -1.0


# ------------------------------------------------------------------ choosing


# What each sign is worth, fitted so that the right candidates of a question win the softmax over all of
# its candidates (conditional logit: McFadden, Conditional logit analysis of qualitative choice behavior,
# 1974), on the 139 questions of dev-cities and dev-va-tn that ask for a quantity (eval/ledger/019-cells.md).
WEIGHTS: Mapping[str, float] = {
    "clause": 3.9,
    "under": 0.8,
    "near": 2.1,
    "titles": 4.1,
    "rank": 3.0,
    "outside": -2.1,
    "similarity": 5.3,
    "modal": -0.2,
    "contrary": -0.2,
    "exempt": -0.7,
    "kind": -1.5,
    "others": -0.8,
    "bound": 1.6,
    "other": -1.3,
}
# How likely the winner is right: a logistic function, fitted on winners over questions about cities that
# the weights were not fitted on.  A cell is filled from .6 on: a wrong one costs one and a half right ones.
_SHARE, _SIMILARITY, _NEAR, _AT_ZERO = 2.7, 5.0, 1.2, -4.5
_LIKELY = 0.6
# Words without a quantity, of which there are many and no share says much: the clause must have much of
# what the question is about, in a passage that is not faint.  So 15 of 72 questions of the same files that
# ask for no quantity are answered, 12 of them from a gold section.
_MUCH, _NOT_FAINT = 0.4, 0.46


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The best candidate and how sure the rules are of it."""

    candidate: Candidate
    share: float  # of the softmax over all candidates, those of the same value together


def extracted(asked: Asked, passages: Sequence[Passage]) -> Extracted | None:
    """Return the fact that answers, or None where nothing speaks for one with enough weight."""
    best = best_of(candidates(asked, passages))
    return best if best is not None and _sure(best) else None


def best_of(found: Sequence[Candidate]) -> Extracted | None:
    """Return the likeliest candidate; those of the same value speak for one another."""
    if not found:
        return None
    scores = [weighed(c.signs) for c in found]
    most = max(scores)
    odds = [exp(s - most) for s in scores]
    alike: dict[object, float] = {}
    for candidate, odd in zip(found, odds, strict=True):
        alike[_value(candidate)] = alike.get(_value(candidate), 0.0) + odd
    place = scores.index(most)
    share = alike[_value(found[place])] / sum(odds)
    return Extracted(candidate=found[place], share=share)


def weighed(signs: Mapping[str, float]) -> float:
    """Return the weighted sum of the signs."""
    return sum(WEIGHTS.get(name, 0.0) * sign for name, sign in signs.items())


def _value(candidate: Candidate) -> object:
    measure = candidate.measure
    return candidate.fact if measure is None else (measure.unit, measure.value)


def _sure(best: Extracted) -> bool:
    signs = best.candidate.signs
    if best.candidate.measure is None:
        return signs["clause"] >= _MUCH and signs["similarity"] >= _NOT_FAINT
    return likelihood(best) >= _LIKELY


def likelihood(best: Extracted) -> float:
    """Return how likely the best candidate is right, 0 to 1."""
    signs = best.candidate.signs
    odds = (
        _SHARE * best.share + _SIMILARITY * signs["similarity"] + _NEAR * signs["near"] + _AT_ZERO
    )
    return 1 / (1 + exp(-odds))

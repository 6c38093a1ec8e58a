"""What the ranker knows of each candidate: numbers from 0 to about 1, by name.  Pure.

Hits, words and places in; nothing here knows how much a feature counts: that was learned
(models/ranker.json).  Scores of a leg are scaled within the question, as their level says more of the
question than of the chunk.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from appliance.corpus.entities import districts_defined, entities_of
from appliance.corpus.words import terms
from appliance.domain import ChunkId, ChunkKind
from appliance.ports import ChunkPreview

# The order of the numbers in a row.
FEATURES = (
    "fused",  # the first stage's score: what the rest only corrects
    "late",  # the reranker's, of those that it read
    "heading",  # how much of the heading the question has
    "path",  # the question's terms in the breadcrumb, by their weight
    "pairs",  # the question's pairs of neighbouring terms in the text
    "chapter",  # what the best others of its chapter were given
    "record",  # and of its record
    "definition_asked",  # 1 for a definition where a meaning is asked
    "district",  # 1 under the rules of an asked district, -1 under those of another
)

_DEFINITION_ASKED = re.compile(
    r"\bmeans?\b|\bmeant by\b|\bdefin|\bcounts? as\b|\bconsidered\b|\bqualif(?:y|ies)\b|\bwhat is an?\b",
    re.IGNORECASE,
)
Scores = Mapping[ChunkId, float]
Row = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as the features see it."""

    text: str
    own: tuple[str, ...]  # its terms, in order
    all: frozenset[str]  # with those that codes use for the same things
    districts: frozenset[str]  # that it names: "R-1"

    @classmethod
    def of(cls, question: str, widened: str) -> Asked:
        """Return the terms of a question, and of what is searched for it."""
        return cls(
            text=question,
            own=tuple(terms(question)),
            all=frozenset(terms(question)) | frozenset(terms(widened)),
            districts=frozenset(e.value for e in entities_of(question) if e.kind == "district"),
        )


def scaled(scores: Scores) -> dict[ChunkId, float]:
    """Return the scores from 0 (the lowest) to 1; all 1 if they are equal."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high - low < 1e-9:
        return dict.fromkeys(scores, 1.0)
    return {chunk: (value - low) / (high - low) for chunk, value in scores.items()}


def features(
    asked: Asked, candidates: Sequence[ChunkPreview], fused: Scores, late: Scores
) -> list[Row]:
    """Return a row of FEATURES for each candidate, in their order.

    `fused` is the first stage's score of each, `late` the reranker's of those that it read.
    """
    words = [_Words.of(c) for c in candidates]
    weight = _weights(asked, words)
    total = sum(weight[t] for t in frozenset(asked.own)) or 1.0
    pairs = _pairs(asked.own)
    wants_definition = bool(_DEFINITION_ASKED.search(asked.text))
    read = scaled(late)
    first = [fused.get(c.id, 0.0) for c in candidates]
    chapter = _support([c.path for c in candidates], first, most=5)
    record = _support([c.external_id for c in candidates], first, most=2)
    return [
        (
            first[at],
            read.get(one.id, 0.0),
            len(asked.all & word.heading) / max(1, len(word.heading)),
            sum(weight[t] for t in asked.all & word.path) / total,
            len(pairs & word.pairs) / max(1, len(pairs)),
            chapter[at],
            record[at],
            float(wants_definition and one.kind is ChunkKind.DEFINITION),
            _of_district(asked.districts, one),
        )
        for at, (one, word) in enumerate(zip(candidates, words, strict=True))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """The terms of a candidate's parts."""

    heading: frozenset[str]
    path: frozenset[str]
    text: frozenset[str]
    pairs: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, one: ChunkPreview) -> _Words:
        text = terms(one.text)
        return cls(
            heading=frozenset(terms(one.heading)),
            path=frozenset(terms(one.crumb)),
            text=frozenset(text),
            pairs=_pairs(text),
        )


def _of_district(asked: frozenset[str], one: ChunkPreview) -> float:
    """Return 1 if a chunk stands among the rules of an asked district, -1 if of another, else 0.

    A place of R-1 is one of R-1A, too.
    """
    named = districts_defined([(*one.path, one.heading)]) if asked else frozenset()
    if not named:
        return 0.0
    return 1.0 if any(a.startswith(n) for a in asked for n in named) else -1.0


def _pairs(words: Sequence[str]) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(words))


def _weights(asked: Asked, words: Sequence[_Words]) -> dict[str, float]:
    """Return the idf of the question's terms among the candidates: what tells them apart counts.

    The formula is that of BM25 (see corpus.words), plus 0.1 so that no term counts nothing.
    """
    count: Counter[str] = Counter()
    for word in words:
        count.update(word.text & asked.all)
    n = len(words)
    return {t: 0.1 + math.log(1 + (n - count[t] + 0.5) / (count[t] + 0.5)) for t in asked.all}


def _support(places: Sequence[Hashable], scores: Sequence[float], *, most: int) -> list[float]:
    """Return for each candidate what the best `most` others at its place were given together."""
    at: dict[Hashable, list[int]] = defaultdict(list)
    for position, place in enumerate(places):
        at[place].append(position)
    return [
        sum(sorted((scores[o] for o in at[place] if o != position), reverse=True)[:most])
        for position, place in enumerate(places)
    ]

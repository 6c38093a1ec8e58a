"""A question to ranked passages of one city's code: legs, fusion, reading, ranking.

Three legs find candidates; the reranker may read the best of them; the ranker orders all by what is
known of each.  Takes its store and encoder as arguments.  What it returns is stored text with its
section; nothing is generated here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import anyio

from appliance.answers.duplicates import collapsed
from appliance.answers.features import FEATURES, Asked, Row, features
from appliance.answers.ranking import Ranked, distinct, fuse, lifted
from appliance.corpus.chunks import embedding_input
from appliance.corpus.lay import widened
from appliance.corpus.spelling import (
    Correction,
    Respelled,
    doubtful,
    looked_up,
    near_terms,
    respelled,
)
from appliance.domain import LEGS, ChunkId, Hit, Leg, Named, Passage, Place, Query
from appliance.naming import named_hits, resolve_named
from appliance.ports import ChunkPreview, Encoder, FoundChunk, Reranker, Searcher
from models.ranker import shipped_ranker, weighed

# How many chunks each leg hands to fusion.  Beyond about 100 the tail only adds chunks that no leg
# ranks well.
DEPTH = 100
# How many candidates are ranked by what is known of each: of the gold passages that the legs find at
# all, hardly one stands further down (eval/ledger/017-ranker.md).
POOL = 64
# How many of them the reranker reads, in waves, so that it can stop when its time is up.
READ = 24
WAVE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a search is made of.  The default is the product; the rest is for evaluation."""

    legs: tuple[Leg, ...] = LEGS
    widen: bool = True  # add what codes call the things that the question names
    rerank: bool = False  # let the reranker read the best candidates: what it brings is not shown
    ranker: bool = True  # let the trained ranker order them
    seconds: float = 1.0  # the reranker begins no further wave after these

    @classmethod
    def of(cls, legs: Sequence[Leg]) -> Recipe:
        """Return the product's recipe for all legs; a part of them is shown in its own order."""
        return cls(legs=tuple(legs), ranker=set(legs) == set(LEGS))


PRODUCT = Recipe()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The passages of a question, best first, and how they were found."""

    passages: tuple[Passage, ...]
    hits: tuple[Hit, ...]
    named: tuple[Named, ...] = ()  # what the question names by number
    corrections: tuple[Correction, ...] = ()  # what misspelt words were read as
    chunks: tuple[ChunkId, ...] = ()  # parallel to `passages`
    evidence: Mapping[ChunkId, Mapping[str, float]] = field(default_factory=dict)  # the features


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The candidates of a question and what the legs and the reranker say of them."""

    asked: Asked
    hits: tuple[Hit, ...]
    named: tuple[Named, ...]
    corrections: tuple[Correction, ...]
    ranked: tuple[Ranked, ...]  # by the first stage
    candidates: tuple[ChunkPreview, ...]  # parallel to `ranked`
    fused: Mapping[ChunkId, float]  # the first stage's scores, without what is named
    late: Mapping[ChunkId, float]  # the reranker's, of those that it read


async def retrieve(
    store: Searcher,
    encoder: Encoder,
    query: Query,
    k: int,
    *,
    recipe: Recipe = PRODUCT,
) -> Retrieved:
    """Return the k best passages for the query from its city, in force on its day.

    Raises NoSuchCity.  A leg that has nothing (no term known, city not yet encoded) is left out.
    """
    pool = await gather(store, encoder, query, recipe, size=max(POOL, 3 * k))
    rows = features(pool.asked, pool.candidates, pool.fused, pool.late)
    ranked = lifted(_judged(pool, rows, recipe), pool.hits)
    preview = {c.id: c for c in pool.candidates}
    apart = distinct(ranked, 2 * k + 10, lambda r: preview[r.chunk])
    groups = collapsed(apart, lambda r: _words(preview[r.chunk]))[:k]
    found = {f.id: f for f in await store.chunks([first.chunk for first, _ in groups])}
    groups = [(first, others) for first, others in groups if first.chunk in found]
    passages = [
        _passage(i, first, found[first.chunk], [preview[o.chunk] for o in others])
        for i, (first, others) in enumerate(groups, start=1)
    ]
    return Retrieved(
        passages=tuple(passages),
        hits=pool.hits,
        named=pool.named,
        corrections=pool.corrections,
        chunks=tuple(first.chunk for first, _ in groups),
        evidence={
            c.id: dict(zip(FEATURES, row, strict=True))
            for c, row in zip(pool.candidates, rows, strict=True)
        },
    )


async def gather(
    store: Searcher, encoder: Encoder, query: Query, recipe: Recipe = PRODUCT, *, size: int = POOL
) -> Pool:
    """Return the best `size` candidates of the first stage and what is known of each."""
    read = await _respelled(store, encoder, query)
    text = widened(read.text) if recipe.widen else read.text
    hits, named = await _all_legs(store, encoder, query, text, recipe)
    fused = fuse(hits)
    first = lifted(fused, hits)[:size]
    found = {p.id: p for p in await store.previews([r.chunk for r in first])}
    ranked = [r for r in first if r.chunk in found]
    candidates = [found[r.chunk] for r in ranked]
    late: dict[ChunkId, float] = {}
    if recipe.rerank and encoder.reranker is not None:
        late = await _read(encoder.reranker, read.text, candidates, recipe.seconds)
    return Pool(
        asked=Asked.of(read.text, text),
        hits=tuple(hits),
        named=tuple(named),
        corrections=read.corrections,
        ranked=tuple(ranked),
        candidates=tuple(candidates),
        fused={r.chunk: r.score for r in fused},
        late=late,
    )


# ------------------------------------------------------------------ finding


async def _respelled(store: Searcher, encoder: Encoder, query: Query) -> Respelled:
    """Return the question with its misspelt words read as what the city's text has."""

    def ordinary(word: str) -> bool:
        # A word that the encoder's vocabulary has whole: one token between its two special ones.
        return encoder.tokenizer.count(word) == 3

    known = await store.frequencies(query.city, looked_up(query.text))
    words = doubtful(query.text, known, ordinary)
    near = await store.frequencies(query.city, near_terms(words)) if words else {}
    return respelled(query.text, words, near, ordinary)


async def _all_legs(
    store: Searcher, encoder: Encoder, query: Query, text: str, recipe: Recipe
) -> tuple[list[Hit], list[Named]]:
    """Return what the legs of the recipe find, side by side, and what the question names."""
    found: dict[Leg, Sequence[Hit]] = {}
    resolved: list[Named] = []
    only = await store.sections_having(query.city, query.having) if query.having else None

    async def dense() -> None:
        vector = await encoder.encode_query(text)
        found["dense"] = await store.dense(query.city, vector, DEPTH, query.as_of, only)

    async def lexical() -> None:
        found["lexical"] = await store.lexical(query.city, text, DEPTH, query.as_of, only)

    async def named() -> None:
        resolved.extend(await resolve_named(store, query))
        found["named"] = await named_hits(store, query, resolved, only)

    runs = {"dense": dense, "lexical": lexical, "named": named}
    try:
        async with anyio.create_task_group() as group:
            for leg in recipe.legs:
                group.start_soon(runs[leg])
    except ExceptionGroup as failures:
        # One reason is enough for the person who asked, and it is one of ours or a bug.
        raise failures.exceptions[0] from failures
    return [hit for leg in LEGS for hit in found.get(leg, ())], resolved


async def _read(
    reranker: Reranker, question: str, candidates: Sequence[ChunkPreview], seconds: float
) -> dict[ChunkId, float]:
    """Return the reranker's scores of the first READ candidates, or of as many as the time allows."""
    scores: dict[ChunkId, float] = {}
    until = time.monotonic() + seconds
    first = candidates[:READ]
    for at in range(0, len(first), WAVE):
        wave = first[at : at + WAVE]
        texts = [embedding_input(c.crumb, c.titles, c.text) for c in wave]
        given = await reranker.scores(question, texts)
        scores.update(zip((c.id for c in wave), given, strict=True))
        if time.monotonic() >= until:
            break
    return scores


# ------------------------------------------------------------------ ordering


def _judged(pool: Pool, rows: Sequence[Row], recipe: Recipe) -> list[Ranked]:
    """Return the candidates with the score that orders them: the ranker's, or the first stage's."""
    if not recipe.ranker:
        return list(pool.ranked)
    weights = shipped_ranker().row(FEATURES)
    judged = [weighed(weights, row) for row in rows]
    return [replace(r, score=s) for r, s in zip(pool.ranked, judged, strict=True)]


def _words(one: ChunkPreview) -> str:
    return "\n".join((*one.titles, one.text))


def _passage(
    position: int, ranked: Ranked, found: FoundChunk, others: Sequence[ChunkPreview]
) -> Passage:
    return Passage(
        label=str(position),
        section=found.section,
        span=found.span,
        score=round(ranked.score, 6),
        similarity=round(ranked.similarity, 6),
        legs=ranked.legs,
        kind=found.kind,
        leads=found.leads,
        also=tuple(
            Place(
                section=o.section,
                external_id=o.external_id,
                citation=o.citation,
                heading=o.heading,
                span=o.span,
            )
            for o in others
        ),
    )

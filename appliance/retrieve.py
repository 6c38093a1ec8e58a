"""A question to ranked passages of one city's code: three legs, fused.

Takes its store and encoder as arguments.  What it returns is stored text with its
section; nothing is generated here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from appliance.answers.ranking import Ranked, distinct, fuse
from appliance.corpus.lay import widened
from appliance.domain import LEGS, Hit, Leg, Passage, Query
from appliance.naming import named_hits, resolve_named
from appliance.ports import Encoder, FoundChunk, Searcher

# How many chunks each leg hands to fusion.  Beyond about 100 the tail only adds chunks that no leg
# ranks well.
DEPTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a search is made of.  The default is the product; the rest is for evaluation."""

    legs: tuple[Leg, ...] = LEGS
    widen: bool = True  # add what codes call the things that the question names
    rerank: bool = True  # let the reranker read the best candidates
    ranker: bool = True  # let the trained ranker order them


PRODUCT = Recipe()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The passages of a question, best first, and what the legs gave."""

    passages: tuple[Passage, ...]
    hits: tuple[Hit, ...]


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
    hits = await _all_legs(store, encoder, query, recipe)
    ranked = fuse(hits)
    found = {f.id: f for f in await store.chunks([r.chunk for r in ranked[: 4 * k + 40]])}
    ranked = [r for r in ranked if r.chunk in found]
    best = distinct(ranked, k, lambda r: found[r.chunk].section)
    passages = [_passage(i, r, found[r.chunk]) for i, r in enumerate(best, start=1)]
    return Retrieved(passages=tuple(passages), hits=tuple(hits))


async def _all_legs(store: Searcher, encoder: Encoder, query: Query, recipe: Recipe) -> list[Hit]:
    found: dict[Leg, Sequence[Hit]] = {}
    text = widened(query.text) if recipe.widen else query.text
    only = await store.sections_having(query.city, query.having) if query.having else None

    async def dense() -> None:
        vector = await encoder.encode_query(text)
        found["dense"] = await store.dense(query.city, vector, DEPTH, query.as_of, only)

    async def lexical() -> None:
        found["lexical"] = await store.lexical(query.city, text, DEPTH, query.as_of, only)

    async def named() -> None:
        resolved = await resolve_named(store, query)
        found["named"] = await named_hits(store, query, resolved, only)

    runs = {"dense": dense, "lexical": lexical, "named": named}
    try:
        async with anyio.create_task_group() as group:
            for leg in recipe.legs:
                group.start_soon(runs[leg])
    except ExceptionGroup as failures:
        # One reason is enough for the person who asked, and it is one of ours or a bug.
        raise failures.exceptions[0] from failures
    return [hit for leg in LEGS for hit in found.get(leg, ())]


async def named_numbers(store: Searcher, query: Query) -> list[str]:
    """Return the numbers of sections, tables and chapters that the question names and the city has."""
    return [n.number for n in await resolve_named(store, query) if n.sections]


def _passage(position: int, ranked: Ranked, found: FoundChunk) -> Passage:
    return Passage(
        label=str(position),
        section=found.section,
        span=found.span,
        score=round(ranked.score, 6),
        similarity=round(ranked.similarity, 6),
        legs=ranked.legs,
        kind=found.kind,
        leads=found.leads,
    )

"""The ways to put legs together that the product does not use, for the ledger's sake.  Pure.

Each takes the legs' hits for one question, as the store gave them, and returns the chunks best first.
What the product does stands in `appliance.answers.ranking` and is not repeated here.

Reciprocal rank   the sum over the legs of weight / (k + rank): Cormack, Clarke & Büttcher, Reciprocal
                  Rank Fusion outperforms Condorcet and individual Rank Learning Methods, SIGIR 2009.
Convex            the weighted sum of the legs' scores, each scaled from its lowest (0) to its best (1)
                  within the question: Bruch, Gai & Ingber, An Analysis of Fusion Functions for Hybrid
                  Retrieval, 2022, section 4.
A chunk that a leg did not return gets nothing from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from appliance.answers.ranking import Ranked
from appliance.domain import ChunkId, Hit, Leg

K = 60  # the constant of the paper


def one_leg(hits: Sequence[Hit], leg: Leg) -> list[Ranked]:
    """Return what one leg found, in its own order."""
    own = sorted((h for h in hits if h.leg == leg), key=lambda h: h.rank)
    return _ranked(own, {id(h): -float(h.rank) for h in own})


def reciprocal_ranks(hits: Sequence[Hit], weights: Mapping[Leg, float], k: int = K) -> list[Ranked]:
    """Return the chunks by their weighted reciprocal ranks; a leg without a weight is left out."""
    own = [h for h in hits if h.leg in weights]
    return _ranked(own, {id(h): weights[h.leg] / (k + h.rank) for h in own})


def convex(hits: Sequence[Hit], weights: Mapping[Leg, float]) -> list[Ranked]:
    """Return the chunks by the weighted sum of scaled scores; a leg without a weight is left out."""
    own = sorted((h for h in hits if h.leg in weights), key=lambda h: h.leg)
    values: dict[int, float] = {}
    for leg, group in groupby(own, key=lambda h: h.leg):
        values |= {i: weights[leg] * value for i, value in _scaled(list(group)).items()}
    return _ranked(own, values)


def _scaled(hits: Sequence[Hit]) -> dict[int, float]:
    low, high = min(h.score for h in hits), max(h.score for h in hits)
    width = high - low
    return {id(h): (h.score - low) / width if width > 1e-9 else 1.0 for h in hits}


def _ranked(hits: Sequence[Hit], values: Mapping[int, float]) -> list[Ranked]:
    """Return one entry a chunk with the sum of its hits' values, the best first, ties by chunk."""
    by_chunk: dict[ChunkId, list[Hit]] = {}
    for hit in hits:
        by_chunk.setdefault(hit.chunk, []).append(hit)
    entries = [
        Ranked(
            chunk=chunk,
            section=of_chunk[0].section,
            score=sum(values[id(h)] for h in of_chunk),
            legs=tuple(h.leg for h in of_chunk),
            similarity=next((h.score for h in of_chunk if h.leg == "dense"), 0.0),
        )
        for chunk, of_chunk in by_chunk.items()
    ]
    return sorted(entries, key=lambda r: (-r.score, r.chunk))

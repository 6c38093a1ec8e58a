"""From the hits of the legs to one ranked list, and from the list to a packed prompt.  Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from appliance.domain import ChunkId, Hit, Leg, Passage, SectionId

# Weights of the convex combination of the legs' scores, each scaled to 0..1 within the question.
# Measured on the dev questions, cities held out in turn: see eval/ledger/fusion.md.
WEIGHTS: Mapping[Leg, float] = {"dense": 0.6, "lexical": 0.4}

# Two chunks of one section are two answers only if the section is one of those records that hold
# dozens of sections; elsewhere the second one only pushes another section down.
GIANT = 12_000  # code points
PER_GIANT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A chunk with its fused score and the legs that found it."""

    chunk: ChunkId
    section: SectionId
    score: float
    legs: tuple[Leg, ...]
    similarity: float  # cosine of the dense leg; 0 where it did not see the chunk


def fuse(
    hits: Iterable[Hit], weights: Mapping[Leg, float] = WEIGHTS, named_first: bool = True
) -> list[Ranked]:
    """Return the chunks by the weighted sum of their scaled scores; named sections come first.

    A leg's scores are scaled from its lowest hit (0) to its best (1); a chunk that a leg did not
    return gets 0 there (Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval,
    2022, section 4: theoretical-minimum scaling behaves alike).
    """
    by_leg: dict[Leg, list[Hit]] = {}
    for hit in hits:
        by_leg.setdefault(hit.leg, []).append(hit)
    named = {h.section: h.rank for h in reversed(by_leg.pop("named", []))}
    named_chunks = {h.section: h.chunk for h in reversed([x for x in hits if x.leg == "named"])}
    scores: dict[ChunkId, float] = {}
    where: dict[ChunkId, SectionId] = {}
    found: dict[ChunkId, list[Leg]] = {}
    similarity: dict[ChunkId, float] = {}
    for leg, of_leg in by_leg.items():
        for hit, value in zip(of_leg, _scaled(of_leg), strict=True):
            scores[hit.chunk] = scores.get(hit.chunk, 0.0) + weights.get(leg, 0.0) * value
            where[hit.chunk] = hit.section
            found.setdefault(hit.chunk, []).append(leg)
            if leg == "dense":
                similarity[hit.chunk] = hit.score
    if named_first:
        _lift_named(named, named_chunks, scores, where, found)
    ranked = [
        Ranked(
            chunk=chunk,
            section=where[chunk],
            score=score,
            legs=tuple(found[chunk]),
            similarity=similarity.get(chunk, 0.0),
        )
        for chunk, score in scores.items()
    ]
    return sorted(ranked, key=lambda r: (-r.score, r.chunk))


def _scaled(hits: Sequence[Hit]) -> list[float]:
    low, high = min(h.score for h in hits), max(h.score for h in hits)
    if high - low < 1e-9:
        return [1.0] * len(hits)
    return [(h.score - low) / (high - low) for h in hits]


def _lift_named(
    named: Mapping[SectionId, int],
    first_chunk: Mapping[SectionId, ChunkId],
    scores: dict[ChunkId, float],
    where: dict[ChunkId, SectionId],
    found: dict[ChunkId, list[Leg]],
) -> None:
    """Put the sections that the question names above all others, in the named leg's order."""
    for section in named:
        if not any(where[c] == section for c in scores):
            chunk = first_chunk[section]
            scores[chunk], where[chunk], found[chunk] = 0.0, section, []
    for chunk, section in where.items():
        if section in named:
            scores[chunk] += 2.0 + 1.0 / named[section]
            found[chunk].append("named")


def distinct(ranked: Iterable[Ranked], k: int, length: Callable[[Ranked], int]) -> list[Ranked]:
    """Return the first k chunks with at most one of a section (PER_GIANT of a giant one)."""
    taken: dict[SectionId, int] = {}
    kept: list[Ranked] = []
    for item in ranked:
        allowed = PER_GIANT if length(item) > GIANT else 1
        if taken.get(item.section, 0) < allowed:
            taken[item.section] = taken.get(item.section, 0) + 1
            kept.append(item)
        if len(kept) == k:
            break
    return kept


def pack(passages: Sequence[Passage], budget: int, cost: Callable[[str], int]) -> list[Passage]:
    """Return the best passages whose texts fit into `budget` tokens together, whole, relabelled.

    A passage is never cut: one that does not fit is left out and smaller ones behind it may follow.
    """
    kept: list[Passage] = []
    left = budget
    for passage in passages:
        need = cost(passage.text) + cost(passage.section.heading) + 24  # label, citation, line ends
        if need <= left:
            left -= need
            kept.append(replace(passage, label=str(len(kept) + 1)))
    return kept

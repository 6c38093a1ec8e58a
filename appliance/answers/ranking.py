"""From the hits of the legs to one ranked list, and from the list to a packed prompt.  Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from appliance.domain import ChunkId, Hit, Leg, Passage, SectionId
from appliance.ports import ChunkPreview

# Weights of the convex combination of the legs' scores, each scaled to 0..1 within the question.
# Measured on the dev questions, cities held out in turn: see eval/ledger/002-fusion.md.
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


def fuse(hits: Sequence[Hit], weights: Mapping[Leg, float] = WEIGHTS) -> list[Ranked]:
    """Return the chunks by the weighted sum of their scaled scores, best first.

    A leg's scores are scaled from its lowest hit (0) to its best (1); a chunk that a leg did not
    return gets 0 there (Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval,
    2022, section 4: theoretical-minimum scaling behaves alike).
    """
    pool = _Pool()
    for leg in ("dense", "lexical"):
        of_leg = [h for h in hits if h.leg == leg]
        for hit, value in zip(of_leg, _scaled(of_leg), strict=True):
            pool.add(hit, weights[leg] * value)
    return _best_first(
        Ranked(
            chunk=chunk,
            section=pool.section[chunk],
            score=score,
            legs=tuple(pool.legs[chunk]),
            similarity=pool.similarity.get(chunk, 0.0),
        )
        for chunk, score in pool.score.items()
    )


def lifted(ranked: Sequence[Ranked], hits: Iterable[Hit]) -> list[Ranked]:
    """Put the sections that the question names above all others, those of the best class first.

    Of one class the scores decide, scaled to 0..1; so they do among the chunks of one section.  A
    section that no other leg found comes with its first chunk.
    """
    best: dict[SectionId, Hit] = {}
    for hit in hits:
        if hit.leg == "named":
            best.setdefault(hit.section, hit)
    found = {r.section for r in ranked}
    alone = [
        Ranked(chunk=h.chunk, section=h.section, score=-math.inf, legs=(), similarity=0.0)
        for h in best.values()
        if h.section not in found
    ]
    return _best_first(_lifted(r, best.get(r.section)) for r in [*_to_one(ranked), *alone])


def _lifted(ranked: Ranked, hit: Hit | None) -> Ranked:
    if hit is None:
        return ranked
    legs: tuple[Leg, ...] = ranked.legs if "named" in ranked.legs else (*ranked.legs, "named")
    own = max(ranked.score, 0.0)
    return replace(ranked, score=own + 2.0 + 10.0 * hit.score, legs=legs)


def _to_one(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the same order with scores from 0 to 1, which people can read."""
    if not ranked:
        return []
    low, high = min(r.score for r in ranked), max(r.score for r in ranked)
    width = high - low if high - low > 1e-9 else 1.0
    return [replace(r, score=(r.score - low) / width) for r in ranked]


def _best_first(ranked: Iterable[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=lambda r: (-r.score, r.chunk))


@dataclass(slots=True)
class _Pool:
    """What is known of each chunk while the legs are put together."""

    score: dict[ChunkId, float] = field(default_factory=dict)
    section: dict[ChunkId, SectionId] = field(default_factory=dict)
    legs: dict[ChunkId, list[Leg]] = field(default_factory=dict)
    similarity: dict[ChunkId, float] = field(default_factory=dict)

    def add(self, hit: Hit, score: float) -> None:
        self.score[hit.chunk] = self.score.get(hit.chunk, 0.0) + score
        self.section[hit.chunk] = hit.section
        self.legs.setdefault(hit.chunk, []).append(hit.leg)
        if hit.leg == "dense":
            self.similarity[hit.chunk] = hit.score


def _scaled(hits: Sequence[Hit]) -> list[float]:
    if not hits:
        return []
    low, high = min(h.score for h in hits), max(h.score for h in hits)
    if high - low < 1e-9:
        return [1.0] * len(hits)
    return [(h.score - low) / (high - low) for h in hits]


def distinct(
    ranked: Iterable[Ranked], k: int, preview_of: Callable[[Ranked], ChunkPreview]
) -> list[Ranked]:
    """Return the first k chunks with at most one of a record, PER_GIANT of a giant one.

    The sections that hide in one record count as that record: whoever looks a passage up by the
    record's id would else be shown the same record ten times.
    """
    taken: dict[str, int] = {}
    kept: list[Ranked] = []
    for item in ranked:
        if len(kept) == k:
            break
        section = preview_of(item)
        giant = section.inside > 0 or section.length > GIANT
        if taken.get(section.external_id, 0) < (PER_GIANT if giant else 1):
            taken[section.external_id] = taken.get(section.external_id, 0) + 1
            kept.append(item)
    return kept


def tokens_at_most(text: str) -> int:
    """Return a safe upper bound of a text's tokens for any common tokenizer.

    English law text has about 4.5 characters a token in the tokenizers of Qwen and SmolLM2; tables
    and numbers come near 2.5.
    """
    return len(text) * 2 // 5 + 1


def pack(
    passages: Sequence[Passage], budget: int, cost: Callable[[str], int] = tokens_at_most
) -> list[Passage]:
    """Return the best passages whose texts fit into `budget` tokens together, whole, relabelled.

    A passage is never cut: one that does not fit is left out and smaller ones behind it may follow.
    """
    kept: list[Passage] = []
    left = budget
    for passage in passages:
        words = [*passage.over, passage.text, passage.section.heading]
        need = sum(cost(w) for w in words) + 24  # label, citation, line ends
        if need <= left:
            left -= need
            kept.append(replace(passage, label=str(len(kept) + 1)))
    return kept

"""Is there enough to answer from?  The decision to abstain, apart from its wording.  Pure."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.domain import Passage

# Cosine of the best passage below which nothing on the subject was found.  The best of many passages
# is nearer by chance than the best of few, hence two bounds: on the dev questions (cities of 1,000 to
# 45,000 chunks) 0.38 turned 2 of 255 answerable ones away and 4 of 30 others; in the sample cities (58
# and 86 chunks) it would turn 3 of 24 away, and 0.30 does 1 (eval/ledger/004-abstention.md).  A model
# that reads the passages is the better judge, and its "not found" is an abstention too.
LEAST_SIMILARITY = 0.38
LEAST_SIMILARITY_OF_FEW = 0.30
FEW = 500  # chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for an answer being in the code."""

    passages: tuple[Passage, ...]
    missing: tuple[str, ...]  # words of the question that no chunk of the city holds
    named: bool  # the question names a section that exists
    chunks: int  # how many the city has


def enough(evidence: Evidence) -> bool:
    """Tell whether to answer."""
    if not evidence.passages:
        return False
    if evidence.named:
        return True
    best = max(p.similarity for p in evidence.passages)
    # Before a city is encoded there is no similarity to judge by.
    seen = any("dense" in p.legs for p in evidence.passages)
    least = LEAST_SIMILARITY_OF_FEW if evidence.chunks < FEW else LEAST_SIMILARITY
    return not seen or best >= least

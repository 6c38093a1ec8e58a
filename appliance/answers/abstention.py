"""Is there enough to answer from?  The decision to abstain, apart from its wording.  Pure."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.domain import Passage

# Cosine of the best passage below which nothing on the subject was found: on the dev questions that
# turned 2 of 255 answerable ones away and 4 of 30 others (eval/ledger/004-abstention.md).  A higher
# one costs more right answers than it saves wrong ones; a model that reads the passages is the better
# judge, and its "not found" is an abstention too.
LEAST_SIMILARITY = 0.38


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for an answer being in the code."""

    passages: tuple[Passage, ...]
    missing: tuple[str, ...]  # words of the question that no chunk of the city holds
    named: bool  # the question names a section that exists


def enough(evidence: Evidence) -> bool:
    """Tell whether to answer."""
    if not evidence.passages:
        return False
    if evidence.named:
        return True
    best = max(p.similarity for p in evidence.passages)
    # Before a city is encoded there is no similarity to judge by.
    seen = any("dense" in p.legs for p in evidence.passages)
    return not seen or best >= LEAST_SIMILARITY

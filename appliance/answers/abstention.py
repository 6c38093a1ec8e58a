"""Is there enough to answer from?  The decision to abstain, apart from its wording.  Pure."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.domain import Passage

# Cosine of the best passage below which the dense leg found nothing on the subject.  MiniLM gives
# unrelated law text 0.15 to 0.3; see eval/ledger for the curve on the dev questions.
LEAST_SIMILARITY = 0.30


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

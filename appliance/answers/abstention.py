"""Is there enough to answer from?  The decision to abstain, apart from its wording.  Pure."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.domain import Passage

# Cosine of the best passage below which nothing on the subject was found ("renew my driver's license":
# 0.22).  It cannot do more: on the dev questions a bound of 0.38 turned away 6 answerable questions, 5
# with their gold section found, for 3 others (eval/ledger/004-abstention.md).  A model that reads the
# passages is the better judge, and its "not found" is an abstention too.
LEAST_SIMILARITY = 0.30
# Below this the passages are shown with a warning: 19 of 33 unanswerable dev questions are, and 34 of
# 296 answerable ones.
FAINT = 0.46


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for an answer being in the code."""

    passages: tuple[Passage, ...]
    missing: tuple[str, ...]  # words of the question that no chunk of the city holds
    named: bool  # the question names a section that exists

    @property
    def similarity(self) -> float | None:
        """Return the best passage's cosine; None before the city is encoded."""
        if not any("dense" in p.legs for p in self.passages):
            return None
        return max(p.similarity for p in self.passages)


def enough(evidence: Evidence) -> bool:
    """Tell whether to answer."""
    if not evidence.passages:
        return False
    similarity = evidence.similarity
    return evidence.named or similarity is None or similarity >= LEAST_SIMILARITY


def faint(evidence: Evidence) -> bool:
    """Tell whether the passages are so far from the question that a reader must be warned."""
    similarity = evidence.similarity
    return not evidence.named and similarity is not None and similarity < FAINT

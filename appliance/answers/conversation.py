"""A follow-up to a question that stands alone, by the questions before it.  Pure.

"And for a corner lot?" is searched together with the question that it follows, and then held to the
same rules as a first one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from appliance.corpus.named import asked_of
from appliance.corpus.words import terms

MOST_TURNS = 4  # what was asked before these is another subject by now
# Fewer content words than this say nothing by themselves.
FEWEST_TERMS = 3

_LEADS_ON = re.compile(
    r"\A(?:and|but|or|so|ok(?:ay)?|then|also|now)?[,\s]*(?:what|how)\s+(?:about|if)\b"
    r"|\A(?:and|but|or)\b(?!\s+(?:do|does|did|is|are|can|may|must|should|what|where|when|who|how)\s+(?!it\b|that\b|this\b|they\b|those\b))"
    r"|\A(?:same|likewise|does\s+(?:that|it|this)|is\s+(?:that|it|this)|are\s+(?:they|those|these)"
    r"|do\s+(?:they|those|these)|can\s+(?:it|they)|why|who\s+says)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|that\s+(?:one|case|rule|limit|fee|permit)|those|these|they|them|there|instead|otherwise"
    r"|the\s+(?:same|latter|former|other))\b",
    re.IGNORECASE,
)


def follows(question: str) -> bool:
    """Tell whether a question cannot be understood without the one before it."""
    if asked_of(question):
        return False  # it says by number what it is about
    if _LEADS_ON.search(question):
        return True
    own = len(set(terms(question)))
    return own < FEWEST_TERMS or (own < 2 * FEWEST_TERMS and bool(_POINTS_BACK.search(question)))


def standing_alone(question: str, before: Sequence[str]) -> str:
    """Return the question with those that it follows, in their order; itself if it follows none."""
    chain = [question]
    for earlier in reversed(before[-MOST_TURNS:]):
        if not follows(chain[0]):
            break
        chain.insert(0, earlier)
    return " ".join(chain)

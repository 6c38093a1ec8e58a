"""A question that asks two things: its parts, each to be searched by itself, and their results as one.

Pure.  Splitting is shy: a question whose parts cannot be told for certain stays
whole, and the whole question is always searched too and leads.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from itertools import zip_longest
from typing import TypeVar

from appliance.corpus.words import STOP

MOST = 3  # parts; what is asked beyond them stays with the last

T = TypeVar("T", bound=Hashable)

_AUXILIARY = (
    r"(?:do|does|did|can|could|may|might|must|should|shall|will|would|is|are|was|were|am|has|have)"
)
_SUBJECT = (
    r"(?:i|we|you|he|she|it|they|there|someone|anyone|my|our|your|his|her|its|their|the|an?|this)"
)
# How a question begins.  "When", "where" and "which" also begin clauses that ask nothing.
_ASKS = rf"""(?:
    how\s(?:many|much|far|tall|high|long|big|large|close|near|wide|deep|old|often|soon|quickly|fast
        |thick|heavy|early|late|do|does|did|can|could|is|are|must|should|will|would)
    | (?:what|who|whom|whose|why)\b
    | (?:when|where)\s{_AUXILIARY}
    | which\s\w+(?:\s\w+)?\s{_AUXILIARY}
    | {_AUXILIARY}\s{_SUBJECT}
)\b"""
# Where a clause begins: "I have a house" asks nothing, "At what point does it" does.
_BEGINS = re.compile(
    r"(?:\A|[.,:;?!–—-]\s+)(?:(?:and|but|so|also|at|by|for|from|in|on|to|under|with)\s+)*"
    rf"(?P<asks>{_ASKS})",
    re.IGNORECASE | re.VERBOSE,
)
# Between two questions: the end of one, or "and" or a dash before the next.
_JOINT = re.compile(
    rf"(?:[?!.]+\s+(?:and\s+|also,?\s+|if\s+so,?\s+)?|\s*[,;]?\s+(?:and|plus)\s+(?:also\s+|if\s+so,?\s+)?|\s+[–—-]\s+)"
    rf"(?={_ASKS})",
    re.IGNORECASE | re.VERBOSE,
)
# Words that frame a question and name no thing.
_FRAME = STOP | frozenset(
    (
        *("need", "needs", "must", "may", "shall", "might", "many", "much", "far", "tall", "high"),
        *(
            "long",
            "big",
            "large",
            "close",
            "near",
            "wide",
            "deep",
            "old",
            "often",
            "soon",
            "quickly",
        ),
        *("fast", "also", "there", "ok", "okay", "allowed", "someone", "anyone", "something"),
        *(
            "anything",
            "exactly",
            "required",
            "require",
            "max",
            "maximum",
            "min",
            "minimum",
            "least",
        ),
        *("longer", "still", "even", "ever", "way", "want"),
    )
)
_LETTERS = re.compile(r"[^\W_][\w'’.-]*")


def parts_of(question: str) -> tuple[str, ...]:
    """Return the questions that a question is made of, each understood without the others.

    One that asks a single thing comes back alone, as it is.  A later part brings the things along
    that the first one speaks of: "how far from the lot line must it be? (permit shed)".
    """
    pieces = _pieces(" ".join(question.split()))
    if len(pieces) < 2:
        return (question,)
    lead, first = _without_lead(pieces[0])
    subject = " ".join(_things(first))
    rest = [*pieces[1 : MOST - 1], " and ".join(pieces[MOST - 1 :])][: len(pieces) - 1]
    brought = f"{lead} {subject}".strip()
    return (pieces[0].rstrip("?") + "?", *(f"{p.rstrip('?')}? ({brought})" for p in rest))


def _pieces(question: str) -> list[str]:
    """Return the stretches of a question that each ask something of their own."""
    joints = [(0, 0), *((m.start(), m.end()) for m in _JOINT.finditer(question))]
    ends = [*(start for start, _ in joints[1:]), len(question)]
    pieces: list[tuple[int, int]] = []
    for (_, start), end in zip(joints, ends, strict=True):
        if pieces and not (_asks(question[slice(*pieces[-1])]) and _asks(question[start:end])):
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    return [question[start:end].strip(" ,;") for start, end in pieces]


def _asks(piece: str) -> bool:
    """Tell whether a stretch is a question that names a thing."""
    begins = _BEGINS.search(piece)
    return begins is not None and bool(_things(piece[begins.start("asks") :]))


def _without_lead(piece: str) -> tuple[str, str]:
    """Return what is told before a question, and the question."""
    begins = _BEGINS.search(piece)
    assert begins is not None  # by `_asks`
    at = begins.start("asks")
    return piece[:at].strip(" ,;:.-–—"), piece[at:]


def _things(piece: str) -> list[str]:
    words = (word.rstrip(".'’-") for word in _LETTERS.findall(piece))
    return [word for word in words if word.casefold().replace("’", "'") not in _FRAME]


def interleaved(rankings: Sequence[Sequence[T]]) -> list[T]:
    """Return what any of the rankings holds, by its best rank in one; the earlier ranking leads.

    The first ranking is that of the whole question: at equal ranks its results stand first.
    """
    missing = object()
    rows: Iterable[tuple[object, ...]] = zip_longest(*rankings, fillvalue=missing)
    return list(dict.fromkeys(item for row in rows for item in row if item is not missing))  # type: ignore[misc]

"""What a code says of fractions of a whole: counted, dropped, from a half on.  Pure.

"When … results in a requirement of a fractional space, an additional space shall be provided";
"any fraction less than one-half may be dropped and any fraction of one-half or more shall be counted
as one".  A rule has a scope: this section, chapter, article or title, as its words say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from appliance.calculators.calculator import Round
from appliance.domain import Span

_SENTENCE = re.compile(r"[^.;\n|]*(?:\.\d[^.;\n|]*)*[.;\n|]?")
_FRACTION = re.compile(r"\bfraction(?:al|s)?\b", re.IGNORECASE)
_SPACE = re.compile(r"\b(?:space|stall|parking)s?\b", re.IGNORECASE)
_RESULT = re.compile(
    r"\b(?:result|comput|calculat|determin|requir|any fraction|each fraction|where .{0,30}fraction"
    r"|fractions? .{0,60}(?:discard|disregard|dropped))",
    re.IGNORECASE,
)
# "1 space for every 3 units or major fraction thereof" is a rate, not a rule on results.
_RATE = re.compile(
    r"\bfractions?\s+(?:there)?of\b(?!\s+(?:one|a\s+space|less|more|½|0?\.\d|1/2|an?\b))",
    re.IGNORECASE,
)

_NUMBER = r"(?:one[\s-]half|½|1/2|0?\.\d{1,2})"
_WORDS: tuple[tuple[Literal["up", "down", "from", "above"], str], ...] = (
    # The edge itself counts: "one-half or more", "½ or over", "equal to or greater than 0.5".
    (
        "from",
        (
            rf"(?<!less\sthan\s)(?P<edge>{_NUMBER})(?:\s*\([^)]{{1,6}}\))?\s+(?:space\s+)?(?:or|and)\s+"
            r"(?:more|over|greater|above|larger)"
        ),
    ),
    (
        "from",
        (
            r"(?:equal\s+to\s+or\s+(?:greater|more)\s+than|(?:greater|more)\s+than\s+or\s+equal\s+to)\s+"
            rf"(?P<edge>{_NUMBER})"
        ),
    ),
    # It does not: "more than 0.75", "exceeding one-half", "over one-half".
    (
        "above",
        (
            r"(?:greater\s+than|more\s+than|exceed(?:s|ing)?|over|in\s+excess\s+of|above)\s+"
            rf"(?P<edge>{_NUMBER})"
        ),
    ),
    (
        "up",
        (
            r"\b(?:an\s+additional|one\s+(?:\(1\)\s+)?(?:additional|more|whole|full)|a\s+full|a\s+whole)\s+"
            r"(?:parking\s+)?(?:space|stall)"
        ),
    ),
    (
        "up",
        (
            r"rounded\s+up(?:ward)?|next\s+(?:highest|higher|largest|greater|whole)"
            r"|(?:highest|higher)\s+whole"
        ),
    ),
    (
        "up",
        (
            r"(?:shall|must|will)\s+(?:require|count\s+as|be\s+counted\s+as|be\s+considered"
            r"|be\s+provided\s+for\s+that)\b.{0,20}\b(?:one|a)\b"
        ),
    ),
    ("up", r"one\s+(?:\(1\)\s+)?space\s+(?:must|shall)\s+be\s+provided\s+for\s+that"),
    ("from", r"nearest\s+whole|rounded\s+to\s+the\s+nearest"),
    (
        "down",
        (
            r"rounded\s+down|(?:fraction|space)s?\s+shall\s+be\s+(?:disregarded|dropped|reduced)"
            r"|reduced\s+to\s+the"
        ),
    ),
)
_FORMS = tuple((rule, re.compile(words, re.IGNORECASE)) for rule, words in _WORDS)
_SCOPES = re.compile(
    r"\bth(?:is|ese)\s+(section|subsection|chapter|article|title|ordinance|code|division)\b|\bherein\b",
    re.IGNORECASE,
)
MOST_SENTENCE = 600  # code points; a longer stretch is not one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundingRule:
    """A sentence on fractions of parking spaces, how far it reaches, and where it stands."""

    step: Round
    scope: str  # section | chapter | article | title | …; "" where the sentence does not say
    span: Span


def rounding_rules(text: str) -> list[RoundingRule]:
    """Return the sentences of a text that say what is done with a fraction of a space."""
    if "raction" not in text:
        return []
    return list(_rules(text))


def _rules(text: str) -> Iterator[RoundingRule]:
    for match in _SENTENCE.finditer(text):
        words = match.group()
        if not _FRACTION.search(words) or len(words) > MOST_SENTENCE:
            continue
        if not _SPACE.search(words) or not _RESULT.search(words) or _RATE.search(words):
            continue
        step = rounding_in(" ".join(words.split()))
        if step is not None:
            start = match.start() + len(words) - len(words.lstrip())
            scope = _SCOPES.search(words)
            yield RoundingRule(
                step=step,
                scope=(scope[1] or "").casefold() if scope else "",
                span=Span(start=start, end=match.start() + len(words.rstrip())),
            )


def rounding_in(sentence: str) -> Round | None:
    """Return what a sentence says is done with a fraction; None if it does not say."""
    for rule, form in _FORMS:
        if match := form.search(sentence):
            edge = _edge(match) if rule in ("from", "above") else None
            return Round(rule=rule, fraction=edge)
    return None


def _edge(match: re.Match[str]) -> Decimal:
    words = match.groupdict().get("edge") or ""
    return (
        Decimal("0" + words)
        if words.startswith(".")
        else Decimal(words)
        if words[:2] == "0."
        else Decimal("0.5")
    )

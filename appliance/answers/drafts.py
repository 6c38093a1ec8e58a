"""From a model's draft to an answer: every mark of proof is checked, what fails is taken out.  Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from appliance.answers.citations import locate, long_enough, prove
from appliance.answers.numbers import unsupported_numbers
from appliance.corpus.references import find_references
from appliance.domain import Answer, Citation, Draft, Passage

# [1], [1: "words"], [1, 2]; models also write “curly” marks.
_MARK = re.compile(
    r"(?<![ \t])(?P<lead>[ \t]*+)\[\s*+(?P<labels>\d{1,2}(?:\s*+,\s*+\d{1,2})*+)\s*+"
    # A quote of over 1,000 characters is none: the rules ask for thirty words.
    r"(?::\s*+(?P<quote>[\"“].{0,1000}?[\"”]))?\s*+\]",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A draft after verification."""

    answer: Answer | None  # None: it did not survive
    why_not: str | None = None


def check_draft(
    draft: Draft,
    passages: Sequence[Passage],
    *,
    as_of: date,
    known: Collection[tuple[str, str]],
) -> Checked:
    """Verify a draft against the passages it was given.

    `known` holds the (kind, number) labels of the city's registry among those that the draft names.
    A draft survives if at least one of its claims is proven by an exact quote.
    """
    citations: list[Citation] = []
    text = _MARK.sub(lambda m: _replacement(m, passages, as_of, citations), draft.text)
    if not citations:
        return Checked(answer=None, why_not="nothing in the model's draft could be proven")
    text = text.strip()
    return Checked(
        answer=Answer(
            outcome="answer",
            text=text,
            citations=tuple(citations),
            phantoms=phantoms(text, known),
            unsupported_numbers=unsupported_numbers(text, [c.section.text for c in citations]),
            draft=draft,
        )
    )


def _replacement(
    mark: re.Match[str], passages: Sequence[Passage], as_of: date, citations: list[Citation]
) -> str:
    """Return "[n]" for a proven mark, n counting the answer's citations, and nothing for another.

    The blanks before a mark go with it, so that no gap is left before a full stop.
    """
    if not mark["quote"]:
        return ""
    quote = mark["quote"][1:-1]
    if not long_enough(quote):
        return ""
    labels = [int(label) for label in mark["labels"].split(",")]
    for passage in (p for p in passages if int(p.label) in labels):
        span = locate(quote, passage.text)
        if span is None:
            continue
        proof = prove(
            passage.section,
            span.shifted(passage.span.start),
            as_of=as_of,
            retrieved=passages,
            legs=passage.legs,
            leads=passage.leads,
        )
        if isinstance(proof, Citation):
            if proof not in citations:
                citations.append(proof)
            return f"{mark['lead']}[{citations.index(proof) + 1}]"
    return ""


def named_numbers(text: str) -> list[str]:
    """Return the normalised numbers that a text names, for a look-up in the registry."""
    return sorted({r.number for r in find_references(text) if r.kind in ("section", "table")})


def phantoms(text: str, known: Collection[tuple[str, str]]) -> tuple[str, ...]:
    """Return the sections and tables that a text names and the registry does not have, as written."""
    missing = []
    for reference in find_references(text):
        if reference.bare or reference.kind not in ("section", "table"):
            continue
        kinds = {"section": ("section", "chapter", "article"), "table": ("table",)}[reference.kind]
        if not any((kind, reference.number) in known for kind in kinds):
            missing.append(reference.span.of(text))
    return tuple(dict.fromkeys(missing))

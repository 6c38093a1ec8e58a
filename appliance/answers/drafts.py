"""From a model's draft to an answer: every mark of proof is checked, what fails is taken out.  Pure.

marks -> proven or failed; sentences -> shown or withheld; what is shown is numbered anew.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeVar

from appliance.answers.citations import locate, long_enough, prove
from appliance.answers.claims import (
    FAILED,
    PRIVATE,
    PROVEN,
    best,
    faults,
    phantoms,
    sentences,
    strange_numbers,
)
from appliance.answers.harmless import restored
from appliance.domain import Answer, Citation, CityId, Claim, Draft, Flag, Passage

# [1], [1: "words"], [1, 2]; models also write “curly” marks.
_MARK = re.compile(
    r"(?<![ \t])(?P<lead>[ \t]*+)\[\s*+(?P<labels>\d{1,2}(?:\s*+,\s*+\d{1,2})*+)\s*+"
    # A quote of over 1,000 characters is none: the rules ask for thirty words.
    r"(?::\s*+(?P<quote>[\"“].{0,1000}?[\"”]))?\s*+\]",
    re.DOTALL,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A draft after verification."""

    answer: Answer | None  # None: it did not survive
    why_not: str | None = None
    withheld: tuple[Claim, ...] = ()
    phantoms: tuple[str, ...] = ()  # that the draft names
    unsupported_numbers: tuple[str, ...] = ()  # of the draft


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    """A sentence of a draft with what was found out about it."""

    text: str  # with its marks and what follows it
    citations: tuple[Citation, ...]
    flags: tuple[Flag, ...]
    strange: tuple[str, ...]  # figures from nowhere

    @property
    def words(self) -> str:
        return _words(self.text)


def check_draft(
    draft: Draft,
    passages: Sequence[Passage],
    *,
    city: CityId,
    as_of: date,
    known: Collection[tuple[str, str]],
    question: str = "",
) -> Checked:
    """Verify a draft against the passages of the city that it was given.

    Figures of the `question` may be repeated without proof.  `known` holds the (kind, number) labels
    of the city's registry among those that the draft names.

    A draft survives if at least one of its sentences is proven by an exact quote and has no fault.
    """
    proven: list[Citation] = []

    def proof(mark: re.Match[str]) -> str:
        return _replacement(mark, _citation(mark, passages, city, as_of), proven)

    text = _MARK.sub(proof, draft.text.translate(PRIVATE))
    found = Checked(
        answer=None,
        why_not="nothing in the model's draft could be proven",
        phantoms=phantoms(_words(text), known),
    )
    if not proven:
        return found
    judged = [_judged(span.of(text), proven, known, question) for span in sentences(text)]
    found = replace(
        found,
        why_not="no sentence of the model's draft could be proven",
        withheld=tuple(_claim(s, ()) for s in judged if s.flags),
        unsupported_numbers=_unique(number for s in judged for number in s.strange),
    )
    shown = [s for s in judged if not s.flags]
    citations = _unique(c for s in shown for c in s.citations)
    if not citations:
        return found
    answer = Answer(
        outcome="answer",
        text="".join(_marked(s, proven, citations) for s in shown).strip(),
        citations=citations,
        claims=tuple(_claim(s, citations) for s in shown if s.words),
        withheld=found.withheld,
        phantoms=found.phantoms,
        unsupported_numbers=found.unsupported_numbers,
        draft=draft,
    )
    return replace(found, answer=answer, why_not=None)


def _replacement(mark: re.Match[str], proof: Citation | None, proven: list[Citation]) -> str:
    """Return what stands for a mark while sentences are judged; a proven quote joins `proven`.

    The blanks before a mark that fails go with it, so that no gap is left before a full stop.
    """
    if proof is None:
        return FAILED
    if proof not in proven:
        proven.append(proof)
    return f"{mark['lead']}\ue000{proven.index(proof) + 1}\ue001"


def _citation(
    mark: re.Match[str], passages: Sequence[Passage], city: CityId, as_of: date
) -> Citation | None:
    if not mark["quote"]:
        return None
    quote = restored(mark["quote"][1:-1])
    if not long_enough(quote):
        return None
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
            city=city,
            legs=passage.legs,
            leads=passage.leads,
        )
        if isinstance(proof, Citation):
            return proof
    return None


def _judged(
    text: str,
    proven: Sequence[Citation],
    known: Collection[tuple[str, str]],
    question: str,
) -> _Sentence:
    words = _words(text)
    own = _unique(proven[int(number) - 1] for number in PROVEN.findall(text))
    strange = strange_numbers(words, own or proven, question)
    flags = faults(
        words,
        own,
        proven,
        failed=FAILED in text,
        known=known,
        question=question,
        strange=strange,
    )
    return _Sentence(text=text, citations=best(words, own), flags=flags, strange=strange)


def _words(text: str) -> str:
    """Return a text without its marks."""
    return PROVEN.sub("", text).replace(FAILED, "").strip()


def _unique(items: Iterable[T]) -> tuple[T, ...]:
    kept: list[T] = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return tuple(kept)


def _marked(sentence: _Sentence, proven: Sequence[Citation], citations: Sequence[Citation]) -> str:
    """Return the sentence with its marks as a reader sees them: the best citations' numbers."""

    def number(mark: re.Match[str]) -> str:
        citation = proven[int(mark[1]) - 1]
        if citation not in sentence.citations:
            return ""
        lead = mark[0][: mark[0].index("\ue000")]
        return f"{lead}[{citations.index(citation) + 1}]"

    return PROVEN.sub(number, sentence.text).replace(FAILED, "")


def _claim(sentence: _Sentence, citations: Sequence[Citation]) -> Claim:
    numbers = [citations.index(c) + 1 for c in sentence.citations if c in citations]
    return Claim(text=sentence.words, citations=tuple(numbers), flags=sentence.flags)

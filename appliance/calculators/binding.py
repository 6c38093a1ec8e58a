"""Do a calculator's words still stand in the law?  Pure.

A calculator is bound to words, not to a version: where the same words stand in a newer version, it
follows them there; where they have changed, or are no longer in force, it is out of use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from appliance.calculators.calculator import Binding, Calculator
from appliance.domain import Span, StoredSection


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Words that a calculator stands on are no longer there: which, and why, in one sentence."""

    why: str


def rebound(
    calculator: Calculator, sections: Sequence[StoredSection], day: date
) -> Calculator | Lost:
    """Return the calculator bound to where its words stand in the current sections.

    A step's words must stand where they stood, or in exactly one place of the newer version; titles
    over them must still be in the record.
    """
    cited = {step.source for step in calculator.steps}
    bindings: list[Binding] = []
    for n, binding in enumerate(calculator.bindings):
        found = _found(binding, sections, day, alone=n in cited)
        if isinstance(found, Lost):
            return found
        bindings.append(found)
    return replace(calculator, bindings=tuple(bindings))


def _found(
    binding: Binding, sections: Sequence[StoredSection], day: date, *, alone: bool
) -> Binding | Lost:
    record = [s for s in sections if s.external_id == binding.external_id]
    if not record:
        return Lost(why=f"{binding.citation} is no longer in the city's code.")
    in_force = [s for s in record if s.in_force(day)]
    if not in_force:
        return Lost(why=f"{binding.citation} is not in force on {day}.")
    places = [(s, at) for s in in_force for at in _places(binding.quote, s.text)]
    here = next((p for p in places if p[0].inside + p[1] == binding.span.start), None)
    if here is None and places and (len(places) == 1 or not alone):
        here = min(places, key=lambda p: abs(p[0].inside + p[1] - binding.span.start))
    if here is None:
        return Lost(why=_why(binding, len(places)))
    section, at = here
    start = section.inside + at
    return replace(
        binding,
        citation=section.citation,
        version=section.version,
        span=Span(start=start, end=start + len(binding.quote)),
    )


def _why(binding: Binding, places: int) -> str:
    words = " ".join(binding.quote.split())
    short = words if len(words) <= 80 else f"{words[:79]}…"
    if places:
        return f"In {binding.citation} “{short}” now stands in {places} places."
    return f"{binding.citation} no longer says “{short}”."


def _places(quote: str, text: str) -> Iterable[int]:
    at = text.find(quote)
    while at >= 0:
        yield at
        at = text.find(quote, at + 1)


def section_of(
    binding: Binding, sections: Iterable[StoredSection]
) -> tuple[StoredSection, Span] | None:
    """Return the section that holds bound words, and where they stand in its own text."""
    for section in sections:
        if section.external_id == binding.external_id and binding.span.start >= section.inside:
            span = binding.span.shifted(-section.inside)
            if span.of(section.text) == binding.quote:
                return section, span
    return None

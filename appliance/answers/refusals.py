"""How the box says that it does not answer, and why.  Pure.

A refusal is an outcome of its own: with a reason, what was searched, and the office to ask.
"""

from __future__ import annotations

from collections.abc import Sequence

from appliance.domain import (
    LEGS,
    Abstention,
    City,
    Named,
    Passage,
    Reason,
    Route,
    Searched,
    StoredSection,
)
from appliance.ports import Coverage

_NOTHING = Searched(chunks=0, legs=(), terms=())


def courtesy(coverage: Coverage, route: Route) -> Abstention:
    """Return what is said to a greeting, to thanks, and to what no code of a city is about."""
    name = coverage.city.name
    try_this = f'Ask about the code of {name}, like "How tall may a fence be?"'
    said = {
        Route.GREETING: f"Hello. {try_this}",
        Route.THANKS: f"You are welcome. {try_this}",
        Route.OUT_OF_SCOPE: f"This box only answers from the code of {name} and the other places it holds.",
    }
    reason = Reason.OUT_OF_SCOPE if route is Route.OUT_OF_SCOPE else Reason.NO_QUESTION
    return Abstention(reason=reason, text=said[route], searched=_NOTHING)


def comparison(places: Sequence[City]) -> Abstention:
    """Return the refusal of a question to several codes at once, with the way to compare them."""
    names = ", ".join(p.name for p in places)
    ids = ",".join(p.id for p in places)
    return Abstention(
        reason=Reason.COMPARISON,
        text=f"This compares {names}: each is answered from its own code only. Open Compare, or run "
        f'permitbox compare --cities {ids} "…".',
        searched=_NOTHING,
        places=tuple(p.id for p in places),
    )


def other_place(coverage: Coverage, place: City) -> Abstention:
    """Return the refusal of a question about another city of the box than the selected one."""
    return Abstention(
        reason=Reason.OTHER_CITY,
        text=f"This asks about {place.name}, but {coverage.city.name} is selected; "
        f"select {place.name} and ask again.",
        searched=_NOTHING,
        office=coverage.city.office,
    )


def not_in_force(coverage: Coverage, section: StoredSection, day: object) -> Abstention:
    """Return the refusal to show a section that was named and is not the law of the day."""
    standing = section.standing.value.replace("_", " ")
    why = standing if standing != "in force" else f"not in force on {day}"
    return Abstention(
        reason=Reason.NOT_IN_FORCE,
        text=f"{section.citation} of {coverage.city.name} is {why}.",
        searched=_by_number(coverage, [section.number or section.citation]),
        office=coverage.city.office,
    )


def no_such_section(coverage: Coverage, absent: Sequence[Named]) -> Abstention:
    """Return the refusal of a question about sections that are not there, with what is near."""
    names = ", ".join(dict.fromkeys(n.written for n in absent))
    near = [s.citation for n in absent for s in n.suggestions][:3]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return Abstention(
        reason=Reason.NO_SUCH_SECTION,
        text=f"The code of {coverage.city.name} in this box has no {names}.{hint}",
        searched=_by_number(coverage, [n.number for n in absent]),
        office=coverage.city.office,
    )


def _by_number(coverage: Coverage, numbers: Sequence[str]) -> Searched:
    return Searched(chunks=coverage.chunks, legs=("named",), terms=tuple(numbers))


def no_law_then(coverage: Coverage, searched: Searched, day: object) -> Abstention:
    """Return the refusal of a question about a day of which the box has no text."""
    return Abstention(
        reason=Reason.NOT_IN_FORCE,
        text=f"No text of {coverage.city.name} in this box was in force on {day}; "
        f"its newest is of {coverage.newest}.",
        searched=searched,
        office=coverage.city.office,
    )


def not_found(coverage: Coverage, searched: Searched, missing: Sequence[str]) -> Abstention:
    """Return the refusal of a question that the code does not seem to answer.

    `missing` are words of the question that no chunk of the city holds; where all sections were read
    for the things that it names, that says more.
    """
    detail = f" Nowhere in it: {', '.join(missing)}." if missing else ""
    if searched.nowhere:
        things = " or ".join(f"“{thing}”" for thing in searched.nowhere)
        detail = f" None of its {searched.sections_read:,} sections in force mentions {things}."
    return Abstention(
        reason=Reason.NOT_FOUND,
        text=f"The code of {coverage.city.name} in this box does not seem to answer this.{detail}",
        searched=searched,
        office=coverage.city.office,
    )


def searched_for(coverage: Coverage, terms: Sequence[str], nearest: Sequence[Passage]) -> Searched:
    """Return what was looked through for a question, and what came nearest."""
    return Searched(
        chunks=coverage.chunks,
        legs=LEGS if coverage.dense_ready else ("lexical", "named"),
        terms=tuple(terms),
        nearest=tuple(nearest[:3]),
    )

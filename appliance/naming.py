"""A question's section numbers to sections of the registry: exact, parent, or "did you mean".

Takes the registry as an argument.  What a question names is read by `corpus.named`; which of the
sections that bear a number is meant, by `corpus.bearers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from appliance.corpus.bearers import chosen
from appliance.corpus.named import (
    LAW,
    Asked,
    asked_of,
    container_keys,
    keys_of,
    roman_value,
    targets,
)
from appliance.corpus.near_numbers import BARE_FAR, FAR, nearest, over, variants
from appliance.corpus.references import number_key
from appliance.domain import Hit, Named, Query, SectionId, Span, Suggestion
from appliance.ports import MOST_BEARERS, Bearer, Only, Register, Searcher

# What a number may be that is called something else, or nothing.
_OTHERS = (
    *("table", "chapter", "article", "appendix", "part", "division", "subchapter", "schedule"),
    *("subtitle", "section"),
)
# A section's number that so many sections bear alike names none of them: in ObliQA, where dozens of rule
# books number their rules alike, lifting them all cost .06 MRR (eval/ledger/017-ranker.md).
MOST_ALIKE = 8
_OWN = 1  # up to this weight a label is a section's own number
_OF_YEARS = range(2039, 1949, -1)


async def resolve_named(register: Register, query: Query) -> tuple[Named, ...]:
    """Return what the question names by number, in its order, as far as the registry tells.

    A number that is not there and was surely meant as one comes with how="near", with suggestions
    if any are near.  `query.named` overrides what the text names.
    """
    resolved = [await _resolved(register, query, asked) for asked in _asked(query)]
    return tuple(named for named in resolved if named is not None)


def _asked(query: Query) -> Sequence[Asked]:
    if not query.named:
        return targets(asked_of(query.text))
    nowhere = Span(start=0, end=0)
    return [
        Asked(kind="section", readings=(number,), span=nowhere, firm=True) for number in query.named
    ]


async def _resolved(register: Register, query: Query, asked: Asked) -> Named | None:
    exact = await _exact(register, query, asked)
    if exact:
        number = exact[0][0].number
        if asked.through:
            exact.insert(1, await _between(register, query, asked, number))
        # "(a)" is a part of what was found; a whole name is that of a section that ends in one.
        how: Literal["exact", "parent"] = "parent" if asked.part and "(" not in number else "exact"
        return _named(query, asked, exact[0][0], how, exact)
    parent = await _parent(register, query, asked)
    if parent:
        return _named(query, asked, parent[0][0], "parent", parent)
    if not asked.firm:
        return None
    suggestions = await _suggestions(register, query, asked)
    if asked.bare and not suggestions:
        return None
    return Named(
        written=_written(query, asked),
        kind=asked.kind,
        number=asked.readings[-1] if asked.kind == "section" else asked.number,
        how="near",
        suggestions=tuple(suggestions),
    )


async def named_hits(
    store: Searcher, query: Query, resolved: Sequence[Named], only: Only = None
) -> list[Hit]:
    """Return the first chunks of the sections that were named, those of the best class first.

    The score is 1 for the best class of each mention, 1/2 for the next, 1/3, …
    """
    score: dict[SectionId, float] = {}
    for named in resolved:
        if _names_too_many(named):
            continue
        for place, sections in enumerate(named.sections):
            for section in sections:
                score[section] = max(score.get(section, 0.0), 1.0 / (1.0 + place))
    if not score:
        return []
    first = await store.first_chunks(list(score), query.as_of, only)
    found = [s for s in sorted(score, key=lambda s: -score[s]) if s in first]
    return [
        Hit(chunk=first[s], section=s, leg="named", rank=rank, score=score[s])
        for rank, s in enumerate(found, start=1)
    ]


def _names_too_many(named: Named) -> bool:
    return (
        named.kind in ("section", "table")
        and bool(named.sections)
        and len(named.sections[0]) > MOST_ALIKE
    )


def missing(resolved: Iterable[Named]) -> tuple[Named, ...]:
    """Return the numbers that are not in the registry, though they were meant as ones of the law."""
    return tuple(n for n in resolved if n.how == "near")


# ------------------------------------------------------------------ what is there


async def _exact(register: Register, query: Query, asked: Asked) -> list[list[Bearer]]:
    """Return the bearers of the number, in classes; a section may be called what it is not."""
    if asked.kind == LAW:
        return await _bearers(register, query, asked, ("whole",))
    for kinds in ((asked.kind,), _OTHERS):
        if found := await _bearers(register, query, asked, kinds):
            return found
    return []


async def _bearers(
    register: Register, query: Query, asked: Asked, kinds: Sequence[str]
) -> list[list[Bearer]]:
    within = () if asked.kind in (LAW, "section", "table") else _within(asked)
    bearers = await register.bearing(query.city, keys_of(asked), kinds, within)
    if within and not bearers and not await _known(register, query, within):
        bearers = await register.bearing(query.city, keys_of(asked), kinds)
    if len(bearers) >= MOST_BEARERS:  # of so large a container only its own text is meant
        bearers = [b for b in bearers if b.weight <= _OWN]
    place = [w for w in query.city.split("-") if len(w) > 1]
    place += [f"{''.join(w[0] for w in query.city.split('-')[:-1])}c", "dc"]
    return chosen(asked, bearers, question=query.text, place=place, day=query.as_of)


def _within(asked: Asked) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    return tuple(((part.unit,), container_keys(part.number)) for part in asked.within)


async def _known(
    register: Register,
    query: Query,
    within: Sequence[tuple[tuple[str, ...], tuple[str, ...]]],
) -> bool:
    """Tell whether the registry has the containers at all: not every code's paths name their titles."""
    found = [await register.bearing(query.city, keys, kinds) for kinds, keys in within]
    return all(found)


async def _between(register: Register, query: Query, asked: Asked, first: str) -> list[Bearer]:
    """Return the sections between the ends of a range, in the order of their numbers."""
    low, high = number_key(first), number_key(asked.through)
    beside = await register.beneath(query.city, over(low)) if over(low) else []
    between = [b for b in beside if _order(low) < _order(number_key(b.number)) < _order(high)]
    return sorted(between, key=lambda b: _order(number_key(b.number)))


def _order(key: str) -> tuple[tuple[int, str], ...]:
    figures = [("".join(c for c in part if c.isdigit()), part) for part in key.split(".")]
    return tuple((int(digits or 0), part.lstrip("0123456789")) for digits, part in figures)


async def _parent(register: Register, query: Query, asked: Asked) -> list[list[Bearer]]:
    """Return the bearers of the number of which the asked one is a part.

    A number that has sections beneath it in the registry is no such parent: the asked one is
    missing among them.
    """
    if asked.kind not in ("section", "table") or not asked.firm:
        return []
    for key in _parents(number_key(_tight(asked))):
        reduced = replace(asked, readings=(key,), part=False)
        found = await _bearers(register, query, reduced, (asked.kind,))
        own = [[b for b in group if b.weight <= _OWN] for group in found]
        own = [group for group in own if group]
        lettered = number_key(_tight(asked))[len(key) :].isalpha()
        if own and (lettered or not await register.beneath(query.city, key)):
            return own
    return []


def _parents(key: str) -> list[str]:
    """Return the keys over a key: without its letter, then without its last parts."""
    parents = [key.rstrip("abcdefghijklmnopqrstuvwxyz").rstrip(".")]
    parents += [over(key), over(over(key))]
    return [p for p in dict.fromkeys(parents) if p != key and "." in p]


# ------------------------------------------------------------------ what is near


async def _suggestions(register: Register, query: Query, asked: Asked) -> list[Suggestion]:
    if asked.kind == LAW:
        return await _other_years(register, query, asked)
    kinds, far = (asked.kind,), BARE_FAR if asked.bare else FAR
    suggested: list[Suggestion] = []
    for number in _numbers(asked):
        key = number_key(number)
        known = list(await register.bearing(query.city, variants(key), kinds))
        if not known and asked.kind == "section" and over(key):
            known += await register.beneath(query.city, over(key))
        if asked.kind == "section":
            known = [b for b in known if b.kind == "section" and b.weight <= _OWN]
        suggested += [_suggestion(b) for b in nearest(number, known, far=far)]
    return list(dict.fromkeys(suggested))[:3]


def _numbers(asked: Asked) -> list[str]:
    """Return the number as it was asked, also put together with its containers', and in figures."""
    number = _tight(asked)
    value = None if asked.kind == "section" else roman_value(number)
    own = [number] if value is None else [number, str(value)]
    return own + [f"{part.number}-{number}" for part in reversed(asked.within)]


def _tight(asked: Asked) -> str:
    """Return the number without what only blanks join to it, if it is one without."""
    last = asked.readings[-1]
    return last if any(c in ".-:" for c in last) else asked.number


async def _other_years(register: Register, query: Query, asked: Asked) -> list[Suggestion]:
    """Return the laws of the same number of other years."""
    name, of, year = asked.number.rpartition(" of ")
    if not of:
        return []
    years = sorted(_OF_YEARS, key=lambda y: abs(y - int(year)))
    keys = [number_key(f"{name} of {y}") for y in years]
    known = await register.bearing(query.city, keys, ("whole",))
    known = sorted(known, key=lambda b: keys.index(number_key(b.number)))
    return [_suggestion(b) for b in known[:3]]


def _suggestion(bearer: Bearer) -> Suggestion:
    """Return a section, or the container that it stands in, as it is shown."""
    citation, heading = bearer.citation, bearer.heading
    if bearer.kind not in ("section", "whole") and bearer.weight > _OWN:
        level = [p for p in bearer.path if bearer.number in p.casefold()]
        citation, heading = f"{bearer.kind} {bearer.number}".capitalize(), (level or [""])[-1]
    return Suggestion(
        citation=citation,
        heading=heading,
        external_id=bearer.external_id,
        section_id=bearer.section,
    )


# ------------------------------------------------------------------ records


def _named(
    query: Query,
    asked: Asked,
    best: Bearer,
    how: Literal["exact", "parent"],
    classes: Sequence[Sequence[Bearer]],
) -> Named:
    return Named(
        written=_written(query, asked),
        kind=best.kind,
        number=best.number,
        how=how,
        sections=tuple(tuple(b.section for b in group) for group in classes if group),
    )


def _written(query: Query, asked: Asked) -> str:
    return " ".join(asked.span.of(query.text).split()) or asked.number

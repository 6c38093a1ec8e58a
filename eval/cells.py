"""Comparisons of cities: is each cell right, and does nothing of another city stand in it?

Takes ports as arguments, as `measure` does; shows nothing and writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from appliance.ask import ChatAt
from appliance.compare import Cell, FoundCell, compare
from appliance.domain import CityId, SectionId
from appliance.errors import NoSuchSection
from appliance.ports import Encoder, Searcher, Store
from eval.cases import Case, ComparisonCase
from eval.results import Json, Result, Sourced, estimate_json
from eval.scores import Found, cites_gold, facts_present, proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult(Result):
    """What one cell said.  Scores: right, wrong and missing of cells with a fact; false_find of others."""

    text: str
    cited: tuple[str, ...]  # external ids
    by: str | None

    def details(self) -> Json:
        """Return the cell."""
        return {"text": self.text, "cited": list(self.cited), "by": self.by}


async def measure_cells(
    store: Store,
    encoder: Encoder,
    chat: ChatAt | None,
    cases: Sequence[ComparisonCase],
    *,
    file: str,
    today: date,
) -> AsyncIterator[CellResult]:
    """Yield a result for each cell; what a comparison took is shared out among its cells."""
    for case in cases:
        cities = [cell.city for cell in case.cells]
        began = time.perf_counter()
        table = await compare(store, encoder, chat, case.question, cities, today)
        ms = (time.perf_counter() - began) * 1000 / len(cities)
        said = {cell.city.id: cell for cell in table.cells}
        for wanted in case.cells:
            cell = said[wanted.city]
            clean = await _of_its_city(store, wanted.city, cell)
            yield CellResult(
                of=Sourced(file=file, case=wanted),
                scores=cell_scores(wanted, cell) | {"contaminated": float(not clean)},
                ms=ms,
                text=cell.text,
                cited=(cell.citation.section.external_id,) if isinstance(cell, FoundCell) else (),
                by=cell.by if isinstance(cell, FoundCell) else None,
            )


def cell_scores(wanted: Case, cell: Cell) -> dict[str, float]:
    """Return the scores of a cell.

    right: its text has the fact in some form, and it cites a gold section.  wrong: it says something
    else.  missing: it is empty, though the code has the fact.  false_find: it says something, though
    the code has nothing.
    """
    found = isinstance(cell, FoundCell)
    if not wanted.answerable:
        return {"false_find": float(found)}
    right = isinstance(cell, FoundCell) and _right(wanted, cell)
    return {"right": float(right), "wrong": float(found and not right), "missing": float(not found)}


def _right(wanted: Case, cell: FoundCell) -> bool:
    section = cell.citation.section
    cited = Found(
        external_id=section.external_id,
        citation=section.citation,
        span=cell.citation.span.shifted(section.inside),
        record=section.record,
    )
    return cites_gold(wanted, [cited]) and all(facts_present(wanted.facts, [cell.text]))


async def _of_its_city(store: Searcher, city: CityId, cell: Cell) -> bool:
    """Tell whether a cell's words are read again, to the character, from a section of its own city."""
    if not isinstance(cell, FoundCell):
        return cell.city.id == city
    citation = cell.citation
    try:
        stored = await store.section(SectionId(citation.section.id))
    except NoSuchSection:
        return False
    quoted = citation.span.of(stored.text) == citation.quote
    return stored.city == city == cell.city.id and quoted and cell.text in citation.quote


# ------------------------------------------------------------------ counts

_OF: Mapping[str, str] = {
    "right": "cells with a fact",
    "wrong": "cells with a fact",
    "missing": "cells with a fact",
    "false_find": "cells without one",
    "contaminated": "cells",
}


def counted(results: Iterable[CellResult]) -> dict[str, Json]:
    """Return each score's count with its share and the share's 95 % interval."""
    held = list(results)
    counts: dict[str, Json] = {}
    for name, of in _OF.items():
        values = [r.scores[name] for r in held if name in r.scores]
        if values:
            share = proportion(int(sum(values)), len(values))
            counts[name] = {"count": int(sum(values)), "of": of, **estimate_json(share)}
    return counts


def held_cases(
    cases: Sequence[ComparisonCase], here: Iterable[CityId]
) -> tuple[tuple[ComparisonCase, ...], int]:
    """Return the cases with the cells whose cities are held, and how many cells are left out."""
    held = frozenset(here)
    kept = [
        ComparisonCase(
            id=c.id, question=c.question, cells=tuple(x for x in c.cells if x.city in held)
        )
        for c in cases
    ]
    left_out = sum(len(c.cells) for c in cases) - sum(len(c.cells) for c in kept)
    return tuple(c for c in kept if c.cells), left_out

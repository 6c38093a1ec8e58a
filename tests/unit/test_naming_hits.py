"""Which of the sections that a question names are put first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from appliance.domain import ChunkId, CityId, Named, Query, SectionId
from appliance.naming import MOST_ALIKE, named_hits
from appliance.ports import Only

QUERY = Query(text="What does § 9.2 say?", city=CityId("elm-hollow-xx"), as_of=date(2026, 1, 1))


class FirstChunks:
    """A store of which only first chunks are asked: chunk 10 n is the first of section n."""

    async def first_chunks(
        self, sections: Sequence[SectionId], as_of: date, only: Only = None
    ) -> dict[SectionId, ChunkId]:
        return {s: ChunkId(10 * s) for s in sections}


def named(kind: str, *classes: range) -> Named:
    return Named(
        written="§ 9.2",
        kind=kind,
        number="9.2",
        how="exact",
        sections=tuple(tuple(map(SectionId, group)) for group in classes),
    )


@pytest.mark.parametrize(
    ("mention", "found"),
    [
        (named("section", range(1)), 1),
        (named("section", range(MOST_ALIKE)), MOST_ALIKE),
        (named("section", range(MOST_ALIKE + 1)), 0),
        (named("table", range(MOST_ALIKE + 1)), 0),
        (named("chapter", range(40)), 40),
        (named("section", range(1), range(1, 40)), 40),
        (named("section"), 0),
    ],
)
async def test_a_number_that_many_sections_bear_alike_names_none_of_them(
    mention: Named, found: int
) -> None:
    hits = await named_hits(FirstChunks(), QUERY, [mention])  # type: ignore[arg-type]
    assert len(hits) == found


async def test_the_best_class_of_a_mention_comes_first() -> None:
    mention = named("section", range(5, 6), range(1, 3))
    hits = await named_hits(FirstChunks(), QUERY, [mention])  # type: ignore[arg-type]
    assert [(h.section, h.score) for h in hits] == [(5, 1.0), (1, 0.5), (2, 0.5)]

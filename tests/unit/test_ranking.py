"""From the legs' hits to one list, and from the list to a packed prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.ranking import (
    GIANT,
    PER_GIANT,
    WEIGHTS,
    Ranked,
    distinct,
    fuse,
    lifted,
    pack,
)
from appliance.domain import (
    ChunkId,
    ChunkKind,
    CityId,
    Digest,
    Hit,
    Leg,
    Passage,
    SectionId,
    Span,
    Standing,
    StoredSection,
)
from appliance.ports import ChunkPreview


def hits(leg: Leg, *found: tuple[int, float]) -> list[Hit]:
    """Return the hits of one leg; chunk 12 is of section 1."""
    return [
        Hit(chunk=ChunkId(c), section=SectionId(c // 10), leg=leg, rank=rank, score=score)
        for rank, (c, score) in enumerate(found, start=1)
    ]


def order(ranked: list[Ranked]) -> list[int]:
    return [r.chunk for r in ranked]


def test_nothing_found_is_nothing_ranked() -> None:
    assert fuse([]) == []


def test_the_best_of_both_legs_comes_first_and_the_worst_last() -> None:
    dense = hits("dense", (10, 0.9), (20, 0.5), (30, 0.1))
    lexical = hits("lexical", (10, 30.0), (20, 20.0), (30, 10.0))
    ranked = fuse([*dense, *lexical])
    assert order(ranked) == [10, 20, 30]
    assert [r.score for r in ranked] == pytest.approx([1.0, 0.5, 0.0])
    assert ranked[0].legs == ("dense", "lexical")
    assert ranked[0].similarity == 0.9


def test_scales_of_the_legs_do_not_matter() -> None:
    dense = hits("dense", (10, 0.9), (20, 0.4), (30, 0.1))
    lexical = hits("lexical", (30, 30.0), (20, 20.0), (10, 1.0))
    larger = hits("lexical", (30, 3000.0), (20, 2000.0), (10, 100.0))
    assert order(fuse([*dense, *lexical])) == order(fuse([*dense, *larger]))


def test_one_leg_alone_keeps_its_order() -> None:
    lexical = hits("lexical", (30, 9.0), (10, 5.0), (20, 1.0))
    ranked = fuse(lexical)
    assert order(ranked) == [30, 10, 20]
    assert {r.similarity for r in ranked} == {0.0}
    assert ranked[0].score == pytest.approx(WEIGHTS["lexical"])


def test_equal_scores_are_ordered_by_the_chunk() -> None:
    assert order(fuse(hits("dense", (30, 0.5), (10, 0.5), (20, 0.5)))) == [10, 20, 30]


def test_a_section_that_the_question_names_comes_first() -> None:
    dense = hits("dense", (10, 0.9), (20, 0.5))
    named = hits("named", (30, 0.0))
    ranked = lifted(fuse(dense), named)
    assert order(ranked)[0] == 30
    assert ranked[0].legs == ("named",)


def test_the_section_whose_own_number_it_is_comes_before_the_sections_of_that_chapter() -> None:
    dense = hits("dense", (10, 0.9), (20, 0.5))
    named = hits("named", (30, 1.0), (10, 0.2))
    assert order(lifted(fuse(dense), named)) == [30, 10, 20]


def test_of_a_named_section_the_chunk_that_fits_the_question_is_taken() -> None:
    dense = hits("dense", (10, 0.9), (21, 0.5), (30, 0.1))
    ranked = lifted(fuse(dense), hits("named", (20, 0.0)))
    assert order(ranked)[0] == 21
    assert ranked[0].legs == ("dense", "named")
    assert 10 in order(ranked)


SOME = st.lists(
    st.builds(
        lambda c, leg, score: Hit(
            chunk=ChunkId(c), section=SectionId(c // 10), leg=leg, rank=1, score=score
        ),
        st.integers(0, 99),
        st.sampled_from(["dense", "lexical"]),
        st.floats(-1, 1),
    ),
    unique_by=lambda h: (h.chunk, h.leg),
)


@given(SOME, st.lists(st.integers(0, 99), unique=True, max_size=5))
def test_every_chunk_is_ranked_once_and_named_ones_are_above(
    found: list[Hit], names: list[int]
) -> None:
    named = hits("named", *((c, 0.0) for c in names))
    ranked = lifted(fuse(found), [*found, *named])
    assert len(set(order(ranked))) == len(ranked)
    assert {h.chunk for h in found} <= set(order(ranked))
    assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)
    above = ["named" in r.legs for r in ranked]
    assert above == sorted(above, reverse=True)
    assert {c // 10 for c in names} == {r.section for r in ranked if "named" in r.legs}


def ranked(*chunks: int) -> list[Ranked]:
    return [
        Ranked(chunk=ChunkId(c), section=SectionId(c // 10), score=1, legs=(), similarity=0)
        for c in chunks
    ]


def section(number: int, text: str, record: str | None = None, inside: int = 0) -> StoredSection:
    return StoredSection(
        id=SectionId(number),
        city=CityId("troll-xx"),
        external_id=record or str(number),
        citation=f"Sec. 1-{number}",
        number=f"1-{number}",
        heading="Fences",
        path=(),
        standing=Standing.IN_FORCE,
        version=Digest("0" * 64),
        effective_from=None,
        effective_until=None,
        text=text,
        inside=inside,
    )


def preview(
    number: int, length: int = 5, record: str | None = None, inside: int = 0
) -> ChunkPreview:
    return ChunkPreview(
        id=ChunkId(number * 10),
        section=SectionId(number),
        document=number,
        city=CityId("troll-xx"),
        external_id=record or str(number),
        citation=f"Sec. 1-{number}",
        number=f"1-{number}",
        heading="Fences",
        path=(),
        crumb="Fences",
        inside=inside,
        length=length,
        standing=Standing.IN_FORCE,
        effective_from=None,
        effective_until=None,
        doc_type="code",
        span=Span(start=0, end=5),
        ordinal=0,
        kind=ChunkKind.PROSE,
        text="short",
        titles=(),
        header=None,
    )


def short(item: Ranked) -> ChunkPreview:
    return preview(item.section)


def test_a_section_stands_once_unless_it_is_a_giant() -> None:
    found = ranked(10, 11, 20, 12, 13, 14, 30)
    assert order(distinct(found, 9, short)) == [10, 20, 30]
    giant = distinct(found, 9, lambda r: preview(r.section, GIANT + 1 if r.section == 1 else 5))
    assert order(giant) == [10, 11, 20, 12, 30]
    assert sum(r.section == 1 for r in giant) == PER_GIANT


def test_the_sections_that_hide_in_one_record_count_as_that_record() -> None:
    found = ranked(10, 20, 30, 40, 50)
    kept = distinct(
        found,
        9,
        lambda r: preview(r.section, 5, *(("chapter", 900) if r.section < 5 else ())),
    )
    assert order(kept) == [10, 20, 30, 50]


@pytest.mark.parametrize(("k", "kept"), [(1, [10]), (2, [10, 20]), (99, [10, 20, 30])])
def test_no_more_than_k_are_kept(k: int, kept: list[int]) -> None:
    assert order(distinct(ranked(10, 11, 20, 30), k, short)) == kept


def passage(text: str, label: str) -> Passage:
    span = Span(start=0, end=len(text))
    found = section(1, text)
    return Passage(label=label, section=found, span=span, score=1, similarity=0, legs=())


@given(st.lists(st.text(max_size=80), max_size=10), st.integers(0, 400))
def test_passages_are_packed_whole_within_the_budget(texts: list[str], budget: int) -> None:
    passages = [passage(t, f"9{i}") for i, t in enumerate(texts)]
    packed = pack(passages, budget, len)
    assert sum(len(p.text) for p in packed) <= budget
    assert [p.label for p in packed] == [str(i + 1) for i in range(len(packed))]
    rest = iter(texts)
    assert all(p.text in rest for p in packed)  # whole, in their order


def test_a_passage_that_does_not_fit_gives_way_to_a_smaller_one() -> None:
    packed = pack([passage("x" * 500, "1"), passage("y", "2")], 100, len)
    assert [(p.label, p.text) for p in packed] == [("1", "y")]

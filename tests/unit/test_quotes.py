"""Which passages are quoted when quotes are the answer, and which part of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.quotes import MOST, SHARE, quoted_span, worth_quoting
from appliance.domain import CityId, Digest, Passage, SectionId, Span, Standing, StoredSection


def passage(text: str = "Six feet.", score: float = 1.0, start: int = 0) -> Passage:
    section = StoredSection(
        id=SectionId(1),
        city=CityId("troll-xx"),
        external_id="1",
        citation="Sec. 1-1",
        number="1-1",
        heading="Fences",
        path=(),
        standing=Standing.IN_FORCE,
        version=Digest("0" * 64),
        effective_from=None,
        effective_until=None,
        text="x" * start + text + "y",
    )
    span = Span(start=start, end=start + len(text))
    return Passage(label="1", section=section, span=span, score=score, similarity=0, legs=())


def test_nothing_found_is_nothing_quoted() -> None:
    assert worth_quoting([]) == []


def test_a_passage_without_visible_text_is_not_quoted() -> None:
    full, blank = passage(), passage(" \n\t")
    assert worth_quoting([full, blank]) == [full]


@given(st.lists(st.floats(0, 4), max_size=12).map(lambda s: sorted(s, reverse=True)))
def test_the_best_few_are_quoted_in_their_order(scores: list[float]) -> None:
    passages = [passage(score=s) for s in scores]
    kept = worth_quoting(passages)
    assert kept == passages[: len(kept)]
    assert len(kept) <= MOST
    assert all(p.score >= SHARE * scores[0] for p in kept)
    assert bool(kept) == bool(passages)


@given(st.text(), st.integers(0, 5))
def test_the_quote_is_the_passage_without_blanks_at_its_edges(text: str, start: int) -> None:
    of = passage(text, start=start)
    if of.text.strip():
        assert quoted_span(of).of(of.section.text) == text.strip()
        assert quoted_span(of).within(of.span)

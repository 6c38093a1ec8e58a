"""The fusions that lost, against tables worked by hand and against the product's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.ranking import WEIGHTS, fuse
from appliance.domain import ChunkId, Hit, Leg, SectionId
from eval.fusions import convex, one_leg, reciprocal_ranks


def leg(name: Leg, *scored: tuple[int, float]) -> list[Hit]:
    """Return the hits of a leg, (chunk, score) best first; a chunk is its own section."""
    return [
        Hit(chunk=ChunkId(c), section=SectionId(c), leg=name, rank=rank, score=score)
        for rank, (c, score) in enumerate(scored, start=1)
    ]


DENSE = leg("dense", (1, 0.9), (2, 0.8), (3, 0.5))
LEXICAL = leg("lexical", (3, 20.0), (4, 15.0), (1, 10.0))
HITS = DENSE + LEXICAL


def order(ranked) -> list[int]:
    return [int(r.chunk) for r in ranked]


@pytest.mark.parametrize(("name", "expected"), [("dense", [1, 2, 3]), ("lexical", [3, 4, 1])])
def test_one_leg_keeps_its_own_order(name: Leg, expected: list[int]) -> None:
    assert order(one_leg(HITS, name)) == expected


def test_reciprocal_ranks_are_added_up() -> None:
    ranked = reciprocal_ranks(HITS, {"dense": 1.0, "lexical": 1.0}, k=60)
    assert [r.score for r in ranked] == pytest.approx(
        [1 / 61 + 1 / 63, 1 / 63 + 1 / 61, 1 / 62, 1 / 62]
    )
    assert order(ranked) == [1, 3, 2, 4]  # ties by chunk
    assert ranked[0].legs == ("dense", "lexical")
    assert ranked[0].similarity == 0.9


def test_a_weight_turns_reciprocal_ranks_toward_a_leg() -> None:
    assert order(reciprocal_ranks(HITS, {"dense": 0.3, "lexical": 0.7}, k=1)) == [3, 1, 4, 2]


def test_convex_scores_are_scaled_within_a_leg_and_weighted() -> None:
    ranked = convex(HITS, {"dense": 0.7, "lexical": 0.3})
    assert {int(r.chunk): round(r.score, 6) for r in ranked} == {1: 0.7, 2: 0.525, 3: 0.3, 4: 0.15}
    assert order(ranked) == [1, 2, 3, 4]


def test_a_leg_that_is_given_no_weight_is_left_out() -> None:
    assert order(convex(HITS, {"lexical": 1.0})) == [3, 4, 1]
    assert order(reciprocal_ranks(HITS, {"lexical": 1.0})) == [3, 4, 1]


def test_a_leg_whose_scores_are_all_alike_counts_its_hits_as_best() -> None:
    assert [r.score for r in convex(leg("dense", (1, 0.4), (2, 0.4)), {"dense": 1.0})] == [1.0, 1.0]


def test_without_hits_there_is_no_list() -> None:
    assert one_leg([], "dense") == convex([], {"dense": 1.0}) == []
    assert reciprocal_ranks([], {"dense": 1.0}) == []


scores = st.dictionaries(
    st.integers(1, 30), st.floats(0, 100, allow_nan=False).map(lambda x: round(x, 3)), max_size=12
)


def sorted_leg(name: Leg, of: dict[int, float]) -> list[Hit]:
    return leg(name, *sorted(of.items(), key=lambda i: (-i[1], i[0])))


@given(scores, scores)
def test_convex_with_the_weights_of_the_product_is_the_product_without_named_sections(
    dense: dict[int, float], lexical: dict[int, float]
) -> None:
    hits = sorted_leg("dense", dense) + sorted_leg("lexical", lexical)
    ours, its = convex(hits, WEIGHTS), fuse(hits)
    assert {r.chunk: r.score for r in ours} == pytest.approx({r.chunk: r.score for r in its})
    assert [r.score for r in ours] == pytest.approx([r.score for r in its])


@given(scores, scores, st.integers(0, 100))
def test_every_fusion_returns_each_chunk_once_the_best_first(
    dense: dict[int, float], lexical: dict[int, float], k: int
) -> None:
    hits = sorted_leg("dense", dense) + sorted_leg("lexical", lexical)
    for ranked in (
        reciprocal_ranks(hits, {"dense": 0.7, "lexical": 0.3}, k),
        convex(hits, {"dense": 0.7, "lexical": 0.3}),
    ):
        assert sorted(order(ranked)) == sorted(set(dense) | set(lexical))
        assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)

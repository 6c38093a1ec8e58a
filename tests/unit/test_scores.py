"""The measures, against tables worked by hand and against what must hold for any list."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.domain import CityId, Span
from eval.cases import Case, Fact, Gold, GoldCitations, GoldIds
from eval.scores import (
    CUTS,
    Estimate,
    Found,
    cites_gold,
    distance,
    estimate,
    estimate_difference,
    facts_present,
    ideal_gains,
    plain,
    ranking_scores,
    satisfied,
    without_marks,
)


def case_of(gold: Gold, **hints: tuple[int, ...]) -> Case:
    return Case(
        id="x",
        city=CityId("x-xx"),
        kind="lookup",
        question="?",
        gold=gold,
        facts=(),
        answerable=True,
        hints=hints,
    )


def ids(*groups: str) -> GoldIds:
    """Return gold by ids: "a|b" is a group of two equivalents."""
    return GoldIds(groups=tuple(tuple(g.split("|")) for g in groups))


def found(name: str, start: int = 0, end: int = 100, citation: str = "") -> Found:
    return Found(external_id=name, citation=citation or name, span=Span(start=start, end=end))


def ranking(letters: str) -> list[Found]:
    """Return a ranked list, a letter a chunk: "aab" has two chunks of section a."""
    return [found(letter) for letter in letters]


SECOND = 1 / log2(3)  # what a gain at rank 2 is worth; at rank 1 it is 1, at rank 3 a half


@pytest.mark.parametrize(
    ("gold", "list_", "hits", "mrr", "ndcg"),
    [
        # hits: at 1, 3, 5, 10
        (ids("a"), "abc", (1, 1, 1, 1), 1, 1),
        (ids("b"), "abc", (0, 1, 1, 1), 1 / 2, SECOND),
        (ids("c"), "abc", (0, 1, 1, 1), 1 / 3, 1 / 2),
        (ids("d"), "abcd", (0, 0, 1, 1), 1 / 4, 1 / log2(5)),
        (ids("f"), "abcdef", (0, 0, 0, 1), 1 / 6, 1 / log2(7)),
        (ids("k"), "abcdefghijk", (0, 0, 0, 0), 0, 0),
        (ids("z"), "abc", (0, 0, 0, 0), 0, 0),
        (ids("z"), "", (0, 0, 0, 0), 0, 0),
        # A second chunk of a section takes no rank, neither before the hit nor after it.
        (ids("b"), "aaab", (0, 1, 1, 1), 1 / 2, SECOND),
        (ids("d"), "ababcd", (0, 0, 1, 1), 1 / 4, 1 / log2(5)),
        # Equivalents: the first counts, the second gains nothing.
        (ids("a|b"), "ab", (1, 1, 1, 1), 1, 1),
        (ids("b|c"), "abc", (0, 1, 1, 1), 1 / 2, SECOND),
        # Two needed groups: the ideal is 1 + SECOND.
        (ids("a", "b"), "ab", (1, 1, 1, 1), 1, 1),
        (ids("a", "b"), "ax", (1, 1, 1, 1), 1, 1 / (1 + SECOND)),
        (ids("a", "c"), "abc", (1, 1, 1, 1), 1, 1.5 / (1 + SECOND)),
        # One section satisfies both groups: the ideal is to have it first, a gain of two.
        (ids("a", "a|b"), "a", (1, 1, 1, 1), 1, 1),
        (ids("a", "a|b"), "ba", (1, 1, 1, 1), 1, (1 + SECOND) / 2),
    ],
)
def test_a_ranked_list_worked_by_hand(
    gold: GoldIds, list_: str, hits: tuple[int, ...], mrr: float, ndcg: float
) -> None:
    scores = ranking_scores(case_of(gold), ranking(list_))
    assert tuple(scores[f"hit@{k}"] for k in CUTS) == hits
    assert scores["mrr"] == pytest.approx(mrr)
    assert scores["ndcg@10"] == pytest.approx(ndcg)


@pytest.mark.parametrize(
    ("gold", "list_", "all_"),
    [
        (ids("a", "b"), "xayb", 1.0),
        (ids("a", "b"), "aaaa", 0.0),
        (ids("a", "b|c"), "ca", 1.0),
        (ids("a", "k"), "abcdefghijk", 0.0),
        (ids("a"), "a", None),  # one group: hit@10 says it already
    ],
)
def test_all_groups_within_ten(gold: GoldIds, list_: str, all_: float | None) -> None:
    assert ranking_scores(case_of(gold), ranking(list_)).get("all@10") == all_


@pytest.mark.parametrize(
    ("span", "point", "far"),
    [
        (Span(start=10, end=20), 10, 0),
        (Span(start=10, end=20), 15, 0),
        (Span(start=10, end=20), 20, 0),
        (Span(start=10, end=20), 25, 5),
        (Span(start=10, end=20), 3, 7),
    ],
)
def test_the_distance_of_a_span_and_a_point(span: Span, point: int, far: int) -> None:
    assert distance(span, point) == far


@pytest.mark.parametrize(
    ("start", "end", "hit"),
    [
        (0, 2_999, False),  # 2,001 before the hint
        (0, 3_000, True),
        (5_000, 5_100, True),
        (7_000, 7_100, True),
        (7_001, 7_100, False),
        (88_000, 88_100, True),  # near the other offset
    ],
)
def test_in_a_giant_record_only_a_chunk_near_a_hint_counts(start: int, end: int, hit: bool) -> None:
    case = case_of(ids("giant"), giant=(5_000, 90_000))
    assert bool(satisfied(case, found("giant", start, end))) is hit
    assert cites_gold(case, [found("giant", start, end)]) is hit


def test_a_hint_of_one_record_says_nothing_of_its_equivalent() -> None:
    case = case_of(ids("giant|small"), giant=(50_000,))
    assert satisfied(case, found("small"))
    assert not satisfied(case, found("giant"))


def test_a_giants_later_chunk_counts_at_the_rank_its_reader_has_come_to() -> None:
    case = case_of(ids("giant"), giant=(50_000,))
    list_ = [found("giant"), found("b"), found("giant", 50_000, 50_100), found("c")]
    assert ranking_scores(case, list_)["mrr"] == 1 / 2


@pytest.mark.parametrize(
    ("cited", "hit"),
    [("Sec. 3041", True), ("Sec.  3041\n", True), ("Sec. 3041.1", False), ("sec. 3041", False)],
)
def test_gold_by_citation_matches_any_record_that_bears_it(cited: str, hit: bool) -> None:
    case = case_of(GoldCitations(groups=(("Sec. 3041",),)))
    assert cites_gold(case, [found("one"), found("two", citation=cited)]) is hit


@pytest.mark.parametrize(
    ("gold", "gains"),
    [
        (ids("a"), [1]),
        (ids("a", "b"), [1, 1]),
        (ids("a", "a|b"), [2]),
        (ids("a|b", "b|c", "c|d"), [2, 1]),
        (GoldIds(groups=()), []),
    ],
)
def test_the_ideal_list(gold: GoldIds, gains: list[int]) -> None:
    assert ideal_gains(gold.groups) == gains


# ------------------------------------------------------------------ facts


@pytest.mark.parametrize(
    ("fact", "text", "present"),
    [
        ("6", "at most 6 hens", True),
        ("6", "at most 16 hens", False),
        ("6", "at most 60 hens", False),
        ("6", "at most 6.5 acres", False),
        ("6", "under 15.6 of the code", False),
        ("6", "at most six hens; 6.", True),
        ("6", "a 6-foot fence", True),
        ("6", "R6 districts", False),
        ("6 feet", "not over 6\n feet high", True),
        ("6 feet", "not over 16 feet high", False),
        ("$1,000", "a fee of $1000.00 is due", True),
        ("$1,000", "a fee of $1,000, payable now", True),
        ("$1,000", "a fee of $ 1,000", True),
        ("$1,000", "a fee of $1,000.50", False),
        ("$1,000", "a fee of $1,000,000", False),
        ("$10", "a fee of $10,000", False),
        ("10,000 dollars", "10000 dollars", True),
        ("2,700 kelvins", "2700 Kelvins", True),
        ("1,2", "figures 1,2 and 3", True),
        ("25%", "25% of the floor", True),
        ("25%", "125% of the floor", False),
        ("9:00 a.m.", "from 9:00 A.M. to noon", True),
        ("9 a.m.", "from 19 a.m.", False),
        ("Building Official", "the building  official", True),
        ("Building Official", "the buildings official", False),
        ('54"', "at least 54\u2033 high", True),
        ("3'-6\"", "3\u2019\u20146\u201d", True),
        ("two-family", "a two\u2013family house", True),
        ("permit", "no permit is required", True),  # strings see no negation
    ],
)
def test_a_fact_is_whole_words_and_whole_numbers(fact: str, text: str, present: bool) -> None:
    assert facts_present([Fact(text=fact)], [text]) == [present]


def test_any_form_of_a_fact_in_any_of_the_texts_will_do() -> None:
    facts = [Fact(text="6 feet", alternates=("six feet", "6 ft")), Fact(text="R-1")]
    assert facts_present(facts, ["Six feet.", "Nothing here."]) == [True, False]
    assert facts_present(facts, ["Nothing.", "6 ft in R-1"]) == [True, True]
    assert facts_present(facts, []) == [False, False]


def test_a_fact_does_not_reach_from_one_text_into_the_next() -> None:
    assert facts_present([Fact(text="6 feet")], ["up to 6", "feet"]) == [False]


def test_a_citation_mark_is_no_fact() -> None:
    text = without_marks("Hens are allowed [6] in R-1 [12].")
    assert facts_present([Fact(text="6"), Fact(text="12")], [text]) == [False, False]


@given(st.integers(min_value=0, max_value=10**12))
def test_a_number_is_the_same_with_its_thousands_marked(number: int) -> None:
    assert plain(f"{number:,}") == plain(f"{number}")
    assert facts_present([Fact(text=f"${number:,}.00")], [f"(${number})"]) == [True]


# ------------------------------------------------------------------ what holds for any list


names = st.sampled_from("abcdefgh")
golds = st.lists(st.lists(names, min_size=1, max_size=3, unique=True), min_size=1, max_size=5).map(
    lambda groups: GoldIds(groups=tuple(tuple(g) for g in groups))
)
rankings = st.lists(names, max_size=30).map(lambda n: [found(x) for x in n])


@given(golds, rankings)
def test_hits_grow_with_k_and_all_scores_are_shares(gold: GoldIds, list_: list[Found]) -> None:
    scores = ranking_scores(case_of(gold), list_)
    hits = [scores[f"hit@{k}"] for k in CUTS]
    assert hits == sorted(hits)
    assert all(0 <= score <= 1 for score in scores.values())
    assert (scores["mrr"] > 0) == (scores["hit@10"] == 1) == (scores["ndcg@10"] > 0)


@given(golds, rankings, names)
def test_what_comes_later_never_changes_a_hit(gold: GoldIds, list_: list[Found], name: str) -> None:
    before = ranking_scores(case_of(gold), list_)
    after = ranking_scores(case_of(gold), [*list_, found(name)])
    assert all(after[score] >= value for score, value in before.items())


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60))
def test_the_interval_holds_the_mean(values: list[float]) -> None:
    e = estimate(values)
    assert min(values) - 1e-9 <= e.low <= e.value + 1e-9
    assert e.value - 1e-9 <= e.high <= max(values) + 1e-9


def test_an_interval_is_that_of_the_normal_approximation_where_that_holds() -> None:
    # 400 cases, half of them right: the standard error is 0.5 / sqrt(400) = 0.025.
    e = estimate([0.0, 1.0] * 200)
    assert e.value == 0.5
    assert e.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.005)
    assert e.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.005)


def test_the_same_values_have_the_same_interval() -> None:
    assert estimate([0.0, 1.0, 1.0]) == estimate([0.0, 1.0, 1.0])
    assert estimate([1.0] * 9) == Estimate(value=1.0, low=1.0, high=1.0, n=9)


def test_no_values_have_no_mean() -> None:
    with pytest.raises(ValueError, match="no values"):
        estimate([])


def test_pairing_sees_a_small_steady_difference_that_the_spread_hides() -> None:
    before = [i / 100 for i in range(100)]
    after = [b + 0.01 for b in before]
    difference = estimate_difference(before, after)
    assert difference.low > 0
    assert estimate(before).high > estimate(after).low


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="zip"):
        estimate_difference([1.0], [])

"""Our measures are the field's: on plain (document, relevance) lists they equal ir_measures'.

Ours also know gold groups, distinct sections and giant records, which no library does; where a list
has none of these, every number must be that of trec_eval.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.domain import CityId, Span
from eval.cases import Case, GoldIds
from eval.scores import Found, average_precision, ranking_scores, recall

ir = pytest.importorskip("ir_measures")

OURS = {
    **{f"hit@{k}": ir.Success @ k for k in (1, 3, 5, 10)},
    "mrr": ir.RR @ 10,
    "ndcg@10": ir.nDCG @ 10,
}
PLAIN = {"recall@10": ir.R @ 10, "map@10": ir.AP @ 10, "recall@3": ir.R @ 3, "map@3": ir.AP @ 3}

documents = [f"d{i:02}" for i in range(25)]
lists = st.permutations(documents).flatmap(
    lambda order: st.integers(0, 25).map(lambda n: list(order[:n]))
)
golds = st.sets(st.sampled_from(documents), min_size=1, max_size=14)


def theirs(measures, gold: set[str], found: list[str]) -> dict[str, float]:
    """Return what ir_measures says; a list of nothing has no row there, and scores nothing."""
    if not found:
        return dict.fromkeys(measures, 0.0)
    qrels = [ir.Qrel("q", name, 1) for name in gold]
    run = [ir.ScoredDoc("q", name, float(-rank)) for rank, name in enumerate(found)]
    values = ir.calc_aggregate(list(measures.values()), qrels, run)
    return {name: float(values[measure]) for name, measure in measures.items()}


@given(golds, lists)
def test_hits_mrr_and_ndcg_are_those_of_ir_measures(gold: set[str], found: list[str]) -> None:
    case = Case(
        id="q",
        city=CityId("x-xx"),
        kind="lookup",
        question="?",
        gold=GoldIds(groups=tuple((name,) for name in sorted(gold))),
        facts=(),
        answerable=True,
    )
    ranking = [Found(external_id=n, citation=n, span=Span(start=0, end=9)) for n in found]
    ours = ranking_scores(case, ranking)
    assert {name: ours[name] for name in OURS} == pytest.approx(theirs(OURS, gold, found), abs=1e-6)


@given(golds, lists)
def test_recall_and_average_precision_are_those_of_ir_measures(
    gold: set[str], found: list[str]
) -> None:
    ours = {
        f"{name}@{k}": measure(gold, found, k)
        for name, measure in (("recall", recall), ("map", average_precision))
        for k in (3, 10)
    }
    assert ours == pytest.approx(theirs(PLAIN, gold, found), abs=1e-6)

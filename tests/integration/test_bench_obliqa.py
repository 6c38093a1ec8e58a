"""The public yardstick: the data set is read whole, and a part of it is loaded, asked and scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from appliance.errors import UnreadableFile
from appliance.ingest import Progress
from appliance.wiring import open_house
from benchmarks.obliqa import (
    PUBLISHED,
    VARIANTS,
    Passage,
    Question,
    load,
    measure,
    read_passages,
    read_questions,
    report,
)
from tests.integration.conftest import Database

SHARED = Path(__file__).parents[2].parent / "shared" / "corpus" / "eval-obliqa"

PASSAGES = [
    Passage(id=f"p{i}", document=1 + i // 3, number=f"{i}.1", text=text)
    for i, text in enumerate(
        [
            "A Relevant Person must report suspicious activity to the Money Laundering Officer.",
            "An Authorised Person must keep its records for at least six years.",
            "A Fund Manager must appoint an auditor before the first unit is sold.",
            "Client money must be held in an account that is apart from the firm's own.",
            "",
        ]
    )
] + [Passage(id="twin", document=1, number="0.1", text="Suspicious activity means a warning sign.")]
QUESTIONS = [
    Question(
        id="q1",
        text="To whom must suspicious activity be reported?",
        relevant=frozenset({"1/0.1"}),
    ),
    Question(
        id="q2",
        text="For how many years are records kept, and who appoints an auditor?",
        relevant=frozenset({"1/1.1", "1/2.1"}),
    ),
]


async def test_passages_are_loaded_as_one_city_and_questions_scored_by_passage(
    empty: Database, tmp_path: Path
) -> None:
    told: list[Progress] = []
    async with open_house(empty.settings) as house:
        summary = await load(house, PASSAGES, tmp_path, told.append)
        assert not summary.rejected
        scored = await measure(house, PASSAGES, QUESTIONS, told.append)
    assert [s.name for s in scored] == [v.name for v in VARIANTS]
    for one in scored:
        assert one.recall.n == 2
        assert (one.recall.value, one.name) == (1.0, one.name)
        # Two records share the key 1/0.1: found twice, it still counts once, at its first rank.
        assert 0.5 < one.map.value <= 1.0
    assert told[-1].done == told[-1].total == 2
    lines = list(report(scored))
    assert len(lines) == len(VARIANTS) + 1 + len(PUBLISHED)
    assert json.loads(json.dumps(scored[0].json()))["recall@10"]["n"] == 2


@pytest.mark.skipif(not SHARED.exists(), reason="the data set is not at hand")
def test_the_data_set_is_whole_and_every_gold_reference_leads_to_a_passage() -> None:
    passages, questions = read_passages(SHARED), read_questions(SHARED)
    assert (len(passages), len(questions)) == (13_732, 2_786)
    assert len({p.id for p in passages}) == len(passages)
    assert {key for q in questions for key in q.relevant} <= {p.key for p in passages}
    some = read_questions(SHARED, limit=100)
    assert len(some) == len({q.id for q in some}) == 100
    assert some[-1].id != questions[99].id


def test_a_folder_without_the_data_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="passages"):
        read_passages(tmp_path)

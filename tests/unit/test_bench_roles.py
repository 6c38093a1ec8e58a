"""The benchmark of prefixes: what it reads, and when it says that the configured pair is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from appliance.domain import CityId, Span
from appliance.errors import BadRequest
from appliance.ports import Vectors
from benchmarks.passages import Encode, Exam, Passage, encoded, judged, read_exam
from benchmarks.roles import try_roles
from eval.cases import Case, GoldIds
from eval.scores import Found
from models.manifest import Manifest, Roles, read_manifest

CITY = CityId("troll-xx")
TOPICS = "fence", "pool", "sign", "shed", "goat", "bridge", "toll", "tower"


class Letters:
    """A tokenizer of single letters."""

    limit = 4_000

    def count(self, text: str) -> int:
        return len(text)

    def ends(self, text: str) -> Sequence[int]:
        return range(1, len(text) + 1)

    def fitted(self, text: str) -> str:
        return text[: self.limit]


def exam() -> Exam:
    passages = [
        Passage(
            words=topic, found=Found(external_id=topic, citation=topic, span=Span(start=0, end=1))
        )
        for topic in TOPICS
    ]
    cases = [
        Case(
            id=topic,
            city=CITY,
            kind="lookup",
            question=f"{topic}?",
            gold=GoldIds(groups=((topic,),)),
            facts=(),
            answerable=True,
        )
        for topic in TOPICS
    ]
    return Exam(passages={CITY: passages}, cases=cases)


def keen_on(prefix: str) -> Encode:
    """Return an encoder that sees the topic of a question only behind its prefix."""

    def vector(text: str) -> list[float]:
        seen = not text.endswith("?") or text.startswith(prefix)
        return [float(seen and topic in text) for topic in TOPICS] + [1e-3]

    def encode(texts: Sequence[str]) -> Vectors:
        rows = np.asarray([vector(text) for text in texts], np.float32)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    return encode


def manifest(query_prefix: str) -> Manifest:
    roles = {
        "ours": Roles(query_prefix=query_prefix, document_prefix="", source="", measured=False),
        "plain": Roles(query_prefix="", document_prefix="", source="", measured=False),
        "e5": Roles(query_prefix="q: ", document_prefix="p: ", source="", measured=False),
    }
    return replace(read_manifest(), roles=roles)


def test_prefixes_that_are_worse_than_anothers_are_called_wrong() -> None:
    trial = try_roles("ours", manifest(""), exam(), keen_on("q: "))
    assert [rival.prefixes for rival in trial.better] == [("q: ", "p: ")]
    assert trial.better[0].means["hit@1"] == 1.0
    assert list(trial.lines())[-1].startswith("A rival is shown to be better")


def test_the_right_prefixes_stay_and_each_pair_is_tried_once() -> None:
    trial = try_roles("ours", manifest("q: "), exam(), keen_on("q: "))
    assert trial.configured.means["mrr"] == 1.0
    assert [rival.prefixes for rival in trial.rivals] == [("", ""), ("q: ", "p: ")]
    assert not trial.better
    assert list(trial.lines())[-1].startswith("No rival is shown to be better")


def test_a_rival_that_is_only_as_good_changes_nothing() -> None:
    assert not try_roles("ours", manifest(""), exam(), keen_on("")).better


SAMPLES = Path(str(files("appliance") / "samples"))
CASES = Path(str(files("eval") / "cases" / "samples.jsonl"))


def test_passages_are_cut_from_the_files_and_bear_the_ids_that_the_cases_name() -> None:
    read = read_exam([SAMPLES], [CASES], Letters())
    ids = {p.found.external_id for passages in read.passages.values() for p in passages}
    wanted = {i for c in read.cases for group in c.gold.groups for i in group}
    assert wanted <= ids
    assert all(c.answerable for c in read.cases)


def test_a_question_that_is_put_in_the_words_of_its_passage_finds_it() -> None:
    toy = exam()
    scores = judged(toy, encoded(toy, keen_on("")), keen_on(""))
    assert [row["hit@1"] for row in scores] == [1.0] * len(TOPICS)


def test_cases_about_other_cities_are_no_exam(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(
        CASES.read_text("utf-8").replace("alder-falls-xx", "z-xx").replace("brackwater", "y")
    )
    with pytest.raises(BadRequest, match="None of the cases asks about a city"):
        read_exam([SAMPLES], [tmp_path / "cases.jsonl"], Letters())

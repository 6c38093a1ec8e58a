"""Questions about a law that changed: is each day given the law of that day, and the change told?

A case names a section, the enacted law that amended it, and a day before and one after.  Takes
ports as arguments, as `measure` does; shows nothing and writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from appliance.ask import Asked, ask, drain
from appliance.domain import Answer, Passage, Query
from appliance.ports import Encoder, Store
from appliance.retrieve import Retrieved, retrieve
from eval.cases import TemporalCase
from eval.results import Json, Result, Sourced


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalResult(Result):
    """What was found on the two days."""

    before: tuple[str, ...]  # external ids, best first
    after: tuple[str, ...]
    warned: tuple[str, ...]  # the laws that the amended section warned of on the later day

    def details(self) -> Json:
        """Return the sections that were returned, and the warnings."""
        return {"before": list(self.before), "after": list(self.after), "warned": list(self.warned)}


async def measure_temporal(
    store: Store, encoder: Encoder, cases: Sequence[TemporalCase], *, file: str, k: int
) -> AsyncIterator[TemporalResult]:
    """Yield the scores of each case."""
    for case in cases:
        began = time.perf_counter()
        before = await _search(store, encoder, case, case.before, k)
        after = await _search(store, encoder, case, case.after, k)
        answer = await _answer(store, encoder, case)
        ms = (time.perf_counter() - began) * 1000
        amended = [p for p in after.passages if p.section.external_id == case.section]
        yield TemporalResult(
            of=Sourced(file=file, case=case.question_case),
            scores=temporal_scores(case, before.passages, after.passages, answer),
            ms=ms,
            before=_ids(before.passages),
            after=_ids(after.passages),
            warned=tuple(
                dict.fromkeys(a.law for p in amended for a in p.section.pending(case.after))
            ),
        )


async def _search(
    store: Store, encoder: Encoder, case: TemporalCase, day: date, k: int
) -> Retrieved:
    query = Query(text=case.question_case.question, city=case.question_case.city, as_of=day)
    return await retrieve(store, encoder, query, k)


async def _answer(store: Store, encoder: Encoder, case: TemporalCase) -> Answer | None:
    """Return the answer in quotes of the later day; None if the box abstains."""
    of = case.question_case
    asked = Asked(question=of.question, city=of.city, as_of=case.after)
    outcome = (await drain(ask(store, encoder, None, asked))).outcome
    return outcome if isinstance(outcome, Answer) else None


def _ids(passages: Sequence[Passage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(p.section.external_id for p in passages))


# ------------------------------------------------------------------ scores


def temporal_scores(
    case: TemporalCase,
    before: Sequence[Passage],
    after: Sequence[Passage],
    answer: Answer | None,
) -> Mapping[str, float]:
    """Return the scores of a case; one that depends on the section being found is absent without it.

    found_before, found_after: the section (after: or the law) is among the passages.
    quiet_before: neither the law nor a warning of it is shown on the earlier day.
    warned_after, dated_after: the section warns of the law, with the day on which it took effect.
    answer_warned: the answer that cites the section carries that warning, or cites the law itself.
    """
    scores = {
        "found_before": float(_holds(before, case.section)),
        "found_after": float(_holds(after, case.section) or _holds(after, case.law)),
        "quiet_before": float(
            not _holds(before, case.law) and not _warnings(case, before, case.before)
        ),
    }
    if _holds(after, case.section):
        days = _warnings(case, after, case.after)
        scores["warned_after"] = float(bool(days))
        scores["dated_after"] = float(days == {case.effective})
    cited = {c.section.external_id for c in answer.citations} if answer else set()
    if answer and cited & {case.section, case.law}:
        warned = any(w.external_id == case.law for w in answer.warnings)
        scores["answer_warned"] = float(warned or case.law in cited)
    return scores


def _holds(passages: Sequence[Passage], external_id: str) -> bool:
    return any(p.section.external_id == external_id for p in passages)


def _warnings(case: TemporalCase, passages: Sequence[Passage], day: date) -> set[date | None]:
    """Return the days that the section's warnings of the case's law give."""
    return {
        a.effective
        for p in passages
        if p.section.external_id == case.section
        for a in p.section.pending(day)
        if a.external_id == case.law
    }

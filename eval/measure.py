"""Cases against a store: retrieve or ask each one and score what comes back.

Takes ports as arguments, as the flows do that it measures; shows nothing and
writes nothing.  One case at a time: what a case took is what one person would wait.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import date

from appliance.answers.ranking import distinct
from appliance.ask import Asked, ChatAt, Event, Finished, PassagesFound, ask, drain
from appliance.domain import (
    Abstention,
    Answer,
    ChunkId,
    Citation,
    CityId,
    Leg,
    Outcome,
    Query,
    SectionId,
    Span,
    StoredSection,
)
from appliance.errors import NoSuchSection, QuestionRefused
from appliance.ports import ChunkPreview, Coverage, Encoder, Searcher, Store
from appliance.retrieve import Recipe, Retrieved, retrieve
from eval.ablation import AblationResult
from eval.results import AnswerResult, Key, RetrievalResult, Sourced
from eval.scores import Found, cites_gold, facts_present, ranking_scores, without_marks
from eval.variants import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which cases a run takes, and why it leaves the others."""

    taken: tuple[Sourced, ...]
    city_absent: int = 0  # the box has nothing of the case's city
    gold_absent: int = 0  # the case itself says that the corpus lacks its gold
    unanswerable: int = 0  # has no gold to find: of use to `answers` only
    unencoded: tuple[CityId, ...] = ()  # cities taken whose dense leg is not ready

    @property
    def skipped(self) -> int:
        """Return how many cases could not be run that should have been."""
        return self.city_absent + self.gold_absent


def select(
    cases: Sequence[Sourced],
    coverages: Sequence[Coverage],
    *,
    answerable_only: bool,
    limit: int | None,
) -> Selection:
    """Return the first `limit` cases that this box can be asked, and the count of the others."""
    held = {c.city.id: c for c in coverages if c.chunks}
    here = [c for c in cases if c.case.city in held]
    with_gold = [c for c in here if c.case.gold_held]
    wanted = [c for c in with_gold if c.case.answerable or not answerable_only]
    taken = tuple(wanted[:limit])
    return Selection(
        taken=taken,
        city_absent=len(cases) - len(here),
        gold_absent=len(here) - len(with_gold),
        unanswerable=len(with_gold) - len(wanted),
        unencoded=tuple(sorted({c.case.city for c in taken if not held[c.case.city].dense_ready})),
    )


# ------------------------------------------------------------------ retrieval


async def measure_retrieval(
    store: Searcher,
    encoder: Encoder,
    cases: Sequence[Sourced],
    *,
    k: int,
    legs: Collection[Leg],
    today: date,
) -> AsyncIterator[RetrievalResult]:
    """Yield the scores of each answerable case."""
    for sourced in cases:
        case = sourced.case
        query = Query(text=case.question, city=case.city, as_of=case.as_of or today)
        began = time.perf_counter()
        retrieved = await retrieve(store, encoder, query, k, recipe=Recipe.of(tuple(legs)))
        ms = (time.perf_counter() - began) * 1000
        found = [_found(p.section, p.span) for p in retrieved.passages]
        yield RetrievalResult(
            of=sourced,
            scores=ranking_scores(case, found),
            ms=ms,
            found=tuple(f.external_id for f in found),
        )


def _found(section: StoredSection, span: Span) -> Found:
    """Return what the scores see of a stretch: its place counts in the record, as golds do."""
    return Found(
        external_id=section.external_id,
        citation=section.citation,
        span=span.shifted(section.inside),
        record=section.record,
    )


# ------------------------------------------------------------------ ablation


Search = Callable[[Query, int, Recipe], Awaitable[Retrieved]]  # `retrieve` with its ports given


@dataclass(slots=True, kw_only=True)
class _Question:
    """One question while variants take their turns: what is the same for several is done once."""

    store: Searcher
    search: Search
    query: Query
    k: int
    searched: dict[Recipe, tuple[Retrieved, float]] = field(default_factory=dict)  # with its ms
    previews: dict[ChunkId, ChunkPreview] = field(default_factory=dict)

    async def run(self, recipe: Recipe) -> None:
        """Search by a recipe, if that was not done for another variant."""
        if recipe not in self.searched:
            began = time.perf_counter()
            retrieved = await self.search(self.query, self.k, recipe)
            self.searched[recipe] = retrieved, (time.perf_counter() - began) * 1000

    async def found(self, variant: Variant) -> list[Found]:
        """Return the variant's sections, best first, out of what its recipe brought."""
        retrieved, _ = self.searched[variant.recipe]
        ranked = variant.order(retrieved.hits)
        if ranked is None:
            return [_found(p.section, p.span) for p in retrieved.passages]
        ranked = ranked[: 4 * self.k + 40]  # as many as the product looks at
        await self._preview([r.chunk for r in ranked])
        held = [r for r in ranked if r.chunk in self.previews]
        best = distinct(held, self.k, lambda r: self.previews[r.chunk])
        return [_found(c.section, c.span) for c in await self.store.chunks([r.chunk for r in best])]

    async def _preview(self, ids: Sequence[ChunkId]) -> None:
        missing = [i for i in ids if i not in self.previews]
        if missing:
            self.previews |= {p.id: p for p in await self.store.previews(missing)}


async def measure_ablation(
    store: Searcher,
    search: Search,
    cases: Sequence[Sourced],
    variants: Sequence[Variant],
    *,
    k: int,
    today: date,
    done: Collection[tuple[str, Key]],
) -> AsyncIterator[list[AblationResult]]:
    """Yield the results of each case by every variant, but for those (digest, case) that are done.

    Variants that only put the same legs together otherwise share one search, and its time: putting
    together takes under a millisecond.  The first to search a city would pay for reading it from
    disk, and the first to search for a question for its vector's way into the caches; so each city is
    searched once unmeasured, and the recipes take turns in going first.
    """
    warm: set[CityId] = set()
    for turn, sourced in enumerate(cases):
        key = (sourced.file, sourced.case.id)
        missing = [v for v in variants if (v.digest, key) not in done]
        if not missing:
            yield []
            continue
        case = sourced.case
        query = Query(text=case.question, city=case.city, as_of=case.as_of or today)
        if case.city not in warm:
            await search(query, k, missing[-1].recipe)
            warm.add(case.city)
        question = _Question(store=store, search=search, query=query, k=k)
        first = turn % len(missing)
        for variant in missing[first:] + missing[:first]:
            await question.run(variant.recipe)
        yield [await _by_variant(question, sourced, v) for v in missing]


async def _by_variant(question: _Question, sourced: Sourced, variant: Variant) -> AblationResult:
    found = await question.found(variant)
    return AblationResult(
        of=sourced,
        scores=ranking_scores(sourced.case, found),
        ms=question.searched[variant.recipe][1],
        found=tuple(f.external_id for f in found),
        variant=variant.name,
        digest=variant.digest,
    )


# ------------------------------------------------------------------ answers


async def measure_answers(
    store: Store,
    encoder: Encoder,
    chat: ChatAt | None,
    cases: Sequence[Sourced],
    *,
    today: date,
) -> AsyncIterator[AnswerResult]:
    """Yield how each case was answered; a question that the box refuses counts as not answered."""
    for sourced in cases:
        case = sourced.case
        asked = Asked(question=case.question, city=case.city, as_of=case.as_of or today)
        began = time.perf_counter()
        try:
            finished, retrieved = await _finish(store, encoder, chat, asked)
        except QuestionRefused as refusal:
            yield _refused(sourced, str(refusal), (time.perf_counter() - began) * 1000)
            continue
        ms = (time.perf_counter() - began) * 1000
        cited = _citations(finished.outcome)
        proofs = [await reverifies(store, c, asked, retrieved) for c in cited]
        yield _answer_result(sourced, finished.outcome, cited, proofs, ms)


async def _finish(
    store: Store, encoder: Encoder, chat: ChatAt | None, asked: Asked
) -> tuple[Finished, frozenset[SectionId]]:
    """Return the outcome and the sections that were retrieved for it."""
    retrieved: set[SectionId] = set()

    def note(event: Event) -> None:
        if isinstance(event, PassagesFound):
            retrieved.update(p.section.id for p in event.passages)

    finished = await drain(ask(store, encoder, chat, asked), note)
    return finished, frozenset(retrieved)


async def reverifies(
    store: Searcher, citation: Citation, asked: Asked, retrieved: Collection[SectionId]
) -> bool:
    """Prove a shown citation again, from the store and not from what the flow held.

    The section exists, is the asked city's, was retrieved, is in force on the day, and its stored
    text holds the quote at the very offsets.
    """
    try:
        section = await store.section(citation.section.id)
    except NoSuchSection:
        return False
    return (
        section.city == asked.city
        and section.id in retrieved
        and section.in_force(asked.as_of)
        and bool(citation.quote)
        and citation.span.of(section.text) == citation.quote
    )


def _citations(outcome: Outcome) -> tuple[Citation, ...]:
    match outcome:
        case Answer(citations=citations):
            return citations
        case Abstention():
            return ()


def _answer_result(
    sourced: Sourced,
    outcome: Outcome,
    cited: Sequence[Citation],
    proofs: Sequence[bool],
    ms: float,
) -> AnswerResult:
    return AnswerResult(
        of=sourced,
        scores=_answer_scores(sourced, outcome, cited),
        ms=ms,
        outcome=outcome.outcome if isinstance(outcome, Answer) else "abstention",
        cited=tuple(c.section.external_id for c in cited),
        proofs=tuple(proofs),
        text=outcome.text,
    )


def _answer_scores(
    sourced: Sourced, outcome: Outcome, cited: Sequence[Citation]
) -> dict[str, float]:
    case = sourced.case
    abstained = isinstance(outcome, Abstention)
    drafted = _draft_scores(outcome)
    if not case.answerable:
        return {"abstained": float(abstained), **drafted}
    found = [_found(c.section, c.span) for c in cited]
    scores = {"answered": float(not abstained), "proven_gold": float(cites_gold(case, found))}
    if case.facts:
        # What an abstention says is not an answer, whatever words it holds.
        texts = [] if abstained else [without_marks(outcome.text), *(c.quote for c in cited)]
        present = facts_present(case.facts, texts)
        scores["facts"] = sum(present) / len(present)
        scores["all_facts"] = float(all(present))
    return scores | drafted


def _draft_scores(outcome: Outcome) -> dict[str, float]:
    """Return what code found in a model's draft before anything was withheld."""
    if not isinstance(outcome, Answer) or outcome.draft is None:
        return {}
    return {
        "draft_names_what_exists": float(not outcome.phantoms),
        "draft_numbers_traced": float(not outcome.unsupported_numbers),
        "draft_proves_itself": float(not outcome.withheld),
    }


def _refused(sourced: Sourced, why: str, ms: float) -> AnswerResult:
    """Return the result of a question that the box would not take: nothing of it was right."""
    case = sourced.case
    names = ["answered", "proven_gold"] if case.answerable else ["abstained"]
    if case.answerable and case.facts:
        names += ["facts", "all_facts"]
    return AnswerResult(
        of=sourced,
        scores=dict.fromkeys(names, 0.0),
        ms=ms,
        outcome="refused",
        cited=(),
        proofs=(),
        text=why,
    )

"""A question to a proven answer, as a stream of events.

route -> retrieve -> (abstain?) -> pack -> quotes -> draft -> verify -> answer -> support.
The whole answer is the drained stream.  The flow takes ports as arguments, and the
model's words reach the reader only as far as code could prove them.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import date

from appliance.absence import nowhere, scan_question
from appliance.answers import refusals
from appliance.answers.abstention import Evidence, enough, faint
from appliance.answers.citations import prove
from appliance.answers.claims import named_numbers
from appliance.answers.drafts import Checked, check_draft
from appliance.answers.prompts import NOT_FOUND, ask_messages
from appliance.answers.quotes import quoted_span, worth_quoting
from appliance.answers.ranking import pack
from appliance.answers.routing import Routed, checked_question, routed, usable
from appliance.answers.support import GRADES, judge_messages
from appliance.answers.validity import pending_over
from appliance.corpus.words import written_terms
from appliance.domain import (
    Abstention,
    Answer,
    CacheHit,
    Citation,
    CityId,
    Claim,
    Draft,
    Outcome,
    Passage,
    Query,
    Route,
    State,
)
from appliance.errors import (
    ChatBroken,
    ChatUnavailable,
    CityNotSearchable,
    EmptyIndex,
    NoSuchCity,
)
from appliance.naming import missing
from appliance.ports import Chat, Coverage, Encoder, Searcher, Store
from appliance.retrieve import Retrieved, retrieve

# Chunks of a city whose whole text is read before the box says that it has no answer: a second or so.
READ_WHOLE = 10_000
PASSAGES = 10  # go before the model, as far as its context allows
REPLY_TOKENS = 400  # 120 words and their proofs
PROMPT_TOKENS = 500  # rules, question and chat template, generously


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAt:
    """A chat server with what must be known of its model."""

    chat: Chat
    demo: bool  # too small to be believed: its wording is folded away


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question as it came in."""

    question: str
    city: CityId
    as_of: date
    before: tuple[str, ...] = ()  # the questions of the same conversation, oldest first


# ------------------------------------------------------------------ events


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagesFound:
    """What was found, before anything is written."""

    passages: tuple[Passage, ...]
    coverage: Coverage
    as_of: date


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenWritten:
    """A piece of the model's draft; unverified."""

    text: str
    demo: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationProven:
    """A citation that code has proven; `number` is its mark in the text."""

    number: int
    citation: Citation
    as_of: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The outcome; after it, a stream has only `SupportJudged`."""

    outcome: Outcome
    asked: Asked  # with the day whose law was used
    timings_ms: dict[str, float]
    route: Route = Route.RESEARCH
    read_as: str | None = None  # of a follow-up: what was searched for it
    cache: CacheHit | None = None  # the answer was made before, and is proven anew


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportJudged:
    """A model's opinion on one claim of the answer, by its position from 0; 1: its quotes entail it."""

    claim: int
    support: float


Event = PassagesFound | TokenWritten | CitationProven | Finished | SupportJudged


@dataclass(slots=True)
class _Stopwatch:
    steps: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)
    _began: float = field(default_factory=time.perf_counter)

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.steps[step] = round((now - self._last) * 1000, 2)
        self._last = now

    def total(self) -> dict[str, float]:
        return {**self.steps, "total": round((time.perf_counter() - self._began) * 1000, 2)}


# ------------------------------------------------------------------ the flow


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One question with what is known of it before anything is searched."""

    asked: Asked
    coverage: Coverage
    kind: Routed
    watch: _Stopwatch

    def query(self) -> Query:
        return Query(text=self.kind.question, city=self.asked.city, as_of=self.asked.as_of)

    def finished(self, outcome: Outcome) -> Finished:
        """Return the outcome's event; an answer carries the laws that change what it cites."""
        if isinstance(outcome, Answer):
            cited = [c.section for c in outcome.citations]
            outcome = replace(outcome, warnings=pending_over(cited, self.asked.as_of))
        follows = self.kind.route is Route.FOLLOW_UP
        return Finished(
            outcome=outcome,
            asked=self.asked,
            timings_ms=self.watch.total(),
            route=self.kind.route,
            read_as=self.kind.question if follows else None,
        )


async def ask(
    store: Store,
    encoder: Encoder,
    chat: ChatAt | None,
    asked: Asked,
) -> AsyncGenerator[Event]:
    """Yield the events of one question: `Finished` once, and after it only `SupportJudged`.

    Raises QuestionRefused, NoSuchCity, EmptyIndex and CityNotSearchable before the first event.  A model server
    that is absent, slow or broken never raises: quotes are the answer then.
    """
    case = await _opened(store, asked)
    if refusal := _beside_the_code(case):
        yield case.finished(refusal)
        return
    found = await retrieve(store, encoder, case.query(), PASSAGES)
    case.watch.lap("retrieve")
    yield PassagesFound(passages=found.passages, coverage=case.coverage, as_of=case.asked.as_of)
    ground = await _ground(store, case, found)
    if isinstance(ground, Abstention):
        yield case.finished(ground)
        return
    if chat is None:
        for event in _proven(ground.quotes, case.asked.as_of):
            yield event
        yield case.finished(_quoted(ground, _NO_MODEL))
        return
    async with aclosing(_drafted(store, chat, case, ground)) as events:
        async for later in events:
            yield later


async def _opened(store: Store, asked: Asked) -> _Case:
    watch = _Stopwatch()
    question = checked_question(asked.question)
    coverage = await searchable(store, asked.city)
    held = [c.city for c in await store.cities()]
    kind = routed(question, selected=asked.city, cities=held, before=usable(asked.before))
    asked = replace(asked, question=question, as_of=kind.as_of or asked.as_of)
    return _Case(asked=asked, coverage=coverage, kind=kind, watch=watch)


def _beside_the_code(case: _Case) -> Abstention | None:
    """Return the refusal of what the selected city's code is not asked."""
    match case.kind.route:
        case Route.GREETING | Route.THANKS | Route.OUT_OF_SCOPE as route:
            return refusals.courtesy(case.coverage, route)
        case Route.COMPARISON:
            here = (case.coverage.city,) if len(case.kind.places) < 2 else ()
            return refusals.comparison((*here, *case.kind.places))
        case Route.OTHER_CITY:
            return refusals.other_place(case.coverage, case.kind.places[0])
    return None


async def _ground(store: Store, case: _Case, found: Retrieved) -> _Ground | Abstention:
    """Return what an answer can stand on, or why there is none."""
    if refusal := await _named_in_vain(store, case, found):
        return refusal
    evidence = await _evidence(store, case.query(), found)
    if not enough(evidence):
        return await _abstain(store, case, evidence.missing, found.passages)
    shown = _asked_for(case, found.passages)
    ground = _Ground(
        passages=found.passages,
        quotes=tuple(quotes_of(shown, case.asked.city, case.asked.as_of)),
        caution=await _caution(store, case, evidence),
    )
    case.watch.lap("quotes")
    return ground


async def _caution(store: Store, case: _Case, evidence: Evidence) -> str | None:
    """Return what a reader of the passages must know: that they are far, or silent on a thing.

    A thing that nothing in the code mentions is named in 9 of 24 unanswerable dev questions and in 12 of
    205 answerable ones; the whole code is read only where a word of the question is in no chunk.
    """
    if evidence.missing and case.coverage.chunks <= READ_WHOLE:
        question = case.kind.question
        scans = await scan_question(store, case.asked.city, question, case.asked.as_of)
        if things := nowhere(scans, question):
            named = " or ".join(f"“{thing}”" for thing in things)
            silent = f"nothing in this code mentions {named}"
            said = f"{_FAR}, and {silent}" if faint(evidence) else f"N{silent[1:]}"
            return f"{said}; these are the nearest passages."
    return f"{_FAR}; these are the nearest passages." if faint(evidence) else None


def _asked_for(case: _Case, passages: Sequence[Passage]) -> Sequence[Passage]:
    """Return what to quote: who asks for a section by its number wants that one."""
    if case.kind.route is not Route.LOOKUP:
        return passages
    return [p for p in passages if "named" in p.legs] or passages


_NO_MODEL = "No model server is running: these are the passages themselves, in their own words."
_DEMO = "demo model, not advice"
_FAR = "Nothing close to this question was found"


async def searchable(store: Searcher, city: CityId) -> Coverage:
    """Return what is held of a city that can be searched.

    Raises EmptyIndex, NoSuchCity, or CityNotSearchable when its audit keeps it from that.
    """
    try:
        coverage = await store.coverage(city)
    except NoSuchCity:
        if await store.cities():
            raise
        raise EmptyIndex(
            "Nothing has been ingested yet; `permitbox ingest PATH` loads a code."
        ) from None
    if not coverage.chunks:
        raise EmptyIndex(
            f"Nothing of {coverage.city.name} can be searched yet; `permitbox ingest PATH` loads it."
        )
    if not coverage.state.searchable:
        raise CityNotSearchable(coverage.city.name, coverage.city.id, _why_not(coverage))
    return coverage


def _why_not(coverage: Coverage) -> str:
    """Return why a city is kept from being searched.  No file of this machine is named here."""
    if coverage.audit is None or coverage.state is State.STAGED:
        return "it is loaded, but was not audited yet"
    if coverage.audit.warning:
        return coverage.audit.warning
    return f"its data did not pass the audit ({coverage.audit.reasons[0]})"


async def _evidence(store: Store, query: Query, found: Retrieved) -> Evidence:
    written = written_terms(query.text)
    frequency = await store.frequencies(query.city, list(written))
    return Evidence(
        passages=found.passages,
        missing=tuple(
            word
            for term, word in written.items()
            if not frequency.get(term) and not any(c.isdigit() for c in term)
        ),
        named=any(named.sections for named in found.named),
    )


# ------------------------------------------------------------------ quotes


def quotes_of(passages: Sequence[Passage], city: CityId, as_of: date) -> list[Citation]:
    """Return the passages that are worth quoting, each proven to be of the city, best first."""
    proofs = [
        prove(
            p.section,
            quoted_span(p),
            as_of=as_of,
            retrieved=passages,
            city=city,
            legs=p.legs,
            leads=p.leads,
        )
        for p in worth_quoting(passages)
    ]
    return list(dict.fromkeys(p for p in proofs if isinstance(p, Citation)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What an answer can stand on."""

    passages: tuple[Passage, ...]
    quotes: tuple[Citation, ...]
    caution: str | None  # what a reader of the quotes must know


def _quoted(ground: _Ground, note: str, draft: Draft | None = None) -> Answer:
    """Return the answer that consists of proven quotes with their headings."""
    lines, claims = [], []
    for number, citation in enumerate(ground.quotes, start=1):
        heading = citation.section.heading
        if citation.section.citation not in heading:
            heading = f"{citation.section.citation} {heading}"
        lines.append(f"{heading} [{number}]\n“{citation.quote}”")
        claims.append(Claim(text=citation.quote, citations=(number,)))
    return Answer(
        outcome="quotes",
        text="\n\n".join(lines),
        citations=ground.quotes,
        claims=tuple(claims),
        draft=draft,
        note=note if ground.caution is None else f"{ground.caution} {note}",
    )


# ------------------------------------------------------------------ the model


@dataclass(slots=True)
class _Reply:
    """What came back from the model, whole or not."""

    passages: list[Passage] = field(default_factory=list)  # those that it was given
    text: str = ""
    model: str = ""
    error: str | None = None

    def draft(self) -> Draft | None:
        return Draft(text=self.text, model=self.model) if self.text else None


async def _drafted(store: Store, at: ChatAt, case: _Case, ground: _Ground) -> AsyncGenerator[Event]:
    """Draft, verify, judge.  With a demo model the quotes come first and remain the answer."""
    day, watch = case.asked.as_of, case.watch
    if at.demo:
        for event in _proven(ground.quotes, day):
            yield event
    reply = _Reply()
    async with aclosing(_write(at, case, ground.passages, reply)) as tokens:
        async for token in tokens:
            if reply.text == token.text:
                watch.lap("first_token")
            yield token
    watch.lap("draft")
    outcome = await _verified(store, at, case, ground, reply)
    watch.lap("verify")
    if isinstance(outcome, Answer) and not at.demo:
        for event in _proven(outcome.citations, day):
            yield event
    yield case.finished(outcome)
    if isinstance(outcome, Answer) and outcome.outcome == "answer" and not at.demo:
        async with aclosing(_supported(at.chat, outcome)) as judged:
            async for one in judged:
                yield one


async def _write(
    at: ChatAt, case: _Case, passages: Sequence[Passage], reply: _Reply
) -> AsyncGenerator[TokenWritten]:
    """Yield the model's words and gather them in `reply`; a server's failure is noted there."""
    try:
        reply.model = await at.chat.model()
        reply.passages = pack(passages, await _budget(at.chat))
        messages = ask_messages(case.kind.question, case.coverage.city.name, reply.passages)
        stream = at.chat.stream(messages, max_tokens=REPLY_TOKENS, temperature=0.0)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                reply.text += piece
                yield TokenWritten(text=piece, demo=at.demo)
    except (ChatUnavailable, ChatBroken) as error:
        reply.error = str(error)


async def _verified(
    store: Store, at: ChatAt, case: _Case, ground: _Ground, reply: _Reply
) -> Outcome:
    """Return the draft as far as it is proven, or else the quotes, with a word on why.

    A model that can be believed and found no answer in the passages makes the box abstain.
    """
    draft = reply.draft()
    if at.demo:
        note = _DEMO if reply.error is None else f"{_DEMO}; {reply.error}"
        return await _beside(store, case, reply, _quoted(ground, note, draft))
    if reply.error is not None or draft is None:
        return _quoted(ground, f"{_NO_MODEL} ({reply.error})")
    if draft.text.strip().startswith(NOT_FOUND):
        return await _abstain(store, case, (), ground.passages)
    checked = await _checked(store, case, reply, draft)
    if checked.answer is not None:
        return checked.answer
    return _faulty(_quoted(ground, f"Quotes only: {checked.why_not}.", draft), checked)


async def _beside(store: Store, case: _Case, reply: _Reply, quotes: Answer) -> Answer:
    """Return the quotes with what is wrong with the draft that is folded away beside them."""
    if quotes.draft is None:
        return quotes
    return _faulty(quotes, await _checked(store, case, reply, quotes.draft))


async def _checked(store: Store, case: _Case, reply: _Reply, draft: Draft) -> Checked:
    known = await store.known_labels(case.asked.city, named_numbers(draft.text))
    return check_draft(
        draft,
        reply.passages,
        city=case.asked.city,
        as_of=case.asked.as_of,
        known=known,
        question=case.kind.question,
    )


def _faulty(quotes: Answer, checked: Checked) -> Answer:
    return replace(
        quotes,
        withheld=checked.withheld,
        phantoms=checked.phantoms,
        unsupported_numbers=checked.unsupported_numbers,
    )


async def _supported(chat: Chat, answer: Answer) -> AsyncGenerator[SupportJudged]:
    """Yield the model's opinion on each claim, one by one; a judge that fails is none."""
    for position, claim in enumerate(answer.claims):
        if not claim.citations:
            continue
        quotes = [
            "\n".join((*c.over, c.quote))
            for n in claim.citations
            for c in [answer.citations[n - 1]]
        ]
        try:
            grade = await chat.choose(judge_messages(claim, quotes), tuple(GRADES))
        except (ChatUnavailable, ChatBroken):
            return
        yield SupportJudged(claim=position, support=GRADES[grade])


def _proven(citations: Sequence[Citation], day: date) -> list[CitationProven]:
    return [
        CitationProven(number=n, citation=c, as_of=day) for n, c in enumerate(citations, start=1)
    ]


async def _budget(chat: Chat) -> int:
    """Return the tokens that passages may take: computed before, so that nothing is cut later."""
    return int(await chat.context()) - REPLY_TOKENS - PROMPT_TOKENS


# ------------------------------------------------------------------ refusals


async def _named_in_vain(store: Store, case: _Case, found: Retrieved) -> Abstention | None:
    """Return the refusal of a question that names sections of which none can be shown.

    Only numbers with joints count: "section 8" is as likely a federal programme.
    """
    wanted = [n for n in found.named if any(c in n.number for c in ".-:")]
    if not wanted or any("named" in p.legs for p in found.passages):
        return None
    dead = [section for named in wanted for group in named.sections for section in group]
    if dead:
        section = await store.section(dead[0])
        return refusals.not_in_force(case.coverage, section, case.asked.as_of)
    absent = missing(wanted)
    return refusals.no_such_section(case.coverage, absent) if absent else None


async def _abstain(
    store: Store, case: _Case, absent: Sequence[str], passages: Sequence[Passage]
) -> Abstention:
    terms = tuple(written_terms(case.kind.question).values())
    searched = refusals.searched_for(case.coverage, terms, passages)
    newest, day = case.coverage.newest, case.asked.as_of
    if not passages and newest is not None and day < newest:
        return refusals.no_law_then(case.coverage, searched, day)
    if case.coverage.chunks <= READ_WHOLE:
        scans = await scan_question(store, case.asked.city, case.kind.question, day)
        searched = replace(
            searched,
            sections_read=max((s.sections for s in scans), default=0),
            nowhere=nowhere(scans, case.kind.question),
        )
    return refusals.not_found(case.coverage, searched, absent)


# ------------------------------------------------------------------ the whole answer


async def drain(
    events: AsyncIterator[Event], on_event: Callable[[Event], Awaitable[None] | None] | None = None
) -> Finished:
    """Return the outcome of a stream with its claims' support, handing each event to `on_event`."""
    finished: Finished | None = None
    support: dict[int, float] = {}
    async for event in events:
        if isinstance(event, Finished):
            finished = event
        elif isinstance(event, SupportJudged):
            support[event.claim] = event.support
        if on_event is not None and (waiting := on_event(event)) is not None:
            await waiting
    assert finished is not None  # the contract of `ask`
    return with_support(finished, support)


def with_support(finished: Finished, support: Mapping[int, float]) -> Finished:
    """Return an outcome with a judge's opinions, by the positions of the claims."""
    answer = finished.outcome
    if not isinstance(answer, Answer) or not support:
        return finished
    claims = [replace(c, support=support.get(i)) for i, c in enumerate(answer.claims)]
    return replace(finished, outcome=replace(answer, claims=tuple(claims)))

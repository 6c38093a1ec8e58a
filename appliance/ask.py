"""A question to a proven answer, as a stream of events.

route -> retrieve -> (abstain?) -> pack -> quotes -> draft -> verify -> answer.
The whole answer is the drained stream.  The flow takes ports as arguments, and the
model's words reach the reader only as far as code could prove them.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import date

from appliance.answers.abstention import Evidence, enough, faint
from appliance.answers.citations import prove
from appliance.answers.claims import named_numbers
from appliance.answers.drafts import check_draft
from appliance.answers.prompts import NOT_FOUND, ask_messages
from appliance.answers.quotes import quoted_span, worth_quoting
from appliance.answers.ranking import pack
from appliance.answers.routing import checked_question, other_city
from appliance.answers.validity import pending_over
from appliance.corpus.references import find_references
from appliance.corpus.words import written_terms
from appliance.domain import (
    LEGS,
    Abstention,
    Answer,
    CacheHit,
    Citation,
    CityId,
    Draft,
    Named,
    Outcome,
    Passage,
    Query,
    Reason,
    Searched,
    State,
)
from appliance.errors import ChatBroken, ChatUnavailable, CityNotSearchable, EmptyIndex
from appliance.ports import Chat, Coverage, Encoder, Searcher, Store
from appliance.retrieve import Retrieved, retrieve

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
    """The outcome; the last event of every stream."""

    outcome: Outcome
    asked: Asked
    timings_ms: dict[str, float]
    cache: CacheHit | None = None  # the answer was made before, and is proven anew


Event = PassagesFound | TokenWritten | CitationProven | Finished


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


async def ask(
    store: Store,
    encoder: Encoder,
    chat: ChatAt | None,
    asked: Asked,
) -> AsyncGenerator[Event]:
    """Yield the events of one question; the last one is `Finished`.

    Raises QuestionRefused, NoSuchCity, EmptyIndex and CityNotSearchable before the first event.  A model server
    that is absent, slow or broken never raises: quotes are the answer then.
    """
    watch = _Stopwatch()
    question = checked_question(asked.question)
    coverage = await searchable(store, asked.city)
    asked = Asked(question=question, city=asked.city, as_of=asked.as_of)
    if elsewhere := other_city(question, asked.city, [c.city for c in await store.cities()]):
        yield _finished(_abstain_other_city(coverage, elsewhere.name), asked, watch)
        return
    query = Query(text=question, city=asked.city, as_of=asked.as_of)
    found = await retrieve(store, encoder, query, PASSAGES)
    watch.lap("retrieve")
    yield PassagesFound(passages=found.passages, coverage=coverage, as_of=asked.as_of)
    if refusal := await _named_in_vain(store, coverage, query, found):
        yield _finished(refusal, asked, watch)
        return
    evidence = await _evidence(store, query, found)
    if not enough(evidence):
        yield _finished(_abstain(coverage, asked, evidence.missing, found.passages), asked, watch)
        return
    ground = _Ground(
        passages=found.passages,
        quotes=tuple(quotes_of(found.passages, asked.as_of)),
        caution=_FAINT if faint(evidence) else None,
    )
    watch.lap("quotes")
    if chat is None:
        for event in _proven(ground.quotes, asked.as_of):
            yield event
        yield _finished(_quoted(ground, _NO_MODEL), asked, watch)
        return
    drafted = _drafted(store, chat, asked, coverage, ground, watch)
    async with aclosing(drafted) as events:
        async for later in events:
            yield later


_NO_MODEL = "No model server is running: these are the passages themselves, in their own words."
_DEMO = "demo model, not advice"
_FAINT = "Nothing close to this question was found; these are the nearest passages."


async def searchable(store: Searcher, city: CityId) -> Coverage:
    """Return what is held of a city that can be searched.

    Raises EmptyIndex, NoSuchCity, or CityNotSearchable when its audit keeps it from that.
    """
    if not await store.cities():
        raise EmptyIndex("Nothing has been ingested yet; `permitbox ingest PATH` loads a code.")
    coverage = await store.coverage(city)
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


def quotes_of(passages: Sequence[Passage], as_of: date) -> list[Citation]:
    """Return the passages that are worth quoting, each proven, best first."""
    proofs = [
        prove(
            p.section,
            quoted_span(p),
            as_of=as_of,
            retrieved=passages,
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
    lines = []
    for number, citation in enumerate(ground.quotes, start=1):
        heading = citation.section.heading
        if citation.section.citation not in heading:
            heading = f"{citation.section.citation} {heading}"
        lines.append(f"{heading} [{number}]\n“{citation.quote}”")
    return Answer(
        outcome="quotes",
        text="\n\n".join(lines),
        citations=ground.quotes,
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


async def _drafted(
    store: Store,
    at: ChatAt,
    asked: Asked,
    coverage: Coverage,
    ground: _Ground,
    watch: _Stopwatch,
) -> AsyncGenerator[Event]:
    """Draft and verify.  With a demo model the quotes come first and remain the answer."""
    if at.demo:
        for event in _proven(ground.quotes, asked.as_of):
            yield event
    reply = _Reply()
    async with aclosing(_write(at, asked, coverage, ground.passages, reply)) as tokens:
        async for token in tokens:
            if reply.text == token.text:
                watch.lap("first_token")
            yield token
    watch.lap("draft")
    verified = await _verified(store, at, asked, ground, reply)
    outcome = verified or _abstain(coverage, asked, (), ground.passages)
    watch.lap("verify")
    if isinstance(outcome, Answer) and not at.demo:
        for event in _proven(outcome.citations, asked.as_of):
            yield event
    yield _finished(outcome, asked, watch)


async def _write(
    at: ChatAt, asked: Asked, coverage: Coverage, passages: Sequence[Passage], reply: _Reply
) -> AsyncGenerator[TokenWritten]:
    """Yield the model's words and gather them in `reply`; a server's failure is noted there."""
    try:
        reply.model = await at.chat.model()
        reply.passages = pack(passages, await _budget(at.chat), _tokens)
        messages = ask_messages(asked.question, coverage.city.name, reply.passages)
        stream = at.chat.stream(messages, max_tokens=REPLY_TOKENS, temperature=0.0)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                reply.text += piece
                yield TokenWritten(text=piece, demo=at.demo)
    except (ChatUnavailable, ChatBroken) as error:
        reply.error = str(error)


async def _verified(
    store: Store, at: ChatAt, asked: Asked, ground: _Ground, reply: _Reply
) -> Answer | None:
    """Return the draft as far as it is proven, or else the quotes, with a word on why.

    None if a model that can be believed found no answer in the passages.
    """
    draft = reply.draft()
    if at.demo:
        note = _DEMO if reply.error is None else f"{_DEMO}; {reply.error}"
        return _quoted(ground, note, draft)
    if reply.error is not None or draft is None:
        return _quoted(ground, f"{_NO_MODEL} ({reply.error})")
    if draft.text.strip().startswith(NOT_FOUND):
        return None
    known = await store.known_labels(asked.city, named_numbers(draft.text))
    checked = check_draft(draft, reply.passages, as_of=asked.as_of, known=known)
    if checked.answer is not None:
        return checked.answer
    return _quoted(ground, f"Quotes only: {checked.why_not}.", draft)


def _proven(citations: Sequence[Citation], day: date) -> list[CitationProven]:
    return [
        CitationProven(number=n, citation=c, as_of=day) for n, c in enumerate(citations, start=1)
    ]


async def _budget(chat: Chat) -> int:
    """Return the tokens that passages may take: computed before, so that nothing is cut later."""
    return int(await chat.context()) - REPLY_TOKENS - PROMPT_TOKENS


def _tokens(text: str) -> int:
    """Return a safe upper bound of a text's tokens for any common tokenizer.

    English law text has about 4.5 characters a token in the tokenizers of Qwen and SmolLM2; tables
    and numbers come near 2.5.
    """
    return len(text) * 2 // 5 + 1


# ------------------------------------------------------------------ refusals


async def _named_in_vain(
    store: Store, coverage: Coverage, query: Query, found: Retrieved
) -> Abstention | None:
    """Return the refusal of a question that names sections of which none can be shown.

    Only numbers with joints count: "section 8" is as likely a federal programme.
    """
    wanted = [r for r in find_references(query.text) if r.kind == "section" and not r.bare]
    wanted = [r for r in wanted if re.search(r"[.\-:]", r.number)]
    if not wanted or any("named" in p.legs for p in found.passages):
        return None
    numbers = [r.number for r in wanted]
    dead = await store.by_number(query.city, numbers, ("section",))
    names = ", ".join(dict.fromkeys(r.span.of(query.text).strip() for r in wanted))
    searched = Searched(chunks=coverage.chunks, legs=("named",), terms=tuple(numbers))
    if dead:
        standing = dead[0].standing.value.replace("_", " ")
        why = standing if standing != "in force" else f"not in force on {query.as_of}"
        return Abstention(
            reason=Reason.NOT_IN_FORCE,
            text=f"{dead[0].citation} of {coverage.city.name} is {why}.",
            searched=searched,
            office=coverage.city.office,
        )
    return Abstention(
        reason=Reason.NO_SUCH_SECTION,
        text=f"The code of {coverage.city.name} in this box has no {names}.{_near(found.named)}",
        searched=searched,
        office=coverage.city.office,
    )


def _near(named: Sequence[Named]) -> str:
    near = [s.citation for n in named for s in n.suggestions][:3]
    return f" Did you mean {' or '.join(near)}?" if near else ""


def _abstain_other_city(coverage: Coverage, name: str) -> Abstention:
    return Abstention(
        reason=Reason.OTHER_CITY,
        text=f"This asks about {name}, but {coverage.city.name} is selected; select {name} and ask again.",
        searched=Searched(chunks=0, legs=(), terms=()),
        office=coverage.city.office,
    )


def _abstain(
    coverage: Coverage, asked: Asked, missing: Sequence[str], passages: Sequence[Passage]
) -> Abstention:
    searched = Searched(
        chunks=coverage.chunks,
        legs=LEGS if coverage.dense_ready else ("lexical", "named"),
        terms=tuple(written_terms(asked.question).values()),
        nearest=tuple(passages[:3]),
    )
    if not passages and coverage.newest is not None and asked.as_of < coverage.newest:
        return Abstention(
            reason=Reason.NOT_IN_FORCE,
            text=f"No text of {coverage.city.name} in this box was in force on {asked.as_of}; "
            f"its newest is of {coverage.newest}.",
            searched=searched,
            office=coverage.city.office,
        )
    absent = ", ".join(missing)
    detail = f" Nowhere in it: {absent}." if absent else ""
    return Abstention(
        reason=Reason.NOT_FOUND,
        text=f"The code of {coverage.city.name} in this box does not seem to answer this.{detail}",
        searched=searched,
        office=coverage.city.office,
    )


def _finished(outcome: Outcome, asked: Asked, watch: _Stopwatch) -> Finished:
    """Return the last event; an answer carries the laws that change what it cites."""
    if isinstance(outcome, Answer):
        cited = [c.section for c in outcome.citations]
        outcome = replace(outcome, warnings=pending_over(cited, asked.as_of))
    return Finished(outcome=outcome, asked=asked, timings_ms=watch.total())


# ------------------------------------------------------------------ the whole answer


async def drain(
    events: AsyncIterator[Event], on_event: Callable[[Event], Awaitable[None] | None] | None = None
) -> Finished:
    """Return the last event of a stream, handing each event to `on_event`."""
    last: Event | None = None
    async for event in events:
        last = event
        if on_event is not None and (waiting := on_event(event)) is not None:
            await waiting
    assert isinstance(last, Finished)  # the contract of `ask`
    return last

"""A question asked of several cities: a table of cities and facts, each proven or said to be absent.

Each city is searched, read and proven by itself, with a query, passages and a scan of its own:
no passage of one can reach the cell of another.  A cell is a proven citation with the short fact
in it, or "not found in this city's code" with every word that was looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date

import anyio

from appliance.absence import Scan, nowhere, scan_question
from appliance.answers.citations import prove
from appliance.answers.extraction import (
    Asked,
    asked_of,
    extracted,
    question_terms,
)
from appliance.answers.picking import REPLY_TOKENS, NothingPicked, Picked, pick_messages, picked
from appliance.answers.ranking import pack
from appliance.answers.routing import checked_question, named_places
from appliance.ask import ChatAt, searchable
from appliance.corpus.words import terms
from appliance.domain import Citation, City, CityId, Passage, Query, Span
from appliance.errors import BadRequest, ChatBroken, ChatUnavailable, CityNotSearchable
from appliance.ports import Chat, Coverage, Encoder, Store
from appliance.retrieve import Retrieved
from appliance.several import AT_ONCE, retrieve_in

PASSAGES = 10  # of each city
MOST_CITIES = 60  # of one comparison
NEAREST = 3  # passages that an empty cell names
PROMPT_TOKENS = 400  # rules, question and chat template, generously


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCell:
    """What a city's code says: a proven citation and the fact in it."""

    city: City
    citation: Citation
    fact: Span  # in the citation's quote
    by: str  # "rules", or the model's name

    @property
    def text(self) -> str:
        """Return the fact, exactly as the code has it."""
        return self.fact.of(self.citation.quote)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyCell:
    """Nothing was found that answers, and what was looked for."""

    city: City
    scans: tuple[Scan, ...]  # one for each thing that was looked for in the whole code
    absent: tuple[str, ...] = ()  # things of the question that nothing in the code mentions
    nearest: tuple[Passage, ...] = ()  # what was found, and does not answer as far as can be told
    why: str | None = None  # why the city was not searched at all

    @property
    def text(self) -> str:
        """Return what is said in the place of a fact."""
        if self.why is not None:
            return self.why
        if not self.absent and self.nearest:  # it speaks of the matter: silence is not proven
            return "no single answer found in this city's code; its nearest sections may hold one"
        things = " or ".join(f"“{thing}”" for thing in self.absent)
        detail = f"; nothing in it mentions {things}" if things else ""
        return f"not found in this city's code{detail}"


Cell = FoundCell | EmptyCell


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One question with a cell for each city, in the order in which they were asked for."""

    question: str
    as_of: date
    cells: tuple[Cell, ...]


async def compare(
    store: Store,
    encoder: Encoder,
    chat: ChatAt | None,
    question: str,
    cities: Sequence[CityId],
    as_of: date,
) -> Comparison:
    """Return the cells of the cities; those that the question names, if none are given.

    Raises QuestionRefused, NoSuchCity, EmptyIndex, and BadRequest if there is no city to ask or too
    many.  A city that its audit keeps from being searched has an empty cell that says so.
    """
    question = checked_question(question)
    held = {c.city.id: c for c in await store.cities()}
    asked = list(dict.fromkeys(cities or _named(question, held.values())))
    if not 0 < len(asked) <= MOST_CITIES:
        raise BadRequest(
            f"Name 1 to {MOST_CITIES} cities of this box, in the question or beside it."
        )
    open_, shut = await _apart(store, asked)
    bare = bare_question(question, [held[city].city for city in asked])
    query = Query(text=bare, city=asked[0], as_of=as_of)
    found = await retrieve_in(store, encoder, query, list(open_), PASSAGES)
    cells: dict[CityId, Cell] = dict(shut)
    room = anyio.Semaphore(AT_ONCE)

    async def fill(city: CityId) -> None:
        async with room:
            # Each call sees one city's coverage and passages, and no other's.
            cells[city] = await _cell(store, chat, bare, open_[city], found[city], as_of)

    try:
        async with anyio.create_task_group() as group:
            for city in open_:
                group.start_soon(fill, city)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures  # one reason is enough for whoever asked
    return Comparison(question=question, as_of=as_of, cells=tuple(cells[c] for c in asked))


def _named(question: str, held: Iterable[Coverage]) -> list[CityId]:
    return [c.id for c in named_places(question, [h.city for h in held])]


async def _apart(
    store: Store, cities: Sequence[CityId]
) -> tuple[dict[CityId, Coverage], dict[CityId, EmptyCell]]:
    """Return the cities that can be searched, and the cells of those that cannot.  Raises NoSuchCity."""
    open_: dict[CityId, Coverage] = {}
    shut: dict[CityId, EmptyCell] = {}
    for city in cities:
        try:
            open_[city] = await searchable(store, city)
        except CityNotSearchable as error:
            place = (await store.coverage(city)).city
            shut[city] = EmptyCell(city=place, scans=(), why=str(error))
    return open_, shut


# ------------------------------------------------------------------ the question without its cities

_PLACE = "\0"  # in the place of each city's name: no question has it
_JOINED = r"[\s,;]*(?:\b(?:and|or|versus|vs|than|with|to|in)\b\.?[\s,;]*){0,3}"
_PLACES = re.compile(
    rf"(?:\b(?:in|of|for|at|between|among|across|both|than|versus|vs\.?)\s+){{0,3}}{_PLACE}(?:{_JOINED}{_PLACE})*",
    re.IGNORECASE,
)
_COMPARING = re.compile(
    r"\bhow\s+(?:do|does)\s+(?P<what>.{3,80}?)\s+(?:differ|compare)\b|\bcompare\b"
    r"|\b(?:what\s+(?:is|are)\s+the\s+)?(?:differences?|comparison)(?:\s+(?:in|of|between)\b)?",
    re.IGNORECASE,
)


def bare_question(question: str, cities: Sequence[City]) -> str:
    """Return a question as it is asked of one city: without the cities' names and "how do … differ"."""
    bare = question
    for city in named_places(question, cities):
        for words in _names(city.id):
            bare = re.sub(rf"(?<![\w-]){words}(?![\w-])", _PLACE, bare, flags=re.IGNORECASE)
    bare = _PLACES.sub(" ", bare)
    if _PLACE in bare or bare == question:
        return question
    bare = _COMPARING.sub(lambda m: m["what"] or " ", bare)
    bare = re.sub(r"(?:[\s,]|\b(?:and|or)\b)+(?=[?.,]|\Z)", "", " ".join(bare.split())).strip(
        " ,;:."
    )
    return bare if terms(bare) else question


def _names(city: CityId) -> list[str]:
    """Return patterns of a place's name, the longest first: with its county and its state, or without."""
    words = city.split("-")[:-1]
    whole = r"\s+".join(map(re.escape, words))
    short = r"\s+".join(map(re.escape, words[:-1])) if words[-1:] == ["county"] else ""
    return [rf"{n}(?:,?\s+{city[-2:].upper()}\b)?" for n in (whole, short) if n]


# ------------------------------------------------------------------ one city


async def _cell(
    store: Store,
    chat: ChatAt | None,
    question: str,
    coverage: Coverage,
    found: Retrieved,
    as_of: date,
) -> Cell:
    """Return the cell of one city: by the model if there is one that can be believed, else by rules."""
    city, passages = coverage.city, found.passages
    frequency = await store.frequencies(city.id, question_terms(question))
    asked = asked_of(question, frequency, coverage.chunks)
    choice: Picked | NothingPicked | None = None
    if chat is not None and not chat.demo and passages:
        choice, by = await _picked(chat.chat, question, city, passages)
    if isinstance(choice, Picked):
        if cell := _proven(city, choice.passage, choice.quote, choice.fact, passages, as_of, by):
            return cell
    elif choice is None and (cell := _by_rules(city, asked, passages, as_of)):
        return cell
    scans = await scan_question(store, city.id, question, as_of)
    return EmptyCell(
        city=city,
        scans=scans,
        absent=nowhere(scans, question),
        nearest=passages[:NEAREST],
    )


def _by_rules(
    city: City, asked: Asked, passages: Sequence[Passage], as_of: date
) -> FoundCell | None:
    best = extracted(asked, passages)
    if best is None:
        return None
    clause = best.candidate.clause
    fact = best.candidate.fact
    return _proven(city, clause.passage, clause.span, fact, passages, as_of, "rules")


def _proven(
    city: City,
    passage: Passage,
    quote: Span,
    fact: Span,
    passages: Sequence[Passage],
    as_of: date,
    by: str,
) -> FoundCell | None:
    """Return the cell if its quote is proven to be this city's law, in force and retrieved."""
    proof = prove(
        passage.section,
        quote,
        as_of=as_of,
        retrieved=passages,
        city=city.id,
        legs=passage.legs,
        leads=passage.leads if quote.within(passage.span) else (),
    )
    if not isinstance(proof, Citation) or not fact.within(proof.span):
        return None
    return FoundCell(city=city, citation=proof, fact=fact.shifted(-proof.span.start), by=by)


async def _picked(
    chat: Chat, question: str, city: City, passages: Sequence[Passage]
) -> tuple[Picked | NothingPicked | None, str]:
    """Return what the model picks of one city's passages; None if it fails or cannot be believed."""
    reply = ""
    try:
        name = await chat.model()
        given = pack(passages, await chat.context() - REPLY_TOKENS - PROMPT_TOKENS)
        messages = pick_messages(question, city.name, given)
        stream = chat.stream(messages, max_tokens=REPLY_TOKENS, temperature=0.0)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                reply += piece
    except (ChatUnavailable, ChatBroken):
        return None, ""
    return picked(reply, given), name

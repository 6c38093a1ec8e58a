"""The seams: what a flow needs of the outside world, as protocols.

Flows take these as arguments; `wiring` knows the concrete classes and
`testing` ships a twin of each.  Shapes and units are part of the contract.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from appliance.domain import (
    Amendment,
    CacheHit,
    Chunk,
    ChunkId,
    ChunkKind,
    City,
    CityId,
    Definition,
    Digest,
    Document,
    EntityKind,
    Having,
    Hit,
    Leg,
    Mention,
    Section,
    SectionId,
    Span,
    Standing,
    State,
    StoredSection,
)

Vectors = NDArray[np.float32]
Only = Sequence[SectionId] | None  # a search among these sections; None: among all


class Tokenizer(Protocol):
    """The encoder's own tokenizer: chunk limits are counted with it and nothing else."""

    limit: int  # most tokens of one input, special tokens included

    def count(self, text: str) -> int:
        """Return the tokens of `text` as the encoder sees it, special tokens included."""
        ...

    def ends(self, text: str) -> Sequence[int]:
        """Return the code-point end offset of each token of `text`, without special tokens."""
        ...

    def fitted(self, text: str) -> str:
        """Return the beginning of `text` that fits the limit: for scoring, never for storing."""
        ...


class Encoder(Protocol):
    """Texts to unit vectors, with the two roles kept apart."""

    model: str  # name and digest of the weights; spaces of different models cannot mix
    dimension: int
    reranker: Reranker | None  # that reads candidates beside it, if there is one

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer whose limit chunks must keep."""
        ...

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimension) unit vectors.  Raises EncoderError on an over-long text."""
        ...

    async def encode_query(self, text: str) -> Vectors:
        """Return one unit vector of shape (dimension,); a long query is cut to the limit."""
        ...


Role = Literal["query", "document"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """What one pass of a model says of n texts, three ways; row i of each is text i."""

    dense: Vectors  # (n, d) unit vectors
    sparse: Sequence[Mapping[int, float]]  # vocabulary id -> lexical weight > 0; absent: 0
    multi: Sequence[Vectors]  # one (tokens, d') array of unit vectors a text


class MultiEncoder(Encoder, Protocol):
    """An encoder that also gives lexical weights and a vector a token in the same pass (BGE-M3).

    Scores of a query q and a document p, as the paper has them (arXiv 2402.03216, section 3.1):
    dense `q @ p`; lexical the sum of `q[t] * p[t]` over the shared ids; multi-vector the mean over
    the query's tokens of the largest product with any token of the document.
    """

    async def encode_all(self, texts: Sequence[str], role: Role) -> Encoded:
        """Return all three of the texts; over-long ones as in the two methods of `Encoder`."""
        ...


class Reranker(Protocol):
    """Judges texts against a query by reading both, which is dearer and better than a product."""

    model: str  # name and digest of the weights

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one finite number a text, higher is better; no text's depends on the others.

        The numbers of two models or two queries cannot be compared.  A text over the model's limit
        is cut from its end, as its beginning says what it is about.  Raises RerankerError.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class Chat(Protocol):
    """An OpenAI-compatible chat server."""

    async def model(self) -> str:
        """Return the name of the served model.  Raises ChatUnavailable."""
        ...

    async def context(self) -> int:
        """Return the most tokens of prompt and reply together.  Raises ChatUnavailable."""
        ...

    def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float
    ) -> AsyncGenerator[str]:
        """Yield the reply's pieces; closing the iterator frees the server.

        Raises ChatUnavailable when no server answers and ChatBroken when the
        reply is empty, cut at the token limit, or breaks off.
        """
        ...

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """Return the one of the choices that the model takes; its output is constrained to them.

        Raises ChatUnavailable, and ChatBroken on anything that is none of them.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """An admin's word against an audit: it stands, and is shown, until it is taken back."""

    state: State
    because: str
    who: str
    made_at: datetime
    verdict: State  # the audit's at that time


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What the last audit of a city said, as it is kept."""

    verdict: State
    coverage: str  # plain sentences: what its text covers and what not
    reasons: tuple[str, ...]  # the worst first
    fix: str | None  # the command that mends the worst of them
    override: Override | None = None

    @property
    def warning(self) -> str | None:
        """Return a sentence on an override that stands, and whether things got worse under it."""
        if self.override is None:
            return None
        said = self.override
        worse = (
            f"; SINCE THEN THE AUDIT GOT WORSE ({self.verdict}: {'; '.join(self.reasons)})"
            if self.verdict.badness > said.verdict.badness
            else ""
        )
        return (
            f"set {said.state} against its audit ({said.verdict}) by {said.who} "
            f"on {said.made_at:%Y-%m-%d}, because: {said.because}{worse}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the box holds of one city."""

    city: City
    sections: int
    chunks: int  # searchable ones
    newest: date | None  # newest effective date known
    encoded: int  # chunks that have their vector
    dense_ready: bool
    topics: tuple[str, ...]  # sample headings
    state: State = State.STAGED
    audit: Audit | None = None  # None before the first one

    @property
    def usable(self) -> bool:
        """Tell whether the city is among all that can be searched."""
        return bool(self.chunks) and self.state.searchable

    @property
    def about(self) -> str:
        """Return what whoever asks this city must know: state, an override, topics in and out."""
        if self.audit is None:
            return "Not audited yet."
        parts = [f"set {self.state}" if self.audit.override else self.state.value]
        lead = self.audit.warning or parts[0]
        return f"{lead[0].upper()}{lead[1:]}. {self.audit.coverage}"

    @property
    def status(self) -> str:
        """Return one phrase for people: what can be searched now."""
        if not self.chunks:
            return "empty"
        if self.dense_ready:
            return "ready"
        return f"words only; meaning {100 * self.encoded // self.chunks} % encoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundChunk:
    """A chunk with the section that it is a part of."""

    id: ChunkId
    section: StoredSection
    span: Span  # in the section's text
    kind: ChunkKind
    leads: tuple[Span, ...] = ()  # in the section's text: what stands over the chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPreview:
    """A chunk with its own words and facts of its section: what ranks and lists candidates.

    Cheap whatever the section's size; a citation is proven against `FoundChunk.section.text`.
    """

    id: ChunkId
    section: SectionId
    document: int  # the stored version of the record that the section is a part of
    city: CityId
    external_id: str  # of the section; those that hide in one record share it
    citation: str
    number: str | None
    heading: str
    path: tuple[str, ...]  # outermost first
    crumb: str  # the breadcrumb as it is embedded
    inside: int  # where the section's text begins in that of the record
    length: int  # of the section's text, in code points
    standing: Standing
    effective_from: date | None
    effective_until: date | None
    doc_type: str
    span: Span  # in the section's text
    ordinal: int  # position in the section, from 0
    kind: ChunkKind
    text: str
    titles: tuple[str, ...]  # of the subdivisions over it, in reading order
    header: str | None  # of the table that goes on in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A leg that gave fewer chunks than it promises: min(k, those that may be found)."""

    city: CityId
    leg: Leg
    rows: int
    promised: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearer:
    """A section that bears a number, by one of its labels."""

    section: SectionId
    external_id: str
    citation: str
    heading: str
    path: tuple[str, ...]  # outermost first, without the section itself
    kind: str  # of the label: section | table | chapter | … | whole
    number: str  # of the label, normalised
    weight: int  # of the label: 0 its own number; higher: less its own
    standing: Standing
    effective_from: date | None
    effective_until: date | None
    doc_type: str

    def in_force(self, day: date) -> bool:
        """Tell whether it applied on `day` (an unknown bound is open)."""
        return (
            self.standing is Standing.IN_FORCE
            and (self.effective_from is None or self.effective_from <= day)
            and (self.effective_until is None or day < self.effective_until)
        )


MOST_BEARERS = 400  # rows of one look-up: more are those of a title, not of a section


class Register(Protocol):
    """Looking numbers up in a city's registry; a number's key is `references.number_key` of it."""

    async def bearing(
        self,
        city: CityId,
        keys: Sequence[str],
        kinds: Sequence[str],
        within: Sequence[tuple[Sequence[str], Sequence[str]]] = (),
    ) -> Sequence[Bearer]:
        """Return current and past sections that bear a number with one of the keys, own ones first.

        Each of `within` is (kinds, keys) of which the section must bear a label, too: a chapter 8 in
        a title 34.  MOST_BEARERS rows at most.
        """
        ...

    async def beneath(self, city: CityId, key: str) -> Sequence[Bearer]:
        """Return the sections whose own number goes on from the key; MOST_BEARERS at most."""
        ...


class CitationLookUp(Protocol):
    """What a citation that somebody wrote down can be about."""

    async def cited(
        self, city: CityId, *, kind: str, number: str, whole: str, quote: str
    ) -> Sequence[StoredSection]:
        """Return the sections, current or past, that bear a number or a whole citation.

        The text is "" of those that cannot hold the quote.
        """
        ...

    async def cited_elsewhere(
        self, city: CityId, *, kind: str, number: str, whole: str, quote: str
    ) -> Sequence[StoredSection]:
        """Return those of all other cities."""
        ...

    async def holding(self, city: CityId, quote: str) -> Sequence[StoredSection]:
        """Return sections of the city that may hold a quote, whatever their number."""
        ...

    async def held_versions(
        self, city: CityId, external_id: str, section: SectionId
    ) -> Sequence[tuple[StoredSection, Digest]]:
        """Return every version of a record with the digest of its body, and the section of the id."""
        ...


class Searcher(Register, Protocol):
    """Reading the store: legs, registry, coverage."""

    async def cities(self) -> Sequence[Coverage]:
        """Return every city with what is held of it."""
        ...

    async def coverage(self, city: CityId) -> Coverage:
        """Return what is held of the city.  Raises NoSuchCity with the nearest names."""
        ...

    async def sections_having(self, city: CityId, having: Sequence[Having]) -> Sequence[SectionId]:
        """Return the sections that hold all of these entities."""
        ...

    async def dense(
        self, city: CityId, vector: Vectors, k: int, as_of: date, only: Only = None
    ) -> Sequence[Hit]:
        """Return the k nearest chunks in force; none before the city is encoded."""
        ...

    async def lexical(
        self, city: CityId, text: str, k: int, as_of: date, only: Only = None
    ) -> Sequence[Hit]:
        """Return the k best chunks in force by BM25."""
        ...

    async def named(
        self, city: CityId, numbers: Sequence[str], k: int, as_of: date, only: Only = None
    ) -> Sequence[Hit]:
        """Return the chunks of the sections that bear one of the numbers."""
        ...

    async def first_chunks(
        self, sections: Sequence[SectionId], as_of: date, only: Only = None
    ) -> dict[SectionId, ChunkId]:
        """Return the first searchable chunk in force of each section that has one."""
        ...

    async def frequencies(self, city: CityId, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many chunks of the city each term occurs (absent: nowhere)."""
        ...

    async def chunks(self, ids: Sequence[ChunkId]) -> Sequence[FoundChunk]:
        """Return the chunks with their whole sections, in the order of `ids`."""
        ...

    async def previews(self, ids: Sequence[ChunkId]) -> Sequence[ChunkPreview]:
        """Return the chunks without their sections' texts, in the order of `ids`."""
        ...

    async def section(self, section: SectionId) -> StoredSection:
        """Raises NoSuchSection."""
        ...

    async def by_number(
        self,
        city: CityId | None,
        numbers: Sequence[str],
        kinds: Sequence[str] = ("section", "whole"),
        limit: int = 200,
    ) -> Sequence[StoredSection]:
        """Return every current or past section with one of the normalised numbers."""
        ...

    async def known_labels(self, city: CityId, numbers: Sequence[str]) -> set[tuple[str, str]]:
        """Return which (kind, number) of the numbers exist in the city."""
        ...

    def looking_up(self) -> AbstractAsyncContextManager[CitationLookUp]:
        """Hand over the look-ups that citations are verified with."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSection:
    """A section in which a pattern occurred, with the words that are searched of it."""

    section: SectionId
    external_id: str
    citation: str
    heading: str
    path: tuple[str, ...]  # outermost first, without the section itself
    inside: int  # where the section's text begins in that of the record
    begins: int  # where `words` begins in the section's text
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeReading:
    """What a reading of all searchable sections of a city brought."""

    sections: int  # that were read
    found: tuple[ReadSection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinedTerm:
    """A term that a section defines."""

    section: SectionId
    term: str  # lower case
    span: Span  # of its definition, in the section's text


class Scanner(Protocol):
    """Reading a city's law whole, without an index."""

    async def scan(self, city: CityId, pattern: str, as_of: date) -> WholeReading:
        """Read every searchable section in force: text, heading and the titles over it.

        `pattern` is a POSIX regular expression that is matched without regard to case.
        """
        ...

    async def defined_in(self, sections: Sequence[SectionId]) -> Sequence[DefinedTerm]:
        """Return the terms that these sections define."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """What is kept of a question that was answered: in clear only what may be counted."""

    city: CityId
    as_of: date
    asked_at: datetime
    outcome: str
    reason: str | None  # of an abstention
    cache: CacheHit | None
    took_ms: float
    owner: bytes  # the digest of the asker's secret
    sealed: bytes  # the JSON of `permitbox ask`, for the asker only


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAnswer:
    """An answer as its owner gets it back, still sealed."""

    id: UUID
    city: CityId
    as_of: date
    asked_at: datetime
    outcome: str
    sealed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStatistic:
    """What an operator may know of the answers of one city on one day with one outcome."""

    city: CityId
    day: date
    outcome: str
    reason: str | None
    answers: int
    from_cache: int
    p50_ms: float | None  # None: of an older box
    p95_ms: float | None


class AnswerTrail(Protocol):
    """What was asked and answered, by who asked; texts are sealed."""

    async def keep(self, record: AnswerRecord) -> None:
        """Add an answer."""
        ...

    async def of_owner(
        self, owner: bytes, *, id_: UUID | None = None, limit: int = 100
    ) -> Sequence[OwnAnswer]:
        """Return an asker's own answers, the newest first."""
        ...

    async def forget(self, owner: bytes, id_: UUID | None = None) -> int:
        """Delete one answer of an asker, or all; return how many."""
        ...

    async def statistics(self, days: int) -> Sequence[AnswerStatistic]:
        """Return counts and times of the last days."""
        ...


class Store(Searcher, Scanner, Protocol):
    """The whole of what is read to answer."""


# ------------------------------------------------------------------ answers made before


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedAnswer:
    """An answer that was made before, still sealed; whether it still holds is to be proven."""

    how: CacheHit
    exact: bytes  # the key of the words that it was given to
    sections: Mapping[SectionId, StoredSection]  # those that it cites, as they are stored now


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a look into the answers made before brought."""

    corpus: str | None  # changes with every change of the city's rows; None: it is not searched
    found: CachedAnswer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCount:
    """How many answers of a city are kept, and since when."""

    city: CityId
    answers: int
    bytes: int
    oldest: datetime


class AnswerCache(Protocol):
    """Answers by what was asked; keys are digests, and what is kept is sealed: no text is in it."""

    async def look(
        self,
        city: CityId,
        exact: bytes,
        semantic: bytes | None,
        cited: Callable[[bytes], Collection[SectionId]],
    ) -> Looked:
        """Return the answer to the same words, else one to a question of the same meaning.

        Only of the city's law as it is stored now, whose version comes along.  `cited` opens what is
        sealed and says which sections it cites; one look is to cost one connection.
        """
        ...

    async def keep(
        self, city: CityId, corpus: str, exact: bytes, semantic: bytes | None, sealed: bytes
    ) -> None:
        """Keep an answer from a version of the law; the city's oldest go when there are too many."""
        ...

    async def drop(self, exact: bytes) -> None:
        """Forget one answer."""
        ...

    async def clear(self, city: CityId | None) -> int:
        """Forget all answers of a city, or all; return how many."""
        ...

    async def counts(self) -> Sequence[CacheCount]:
        """Return what is kept, by city."""
        ...


# ------------------------------------------------------------------ the audit of a city


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question that people ask in every city.

    A chunk answers to it that has a word of each group; words are compared by their stems.
    """

    name: str
    groups: tuple[tuple[str, ...], ...]  # three at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """How many chunks in force answer to a probe, and the best of them."""

    probe: str
    hits: int
    example: str | None  # the citation of the best one's section
    example_id: str | None  # and its external id


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What was turned away of a file that brought documents of the city."""

    file: str
    held: int  # current documents of this city that it brought
    of_all: int  # and of all cities
    rejected: int  # records turned away when it was last read
    reasons: Mapping[str, int]
    barren: bool  # the last reading brought nothing but rejections: older text stands
    empty: bool = False  # it never brought anything; the counts are those of its folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong or missing, how bad it is, and the command that mends it."""

    state: State
    reason: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an audit says of a city."""

    state: State
    findings: tuple[Finding, ...]  # the worst first
    coverage: str  # plain sentences for whoever asks this city


class Audits(Protocol):
    """The audit's half of the store: facts out, verdicts and overrides in."""

    async def due(self) -> Sequence[CityId]:
        """Return the cities that were never audited or have changed since."""
        ...

    async def held(self, city: CityId) -> Coverage:
        """Return what is held of the city, with what the last audit said.  Raises NoSuchCity."""
        ...

    async def counts(self, city: CityId) -> tuple[int, datetime | None, bool]:
        """Return the current documents, the newest time of fetching, and if some came by `--city`."""
        ...

    def law(self, city: CityId) -> AsyncIterator[StoredSection]:
        """Yield every section of the city's current versions."""
        ...

    async def refused(self, city: CityId) -> Sequence[Refused]:
        """Return what was turned away of each file that brought something of the city."""
        ...

    async def probe(self, city: CityId, probe: Probe, day: date) -> Probed:
        """Return how many chunks in force on the day answer to the probe."""
        ...

    async def keep(self, city: CityId, verdict: Verdict) -> None:
        """Write the verdict; the city's state follows it, unless an admin has set another."""
        ...

    async def override(self, city: CityId, state: State, *, because: str, who: str) -> None:
        """Set the city's state against its audit; an earlier override ends."""
        ...

    async def clear(self, city: CityId) -> bool:
        """End the city's override; tell whether there was one."""
        ...


# ------------------------------------------------------------------ calculators


CalculatorState = Literal["proposed", "approved", "rejected", "disabled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculatorForm:
    """A calculator as it is kept; `calculators.calculator` reads the form."""

    external_id: str  # of the record that its rule stands in
    title: str
    form: str  # JSON
    digest: str  # of what it computes and quotes, wherever that stands


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCalculator:
    """A kept calculator with what was decided of it."""

    id: int
    city: CityId
    form: str  # JSON
    state: CalculatorState
    because: str | None  # why it is disabled


class Calculators(Protocol):
    """The calculators of a box, and the current law that they stand on."""

    async def propose(self, city: CityId, forms: Sequence[CalculatorForm]) -> int:
        """Keep proposals that are not known yet; return how many those were."""
        ...

    async def listed(
        self, city: CityId, states: Sequence[CalculatorState]
    ) -> Sequence[StoredCalculator]:
        """Return the city's calculators in some states, by record."""
        ...

    async def one(self, calculator: int) -> StoredCalculator:
        """Raises NoSuchCalculator."""
        ...

    async def decide(self, calculator: int, state: CalculatorState, *, who: str) -> None:
        """Set what a person decided."""
        ...

    async def disable(self, calculator: int, because: str) -> None:
        """Take an approved calculator out of use until a person confirms it."""
        ...

    async def rebind(self, calculator: int, form: str) -> None:
        """Keep where the words of a calculator stand now."""
        ...

    async def records(self, city: CityId, external_ids: Sequence[str]) -> Sequence[StoredSection]:
        """Return the sections of the current versions of some records, in reading order."""
        ...

    def law(self, city: CityId) -> AsyncIterator[StoredSection]:
        """Yield every section of the city's current versions."""
        ...


# ------------------------------------------------------------------ loading


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A name under which a section can be looked up."""

    section: int  # position in the document
    kind: str  # section | table | chapter | … | whole
    number: str  # normalised
    weight: int  # 0: its own number; higher: less its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Something that a text names in a way that can be compared: a district, a height, a fee."""

    kind: EntityKind
    value: str  # normalised: "R-1", "fence permit", "6", "2024-01-01"
    unit: str | None  # of a dimension or an amount: "foot", "dollar", "dollar per sqft"
    bound: Literal["min", "max"] | None  # "at least six feet", "six feet or less"
    span: Span  # in the text that it was found in


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadDocument:
    """A document with all that is stored of it."""

    city: City
    document: Document
    version: str  # digest of body, structure and dates
    sections: tuple[Section, ...]
    crumbs: tuple[str, ...]  # parallel to `sections`
    labels: tuple[Label, ...]
    chunks: tuple[tuple[Chunk, bytes], ...]  # with the sha256 of the embedding input
    place: int = 0  # in the corpus file
    entities: tuple[tuple[int, Entity], ...] = ()  # with the section's position; spans in its text
    amendments: tuple[Amendment, ...] = ()  # what an enacted law does to sections of the code
    # What each section mentions and defines, with the section's position and spans in the body.
    mentions: tuple[tuple[int, Mention], ...] = ()
    definitions: tuple[tuple[int, Definition], ...] = ()

    @property
    def law(self) -> str:
        """Return the law's name: "Local Law 64 of 2020", or the title of a document of many parts."""
        return self.sections[0].citation if len(self.sections) == 1 else self.document.title


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """How many rows a file brought."""

    documents: int
    sections: int
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleCity:
    """A city whose vectors are behind its rows."""

    id: int
    slug: str
    unencoded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedCity:
    """What a city's vectors are searched through."""

    id: int
    slug: str
    vectors: int
    graph: bool  # an HNSW index; else a scan


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlinkedCity:
    """A city whose graph of references is behind its rows."""

    id: int
    slug: str
    mentions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossReference:
    """A mention of the law in a section, and what it leads to."""

    source: str  # external id of the section
    source_citation: str
    target: str | None  # external id of a section, or the path of a chapter
    target_citation: str | None
    text: str  # as it is written
    kind: str
    reason: str | None  # why it leads nowhere
    span: Span  # in the text of the source's record
    candidates: tuple[str, ...]  # external ids, if more than one section fits
    standing: Standing | None  # of the section that it leads to


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodeTask:
    """One distinct embedding input."""

    input: bytes
    crumb: str
    titles: tuple[str, ...]
    text: str


class Indexer(Protocol):
    """Building a city's indexes beside those in use and swapping them in; each build is one transaction."""

    def exclusive(self) -> AbstractAsyncContextManager[None]:
        """Hold the right to ingest.  Raises IngestRunning."""
        ...

    async def indexed_cities(self) -> Sequence[IndexedCity]:
        """Return every city that has chunks."""
        ...

    async def build_words(self, city: int) -> None:
        """Read and weigh all words of the city anew."""
        ...

    async def build_dense(self, city: int) -> None:
        """Build the city's vectors beside the old ones and swap them in."""
        ...

    async def build_progress(self) -> int:
        """Return how many vectors the graph that is being built holds; 0 if none is."""
        ...


class Loader(Indexer, Protocol):
    """Writing the store; each method is one transaction."""

    @property
    def audits(self) -> Audits:
        """Return the audit's half of the store: what was loaded is audited before it is searched."""
        ...

    async def file_known(self, path: str, city: str, digest: str, pipeline: str) -> bool:
        """Tell whether this very content was read to its end before."""
        ...

    async def versions(self, city: City, external_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return {external id: (version, pipeline)} of the current ones among the ids."""
        ...

    async def load_file(
        self,
        *,
        path: str,
        city_override: str,
        digest: str,
        pipeline: str,
        documents: Sequence[LoadDocument],
        unchanged: Sequence[tuple[City, str, int]],  # with its place in the file
        rejected: int,
        reasons: Mapping[str, int],
        whole: bool,
        today: date,
    ) -> LoadResult:
        """Write all that one file brings."""
        ...

    async def unlinked_cities(self) -> Sequence[UnlinkedCity]:
        """Return the cities whose graph of references is behind their rows."""
        ...

    async def link_references(self, city: int) -> int:
        """Make the city's graph anew; return how many edges it has."""
        ...

    async def stale_cities(self) -> Sequence[StaleCity]:
        """Return the cities whose vectors are behind their rows."""
        ...

    async def next_unencoded(self, city: int, limit: int) -> Sequence[EncodeTask]:
        """Return distinct embedding inputs that have no vector yet."""
        ...

    async def keep_vectors(self, tasks: Sequence[EncodeTask], vectors: Vectors) -> None:
        """Store the vectors of these inputs."""
        ...

    async def note_progress(self, city: int) -> None:
        """Bring the city's count of encoded chunks up to date."""
        ...

    async def job(self, kind: str, total: int) -> int:
        """Open the row that says how far a long piece of work is."""
        ...

    async def report(self, job: int, done: int, rate: float, *, state: str = "running") -> None:
        """Say how far it is."""
        ...

"""The records of PermitBox: what the law text is made of, and what an answer is.

Plain, frozen, keyword-only.  Nothing here knows a database, a model or a page.

One coordinate system: a `Span` is a half-open range of Unicode **code points**
into `Document.body`, which is never edited after the gate.  Whatever is shown as
a citation is such a span of stored text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Literal, NewType, get_args

CityId = NewType("CityId", str)  # "new-york-ny"
SectionId = NewType("SectionId", int)  # a section of one stored version
ChunkId = NewType("ChunkId", int)
Digest = NewType("Digest", str)  # sha256, lower-case hex

_CITY = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def parse_city_id(text: str) -> CityId:
    """Parse a city id ("san-mateo-ca"): lower-case words joined by hyphens, at most 80 characters.

    Raises ValueError with a sentence that says what an id looks like.
    """
    slug = text.strip().lower()
    if len(slug) > 80 or not _CITY.fullmatch(slug):
        raise ValueError(f"{text[:80]!r} is not a city id; one looks like 'new-york-ny'")
    return CityId(slug)


def digest_of(text: str) -> Digest:
    """Return the sha256 of the text's UTF-8 form, as 64 hex digits."""
    return Digest(sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Span:
    """A half-open range of code points: 0 <= start <= end."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: [{self.start}, {self.end})")

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """Return the part of `text` that this span covers."""
        return text[self.start : self.end]

    def shifted(self, by: int) -> Span:
        """Return the same span, counted from another origin."""
        return Span(start=self.start + by, end=self.end + by)

    def within(self, other: Span) -> bool:
        """Tell whether every code point of this span lies in `other`."""
        return other.start <= self.start and self.end <= other.end


class Standing(StrEnum):
    """Whether a section still says anything."""

    IN_FORCE = "in_force"
    REPEALED = "repealed"
    EXPIRED = "expired"
    RESERVED = "reserved"
    OMITTED = "omitted"
    TRANSFERRED = "transferred"


class State(StrEnum):
    """Whether a city can be searched: what its audit, or an admin's word against it, says."""

    STAGED = "staged"  # loaded, not audited yet
    LIVE = "live"
    LIMITED = "limited"  # searchable, with gaps that whoever asks must know of
    QUARANTINED = "quarantined"  # its data is bad

    @property
    def badness(self) -> int:
        """Return 0 for the best of states, more for a worse one."""
        return (State.LIVE, State.LIMITED, State.STAGED, State.QUARANTINED).index(self)

    @property
    def searchable(self) -> bool:
        """Tell whether questions are answered from such a city."""
        return self in (State.LIVE, State.LIMITED)


class ChunkKind(StrEnum):
    """What sort of text a chunk holds."""

    PROSE = "prose"
    TABLE = "table"
    DEFINITION = "definition"


# ------------------------------------------------------------------ law text


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a document came from."""

    url: str | None
    fetched_at: datetime | None
    publisher: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class City:
    """A place with a code of its own."""

    id: CityId
    name: str
    office: str | None = None  # whom to ask when the code has no answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One immutable version of a text, as a corpus file gives it."""

    city: CityId
    external_id: str  # stable across versions, unique in the city
    kind: str  # code | ordinance | fee_schedule | guide | page
    title: str
    source: Source
    body: str
    effective_from: date | None = None  # None: the source does not say
    effective_until: date | None = None
    superseded_by: str | None = None  # what replaced the text, if that is known

    @property
    def digest(self) -> Digest:
        """Return the digest of the body: the version's name."""
        return digest_of(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One entry of the registry: a numbered (or titled) stretch of a document."""

    external_id: str  # the corpus record's id, or city/number
    citation: str  # as the code itself writes it: "NYC Admin. Code § 28-105.9"
    number: str | None  # "28-105.9"; None for an untitled preamble
    heading: str
    path: tuple[str, ...]  # outermost first, without the section itself
    span: Span  # the section's own text in the body, without its sub-sections
    parent: int | None = None  # position of the parent in the same document's list
    inside: int = 0  # where its text begins in that of the record whose id it bears
    standing: Standing = Standing.IN_FORCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A stretch of one section that is searched as a whole; `text == body[span]`.

    What stands over it in the same body is repeated before it wherever it is read alone: the
    `titles` of subdivisions, which are searched with it, and the `header` of a table that goes on.
    """

    section: int  # position of the section in its document's list
    ordinal: int  # position of the chunk in its section
    span: Span  # in the document's body
    text: str
    kind: ChunkKind
    tokens: int  # of the embedding input, special tokens included
    titles: tuple[Span, ...] = ()  # in the document's body, in reading order
    header: Span | None = None  # in the document's body


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A document that passed the gate, with its structure."""

    document: Document
    sections: tuple[Section, ...]
    amendments: tuple[Amendment, ...] = ()  # what an enacted law does to sections of the code


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A record that the gate turned away, and why; it is reported, never half-used."""

    where: str  # file and line
    reasons: tuple[str, ...]


# ------------------------------------------------------------------ laws that change the law


Change = Literal["amended", "added", "renumbered", "repealed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """What an enacted law does to one section, or one chapter, of a code; spans are in its text."""

    kind: Change
    number: str | None  # of the section, normalised; None if a whole chapter is meant
    within: tuple[str, ...]  # the chapter: ("title 27", "chapter 3"); empty for a section
    code: tuple[str, ...]  # words of the code's name, lower case; empty: the law names none
    clause: Span  # the words that do it
    matter: Span  # the new text; what goes stands in [brackets]
    enacted: date | None  # the day it became law
    effective: date | None
    effective_clause: Span | None  # the words that say from when
    undated: str | None  # why there is no effective day


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAmendment:
    """A law that changes a stored section whose text does not say so yet."""

    law: str  # as it is cited: "Local Law 64 of 2020"
    external_id: str  # of the law
    kind: Change
    enacted: date | None
    effective: date | None  # None: it cannot be told from the law alone

    def known(self, day: date) -> bool:
        """Tell whether the law was there on `day`: in force, or passed and still to come."""
        since = self.enacted or self.effective
        return since is None or since <= day


# ------------------------------------------------------------------ references


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A numbered unit of a code: ("chapter", "5"); the number "" means the one that we stand in."""

    unit: str
    number: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One mention of a part of the law, as it is written; whether it exists is not known here."""

    kind: str  # a unit, or table | relative | ordinance | state | federal | act | former
    unit: str  # section, chapter, …; what is named there
    number: str  # normalised; "" in "this chapter"; "preceding" or "following" for a step
    span: Span
    within: tuple[Part, ...] = ()  # the narrowest first
    law: str = ""  # the name of the law as it is written there, "" if none is


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a section says that a term means."""

    term: str  # lower case
    span: Span  # from the term to the end of its definition


# ------------------------------------------------------------------ search


EntityKind = Literal["district", "permit", "dimension", "fee", "money", "ordinance", "date"]
ENTITY_KINDS: tuple[EntityKind, ...] = get_args(EntityKind)

Leg = Literal["dense", "lexical", "named"]
LEGS: tuple[Leg, ...] = ("dense", "lexical", "named")


@dataclass(frozen=True, slots=True, kw_only=True)
class Having:
    """An entity that a section must name to be found: a district, a permit, a size, a fee."""

    kind: EntityKind
    value: str  # normalised
    unit: str | None  # None: any


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to one city's code, as of one day."""

    text: str
    city: CityId
    as_of: date
    named: tuple[str, ...] = ()  # normalised section numbers that the question names
    having: tuple[Having, ...] = ()  # only sections that name all of these


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A section whose number is nearly the one that was asked for: "did you mean …"."""

    citation: str
    heading: str
    external_id: str
    section_id: SectionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A part of the code that a question names by number, and what the registry has of it."""

    written: str  # as the question writes it: "Sec. 28-105.99"
    kind: str  # section | table | chapter | … | law
    number: str  # normalised; of what was found, else as it was asked
    how: Literal["exact", "parent", "near"]  # parent: it is a part of what was found
    # The sections that bear the number, the best class first; in a class nothing tells them apart.
    sections: tuple[tuple[SectionId, ...], ...] = ()
    suggestions: tuple[Suggestion, ...] = ()  # of a number that is not there, the nearest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One chunk found by one leg; scores of different legs cannot be compared."""

    chunk: ChunkId
    section: SectionId
    leg: Leg
    rank: int  # from 1
    score: float
    path: str = ""  # the index that found it: exact | hnsw; "" where there is no choice


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSection:
    """A section as it stands in the registry, with its text."""

    id: SectionId
    city: CityId
    external_id: str
    citation: str
    number: str | None
    heading: str
    path: tuple[str, ...]
    standing: Standing
    version: Digest  # of the document's body
    effective_from: date | None
    effective_until: date | None
    text: str  # the section's own text; citations and hits count from its start
    url: str | None = None
    inside: int = 0  # where this text begins in that of the record whose id it bears
    record: str | None = None  # the citation of that record, if this is a section hidden in it
    doc_type: str = "code"  # the kind of its document; an ordinance is passed, not yet codified
    superseded_by: str | None = None  # what replaced the text, if that is known
    dated_by_box: bool = False  # effective_from is the day this box first read the text so
    amendments: tuple[PendingAmendment, ...] = ()  # of every day; `pending` chooses

    def pending(self, day: date) -> tuple[PendingAmendment, ...]:
        """Return the laws known on `day` that change this text and are later than it."""
        since = self.effective_from or date.min
        later = [a for a in self.amendments if a.known(day) and (a.effective or date.max) > since]
        return tuple({(a.law, a.effective): a for a in reversed(later)}.values())[::-1]

    def in_force(self, day: date) -> bool:
        """Tell whether this version applied on `day` (an unknown bound is open)."""
        return (
            self.standing is Standing.IN_FORCE
            and (self.effective_from is None or self.effective_from <= day)
            and (self.effective_until is None or day < self.effective_until)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a city's text says once more what a passage says; nothing is quoted from there."""

    section: SectionId
    external_id: str
    citation: str
    heading: str
    span: Span  # in the section's text


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk that goes before the model or the reader, with its section."""

    label: str  # "1", "2", …: how a draft refers to it
    section: StoredSection
    span: Span  # the chunk in the section's text
    score: float  # fused; comparable within one question only
    similarity: float  # cosine of the dense leg, 0 where it did not see the chunk
    legs: tuple[Leg, ...]
    kind: ChunkKind = ChunkKind.PROSE
    leads: tuple[Span, ...] = ()  # in the section's text: what stands over the chunk
    also: tuple[Place, ...] = ()  # where else the city's text says the same, best first

    @property
    def text(self) -> str:
        """Return the chunk's text, cut from the section."""
        return self.span.of(self.section.text)

    @property
    def over(self) -> tuple[str, ...]:
        """Return the section's own words that stand over the chunk, outermost first."""
        return tuple(lead.of(self.section.text) for lead in self.leads)


# ------------------------------------------------------------------ answers


class Verdict(StrEnum):
    """What code found out about one claimed citation."""

    PROVEN = "proven"
    PHANTOM = "phantom"  # the city's registry has no such section
    REPEALED = "repealed"  # it exists, but is not in force on the date any more
    NOT_YET_IN_FORCE = "not_yet_in_force"  # it exists, and applies from a later day
    MISQUOTED = "misquoted"  # it exists, but does not say that
    WRONG_SECTION = "wrong_section"  # another section of the same city says it
    WRONG_CITY = "wrong_city"  # another city's code says it
    UNSUPPORTED = "unsupported"  # it exists, and nothing exact was claimed of it
    UNRETRIEVED = "unretrieved"  # it was not among the passages that the draft was given


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """An exact quote of a section that is in force; only `answers.citations` builds one."""

    section: StoredSection
    span: Span  # in the section's text
    quote: str
    legs: tuple[Leg, ...] = ()
    leads: tuple[Span, ...] = ()  # in the section's text: titles and table headers over the quote

    def __post_init__(self) -> None:
        if self.span.of(self.section.text) != self.quote:
            raise ValueError("a citation's quote must be the text at its span")

    @property
    def over(self) -> tuple[str, ...]:
        """Return the section's own words that stand over the quote, outermost first."""
        return tuple(lead.of(self.section.text) for lead in self.leads)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The model's words: untrusted text that cites passage labels."""

    text: str
    model: str


class Flag(StrEnum):
    """What is wrong with a claim of an answer."""

    UNPROVEN = "unproven"  # it states a rule, or claimed a proof, and no proven quote carries it
    UNTRACED_NUMBER = "untraced_number"  # a number of it stands in nothing that it cites
    PHANTOM = "phantom"  # it names a section or table that the city's code does not have
    FOREIGN = "foreign"  # it brings a link, markup or a code that stands in nothing it cites


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One sentence of an answer, with what proves it.

    Provenance (the citations) and support (whether they entail it, as a model judges) are two things.
    """

    text: str  # without marks
    citations: tuple[int, ...]  # numbers of the answer's citations, from 1
    flags: tuple[Flag, ...] = ()
    support: float | None = None  # 0 to 1; None: not judged


class Route(StrEnum):
    """What kind of question it is."""

    GREETING = "greeting"
    THANKS = "thanks"
    OUT_OF_SCOPE = "out_of_scope"
    OTHER_CITY = "other_city"
    COMPARISON = "comparison"
    CALCULATION = "calculation"  # it asks for an amount and brings one along
    LOOKUP = "lookup"  # it only names parts of the law
    FOLLOW_UP = "follow_up"  # it is understood with the question before it
    RESEARCH = "research"


class Reason(StrEnum):
    """Why the box did not answer."""

    NO_QUESTION = "no_question"  # a greeting, thanks
    OUT_OF_SCOPE = "out_of_scope"
    COMPARISON = "comparison"  # several cities: each is answered from its own code

    OTHER_CITY = "other_city"
    NOT_FOUND = "not_found"
    NOT_IN_FORCE = "not_in_force"
    NO_SUCH_SECTION = "no_such_section"


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What was looked through: shown when the box abstains."""

    chunks: int
    legs: tuple[Leg, ...]
    terms: tuple[str, ...]
    nearest: tuple[Passage, ...] = ()
    sections_read: int = 0  # whole, for the things that the question names; 0: none was
    nowhere: tuple[str, ...] = ()  # of those things, what not one of the sections mentions


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is shown: text in which every citation is proven."""

    outcome: Literal["answer", "quotes"]
    text: str
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...] = ()  # what `text` says, sentence by sentence
    withheld: tuple[Claim, ...] = ()  # sentences of the draft that are not shown, and why
    phantoms: tuple[str, ...] = ()  # sections or tables that the draft names and the code lacks
    unsupported_numbers: tuple[str, ...] = ()  # of the draft, that nothing which it cites holds
    draft: Draft | None = None  # what the model wrote, folded away where it does not lead
    note: str | None = None  # one sentence on what is limited, e.g. "demo model"
    warnings: tuple[PendingAmendment, ...] = ()  # laws that change a cited section since


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """A refusal to answer, with its reason and whom to ask."""

    reason: Reason
    text: str
    searched: Searched
    office: str | None = None
    places: tuple[CityId, ...] = ()  # of a comparison: the cities to compare


Outcome = Answer | Abstention

CacheHit = Literal["exact", "semantic"]  # the same words were asked, or other words for the same

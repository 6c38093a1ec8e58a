"""What the API takes and gives, for its description and its callers.

The JSON of an answer is made by `ask`, that of a hit by `retrieve`; the models of
them here describe it, and a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from appliance.answers.conversation import MOST_TURNS
from appliance.answers.routing import LONGEST_QUESTION
from appliance.answers.validity import dates_of, warning_of
from appliance.ask import Asked
from appliance.compare import MOST_CITIES
from appliance.domain import LEGS, Flag, Leg, Route, Span, Standing, State, StoredSection
from appliance.ports import Coverage
from appliance.web.desk import city_named
from appliance.web.layout import Block, blocks

# ------------------------------------------------------------------ what comes in


def _parse_day(value: object) -> object:
    if value is None or value == "":  # an empty field of a form
        return None
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError("must be a date like 2026-07-01")


Day = Annotated[
    date | None,
    BeforeValidator(_parse_day),
    WithJsonSchema({"type": "string", "format": "date", "examples": ["2026-07-01"]}),
    Field(description="Answer by the code in force on this day; today when left out."),
]


def _parse_legs(value: object) -> object:
    # FastAPI hands a query parameter over as the list of its occurrences.
    given = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    legs = [leg.strip() for leg in given.split(",") if leg.strip()]
    if not legs or not set(legs) <= set(LEGS):
        raise ValueError(f"must be some of {','.join(LEGS)}")
    return tuple(dict.fromkeys(legs))


Legs = Annotated[
    tuple[Leg, ...],
    BeforeValidator(_parse_legs),
    WithJsonSchema({"type": "string", "examples": ["dense,lexical"]}),
    Field(description="Which ways of search take part."),
]


class AskBody(BaseModel):
    """One question to one city's code."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"city": "alder-falls-xx", "question": "How tall can my front fence be?"},
            ]
        },
    )

    city: str = Field(description="A city of this box, as `/api/cities` names it.")
    question: str = Field(
        description="In plain words.", json_schema_extra={"maxLength": LONGEST_QUESTION}
    )
    as_of: Day = None
    before: list[Annotated[str, Field(max_length=LONGEST_QUESTION)]] = Field(
        default=[],
        max_length=MOST_TURNS,
        description="The questions of the same conversation, oldest first: what a follow-up is read with.",
    )

    def asked(self) -> Asked:
        """Return the question as the flow takes it.  Raises BadRequest on a malformed city."""
        return Asked(
            question=self.question,
            city=city_named(self.city),
            as_of=self.as_of or date.today(),
            before=tuple(self.before),
        )


class CompareBody(BaseModel):
    """One question to several cities."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "cities": ["alder-falls-xx", "brackwater-county-xx"],
                    "question": "How tall may a front yard fence be?",
                },
            ]
        },
    )

    cities: list[str] = Field(
        default=[],
        max_length=MOST_CITIES,
        description="Cities of this box; left out, those that the question names.",
    )
    question: str = Field(
        description="As it is asked of one city.", json_schema_extra={"maxLength": LONGEST_QUESTION}
    )
    as_of: Day = None


# ------------------------------------------------------------------ what goes out


class _Out(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FieldFault(_Out):
    """What is wrong with one field of a request."""

    field: str
    detail: str


class Problem(_Out):
    """An error, after RFC 9457."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:permitbox:problem:no-such-city",
                    "title": "The city is not in this box",
                    "status": 404,
                    "detail": "There is no city 'alder-fall-xx' in this box. "
                    "Did you mean alder-falls-xx?",
                    "nearest": ["alder-falls-xx"],
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    nearest: tuple[str, ...] | None = None
    errors: tuple[FieldFault, ...] | None = None


class CoverageOut(_Out):
    """What the box holds of a city."""

    city: str
    name: str
    office: str | None
    sections: int
    chunks: int
    encoded: int
    status: str = Field(examples=["ready", "words only; meaning 34 % encoded"])
    newest: date | None
    topics: tuple[str, ...]
    subjects: tuple[str, ...] = Field(description="The topics as words to ask about.")
    dense_ready: bool
    state: State = Field(description="What the audit says: only live and limited are searched.")
    coverage: str = Field(description="Topics in, topics out, what is not in the box; for people.")
    reasons: tuple[str, ...] = Field(description="Why the state is not live, the worst first.")


class CitiesOut(_Out):
    """The cities of this box."""

    cities: tuple[CoverageOut, ...]


class WarningOut(_Out):
    """A law that amends or repeals a section since; the section's text does not show it."""

    kind: Literal["amended_by"]
    law: str = Field(examples=["Local Law 64 of 2020"])
    effective: date | None = Field(description="Null where the law does not state the day.")


class PlaceOut(_Out):
    """Where the city's text says the same once more."""

    section: str = Field(examples=["§ 17.20.030"])
    section_id: int
    external_id: str
    heading: str


class HitOut(_Out):
    """A passage that a search found; `start` and `end` are code points in the section's text."""

    rank: int
    city: str
    section: str = Field(examples=["§ 17.20.020"])
    section_id: int
    external_id: str
    record: str | None = Field(description="The citation of the record that it hides in.")
    heading: str
    path: tuple[str, ...]
    score: float
    similarity: float
    over: tuple[str, ...] = Field(
        description="Titles and a table's header that stand over the text."
    )
    text: str
    start: int
    end: int
    legs: tuple[Leg, ...]
    also: tuple[PlaceOut, ...] = Field(description="Where else the city's text says the same.")
    version: str
    effective_from: date | None
    doc_type: str
    dates: str = Field(description="When it applies, in words; what is not known is said.")
    superseded_by: str | None
    warnings: tuple[WarningOut, ...]


class SuggestionOut(_Out):
    """A section whose number is nearly the one that was asked for."""

    section: str = Field(examples=["§ 17.20.020"])
    heading: str
    external_id: str
    section_id: int


class DidYouMeanOut(_Out):
    """A number that the city's registry does not have, and what it may have been meant to be."""

    asked: str = Field(examples=["§ 17.20.02"])
    suggestions: tuple[SuggestionOut, ...] = Field(description="Three at most; there may be none.")


class HitsOut(_Out):
    """The passages of a search, best first."""

    hits: tuple[HitOut, ...]
    did_you_mean: tuple[DidYouMeanOut, ...] = Field(
        description="Sections that the question names and the registry does not have."
    )
    read_as: dict[str, str] = Field(
        description="Misspelt words of the question, and what they were read as.",
        examples=[{"permitt": "permit"}],
    )


class CitationOut(_Out):
    """A proven citation: `quote` is the section's text from code point `start` to `end`."""

    number: int
    section: str
    section_id: int
    external_id: str
    record: str | None = Field(description="The citation of the record that it hides in.")
    heading: str
    path: tuple[str, ...]
    over: tuple[str, ...] = Field(
        description="Titles and a table's header that stand over the quote."
    )
    quote: str
    start: int
    end: int
    version: str
    effective_from: date | None
    effective_until: date | None
    url: str | None
    legs: tuple[Leg, ...]
    city: str
    as_of: date = Field(description="The day whose law was asked for.")
    quote_sha256: str
    proof_sha256: str = Field(description="Names the proof; `permitbox proof check` verifies it.")
    doc_type: str
    dates: str = Field(description="When it applies, in words; what is not known is said.")
    superseded_by: str | None
    warnings: tuple[WarningOut, ...]


class NearestOut(_Out):
    """A section that came near when the box abstained."""

    section: str
    section_id: int
    external_id: str
    heading: str
    score: float


class SearchedOut(_Out):
    """What was looked through before the box abstained."""

    chunks: int
    legs: tuple[Leg, ...]
    terms: tuple[str, ...]
    nearest: tuple[NearestOut, ...]
    sections_read: int = Field(
        description="Sections read whole for the things that the question names; 0: none was."
    )
    nowhere: tuple[str, ...] = Field(description="What not one of those sections mentions.")


class DraftOut(_Out):
    """The model's own words, which are not proven."""

    text: str
    model: str


class ClaimOut(_Out):
    """One sentence of an answer, with the numbers of the citations that prove it."""

    text: str
    citations: tuple[int, ...]
    support: float | None = Field(
        description="1 if a model judges that the quotes entail it, 0 if not; null: not judged."
    )
    flags: tuple[Flag, ...]


class AnswerOut(_Out):
    """The outcome of a question."""

    city: str
    question: str
    as_of: date
    timings_ms: dict[str, float]
    route: Route = Field(description="What kind of question it is.")
    understood_as: str | None = Field(
        description="Of a follow-up: what was searched, with the question before it."
    )
    cache: Literal["exact", "semantic"] | None = Field(
        description="The answer was given before, to the same words or to others that mean the same."
    )
    outcome: Literal["answer", "quotes", "abstention"]
    text: str
    citations: tuple[CitationOut, ...]
    claims: tuple[ClaimOut, ...] = Field(description="The sentences of the text, in order.")
    withheld: tuple[ClaimOut, ...] = Field(
        description="Sentences of the model's draft that are not in the text, with what is wrong."
    )
    phantoms: tuple[str, ...] = Field(
        description="Sections that the draft names and the city's code does not have."
    )
    unsupported_numbers: tuple[str, ...] = Field(
        description="Numbers of the draft that stand in nothing which it cites."
    )
    warnings: tuple[WarningOut, ...] = Field(
        description="Laws known on the day that change a cited section and are not in its text."
    )
    reason: str | None
    note: str | None = None
    draft: DraftOut | None = None
    office: str | None = None
    places: tuple[str, ...] = Field(
        default=(), description="Of a comparison: the cities to compare with `/api/compare`."
    )
    searched: SearchedOut | None = None


class LookedOut(_Out):
    """A form of a thing that was looked for in the whole code, and in how many sections it stands."""

    form: str = Field(examples=["apiary"])
    why: Literal["asked", "also called", "defined term"]
    sections: int
    of: str = Field(description="The thing, as the question writes it.", examples=["beehive"])


class FactOut(_Out):
    """Where a fact stands, in code points of its quote."""

    start: int
    end: int


class CellOut(_Out):
    """What one city's code says: a fact within a proven quote, or what was looked for in vain."""

    found: bool
    name: str
    text: str = Field(description="The fact, exactly as the code has it; else why there is none.")
    citations: tuple[CitationOut, ...]
    searched: tuple[LookedOut, ...]
    by: str | None = Field(description='Who chose: "rules", or a model by its name.')
    office: str | None
    fact: FactOut | None = None
    sections: int | None = Field(
        default=None, description="How many sections were read for the forms in `searched`."
    )
    absent: tuple[str, ...] = Field(
        default=(), description="Things of the question that nothing in the code mentions."
    )
    nearest: tuple[NearestOut, ...] = Field(
        default=(), description="What was found for the question, and does not answer it for sure."
    )


class ComparisonOut(_Out):
    """One question to several cities, a cell each."""

    question: str
    as_of: date
    cells: dict[str, CellOut] = Field(description="By city, in the order asked for.")


class SectionOut(_Out):
    """A whole section, with what was asked for marked in its blocks."""

    id: int
    city: str
    external_id: str
    citation: str
    number: str | None
    heading: str
    path: tuple[str, ...]
    standing: Standing
    version: str
    effective_from: date | None
    effective_until: date | None
    text: str
    url: str | None
    doc_type: str
    dates: str = Field(description="When it applies, in words; what is not known is said.")
    superseded_by: str | None
    warnings: tuple[WarningOut, ...]
    notices: tuple[str, ...] = Field(description="The warnings as sentences.")
    blocks: tuple[Block, ...]


class ModelOut(_Out):
    """What the model server is doing; phase "quotes" means that there is none."""

    phase: Literal["installing", "converting", "starting", "ready", "failed", "stopped", "quotes"]
    detail: str
    seconds: float | None = None
    model: str | None = None


class HealthOut(_Out):
    """Whether the box can answer."""

    status: Literal["ok", "down"]
    database: bool
    cities: int


# ------------------------------------------------------------------ records to JSON


def coverage_out(coverage: Coverage) -> CoverageOut:
    """Return a coverage as the API gives it."""
    return CoverageOut(
        city=coverage.city.id,
        name=coverage.city.name,
        office=coverage.city.office,
        sections=coverage.sections,
        chunks=coverage.chunks,
        encoded=coverage.encoded,
        status=coverage.status,
        newest=coverage.newest,
        topics=coverage.topics,
        subjects=tuple(dict.fromkeys(_subject(t) for t in coverage.topics)),
        dense_ready=coverage.dense_ready,
        state=coverage.state,
        coverage=coverage.about,
        reasons=coverage.audit.reasons if coverage.audit else (),
    )


def _subject(heading: str) -> str:
    """Return a heading as the subject of a question: without its number, small letters first."""
    words = heading.lstrip("§ ").split()
    kept = words[1:] if words and any(c.isdigit() for c in words[0]) else words
    text = " ".join(kept).strip(" .—–-") or heading
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def section_out(section: StoredSection, quote: Span | None, day: date) -> SectionOut:
    """Return a section as the API gives it."""
    return SectionOut(
        id=section.id,
        city=section.city,
        external_id=section.external_id,
        citation=section.citation,
        number=section.number,
        heading=section.heading,
        path=section.path,
        standing=section.standing,
        version=section.version,
        effective_from=section.effective_from,
        effective_until=section.effective_until,
        text=section.text,
        url=section.url,
        doc_type=section.doc_type,
        dates=dates_of(section),
        superseded_by=section.superseded_by,
        warnings=tuple(
            WarningOut(kind="amended_by", law=a.law, effective=a.effective)
            for a in section.pending(day)
        ),
        notices=tuple(warning_of(a, day) for a in section.pending(day)),
        blocks=blocks(section.text, quote),
    )


def blocks_json(laid: Sequence[Block]) -> list[dict[str, Any]]:
    """Return blocks as plain JSON values."""
    return [asdict(block) for block in laid]

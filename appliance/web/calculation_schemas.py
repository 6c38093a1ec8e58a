"""What the API takes and gives of calculators: the description of what `calculation_json` makes."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from appliance.answers.routing import LONGEST_QUESTION
from appliance.web.schemas import CitationOut


class CalculateBody(BaseModel):
    """One calculation by one city's rules."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "city": "alder-falls-xx",
                    "question": "What is the permit fee?",
                    "inputs": {"cost": "42300"},
                },
            ]
        },
    )

    city: str = Field(description="A city of this box, as `/api/cities` names it.")
    question: str = Field(
        default="",
        description="What to calculate; may be left out where `calculator` is given.",
        json_schema_extra={"maxLength": LONGEST_QUESTION},
    )
    calculator: int | None = Field(
        default=None, ge=1, lt=2**63, description="`id` of one, whatever the question says."
    )
    inputs: dict[str, str | int | float] = Field(
        default={}, description="Numbers, with a unit or without, and choices, by name."
    )


class _Out(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class InputOut(_Out):
    """What a calculator must be told."""

    name: str
    label: str
    unit: str | None = Field(description="Null for a count or a choice.", examples=["sq ft"])
    choices: tuple[str, ...]
    optional: bool = Field(description="Counts as 0 where another one of its kind is given.")
    question: str


class CalculatorOut(_Out):
    """A rule of the law that can be computed; `quote` stands in its record from `start` to `end`."""

    id: int
    city: str
    state: Literal["proposed", "approved", "rejected", "disabled"]
    because: str | None
    title: str
    label: str
    unit: str
    inputs: tuple[InputOut, ...]
    section: str
    external_id: str
    quote: str
    start: int
    end: int
    version: str
    unread: str | None = Field(description="What of the rule was not understood.")


class CalculatorsOut(_Out):
    """The calculators of a city that are in use."""

    calculators: tuple[CalculatorOut, ...]


class ValueOut(BaseModel):
    """A value of an input, and where it is from."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    value: str | int | float
    unit: str | None
    by: Literal["input", "question"] = Field(alias="from")


class StepOut(_Out):
    """One step in words, with the proven words of the law that it stands on."""

    text: str = Field(examples=["360 seats ÷ 4 seats = 90 × 1 space = 90 spaces"])
    citation: CitationOut


class OtherOut(_Out):
    """A calculator that the question may mean, too."""

    calculator: int
    title: str


class CalculationOut(_Out):
    """A result with all that it stands on."""

    calculator: int
    title: str
    result: int | float
    unit: str = Field(examples=["spaces"])
    text: str = Field(examples=["90 spaces"])
    as_of: date
    inputs: dict[str, ValueOut]
    unused: tuple[str, ...] = Field(description="What was given and is no input of it.")
    steps: tuple[StepOut, ...]
    citation: CitationOut
    unread: str | None
    others: tuple[OtherOut, ...]

"""A calculator is data: inputs, steps, and the words of the law that each step stands on.  Pure.

Its steps are worked through in order over one running total.  Amounts are decimals as the law
writes them; they become fractions when it is computed (`compute`), so that nothing is rounded but
where the law says so.  The JSON form is what is stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from appliance.domain import Digest, Span, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Words of the law that a calculator stands on, in one version of one record."""

    external_id: str
    citation: str
    version: Digest  # of the document's body
    span: Span  # in the record's text, as `start` and `end` of a citation count
    quote: str  # the text at the span


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What a person must say: a number with a unit, or one of some choices."""

    name: str  # small letters and underscores
    unit: str | None  # of `units`; None: a choice
    label: str  # what it is, in the law's words: "enclosed display area"
    choices: tuple[str, ...] = ()
    optional: bool = False  # counts as 0 where another one of the same kind is given

    @property
    def question(self) -> str:
        """Return the question to the person."""
        if self.unit is None:
            return f"Which {self.label}?"
        return f"How many {self.label}?" if self.unit == "each" else f"How much {self.label}?"


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A step's condition: an input is one of some choices, or lies between two amounts."""

    input: str
    one_of: tuple[str, ...] = ()
    over: Decimal | None = None  # in the input's unit; not reached itself
    least: Decimal | None = None
    most: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """An amount that is added as it is."""

    amount: Decimal
    unit: str
    source: int = 0  # the binding that it stands on
    when: tuple[When, ...] = ()
    kind: Literal["fixed"] = "fixed"


Part = Literal["exact", "whole", "major"]  # of a fraction: as it is | as a whole one | if over half


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """An amount for each `per` of an input, or of a product of inputs, between two bounds of it."""

    amount: Decimal
    unit: str
    of: tuple[str, ...]  # names of inputs
    per: Decimal = Decimal(1)  # in `per_unit`
    per_unit: str = "each"  # of the first input
    above: Decimal | None = None  # what lies below is not counted
    up_to: Decimal | None = None  # what lies above is not counted
    part: Part = "exact"
    source: int = 0
    when: tuple[When, ...] = ()
    kind: Literal["rate"] = "rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of an input, in the input's own unit: 0.15 of the lot width, 0.5 of a lot's area."""

    share: Decimal
    of: str
    above: Decimal | None = None
    up_to: Decimal | None = None
    source: int = 0
    when: tuple[When, ...] = ()
    kind: Literal["share"] = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The total is at least, or at most, so much."""

    side: Literal["least", "most"]
    amount: Decimal
    unit: str
    source: int = 0
    when: tuple[When, ...] = ()
    kind: Literal["bound"] = "bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The total becomes a whole number: up, down, or up from (or above) some fraction of one."""

    rule: Literal["up", "down", "from", "above"]
    fraction: Decimal | None = None  # of "from" and "above"
    source: int = 0
    when: tuple[When, ...] = ()
    kind: Literal["round"] = "round"


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """The greater, or the lesser, of some terms is added."""

    which: Literal["greater", "lesser"]
    of: tuple[Annotated[Fixed | Rate | Share, Field(discriminator="kind")], ...]
    source: int = 0
    when: tuple[When, ...] = ()
    kind: Literal["either"] = "either"


Term = Fixed | Rate | Share
Step = Annotated[Fixed | Rate | Share | Bound | Round | Either, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculator:
    """One rule of one city's law that can be computed."""

    title: str  # "Sidewalk shed — Schedule of permit fees"
    label: str  # the row, item or sentence that the rule is of
    context: tuple[str, ...]  # what stands over it: headings, captions, column titles
    unit: str  # of the result
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    bindings: tuple[Binding, ...]  # the first is the rule's own; those no step names are its titles
    unread: str = ""  # what of the rule the builder did not understand: the person judges it

    @property
    def external_id(self) -> str:
        """Return the record that the rule stands in."""
        return self.bindings[0].external_id

    @property
    def digest(self) -> Digest:
        """Return the name of what is computed, for what and by which record, whatever its version."""
        steps = [replace(step, source=0) for step in self.steps]
        inputs = [(i.name, i.unit, i.choices) for i in self.inputs]
        return digest_of(repr((self.external_id, self.label, self.unit, inputs, steps)))


_FORM: TypeAdapter[Calculator] = TypeAdapter(Calculator)


def to_json(calculator: Calculator) -> str:
    """Return the stored form."""
    return _FORM.dump_json(calculator, exclude_defaults=False).decode()


def from_json(text: str) -> Calculator:
    """Return the calculator of a stored form.  Raises ValueError for any other text."""
    return _FORM.validate_json(text)

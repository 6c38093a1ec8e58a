"""Question -> calculation: choose an approved calculator, check its words, fill it, work it through.

Only what a person has approved answers.  On every use the words that the calculator stands on are
looked up in the law in force today: where they have changed it is disabled, and says so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from appliance.answers.citations import prove
from appliance.calculators.binding import Lost, rebound, section_of
from appliance.calculators.builder import Rounding, propose, roundings_of
from appliance.calculators.calculator import Calculator, from_json, to_json
from appliance.calculators.choosing import Choice, choose
from appliance.calculators.compute import Computed, compute, described
from appliance.calculators.filling import Filled, fill
from appliance.domain import Citation, CityId, Verdict
from appliance.errors import BadRequest, NoCalculator
from appliance.ports import CalculatorForm, Calculators, StoredCalculator

# Another one whose score is so near might as well be meant: the person is asked which.
AS_GOOD = 0.97
NEAREST = 3  # other calculators that are named beside the chosen one


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An approved calculator, read."""

    id: int
    calculator: Calculator


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """One step that was done, with the proven words that it stands on."""

    text: str
    citation: Citation


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculation:
    """A result with all that it stands on."""

    id: int
    calculator: Calculator
    filled: Filled
    computed: Computed
    steps: tuple[Cited, ...]
    as_of: date
    others: tuple[Held, ...] = ()  # that the question might mean, too

    @property
    def citation(self) -> Citation:
        """Return the proven words of the rule itself."""
        return self.steps[0].citation


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check of one approved calculator found."""

    id: int
    title: str
    outcome: str  # same | moved | disabled
    because: str | None = None


def held(stored: StoredCalculator) -> Held:
    """Return a stored calculator, read."""
    return Held(id=stored.id, calculator=from_json(stored.form))


# ------------------------------------------------------------------ calculating


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """The calculator that is meant, with its inputs as far as they are known."""

    held: Held
    filled: Filled
    others: tuple[Held, ...] = ()


async def pick(
    store: Calculators,
    city: CityId,
    question: str,
    given: Mapping[str, str],
    *,
    calculator: int | None = None,
) -> Picked:
    """Return the approved calculator that a question means, or the one of that number.

    Raises NoCalculator where none is meant, several are, or the one is not in use.
    """
    if calculator is not None:
        one = await _approved(store, city, calculator)
        return Picked(held=one, filled=fill(one.calculator, given, question))
    (chosen, choice), *rest = await _choices(store, city, question, given)
    others = tuple(other for other, _ in rest[:NEAREST])
    return Picked(held=chosen, filled=choice.filled, others=others)


async def calculate(
    store: Calculators, city: CityId, picked: Picked, *, today: date
) -> Calculation:
    """Work a picked calculator through by the law in force today.

    Raises NoCalculator where its words have changed, and BadRequest, MissingInput or BadInput with the
    inputs' names where they do not suffice.
    """
    one, filled = picked.held, picked.filled
    if filled.unused_numbers:
        raise BadRequest(_no_such_input(one.calculator, filled.unused_numbers))
    bound = await _checked(store, city, one, today)
    computed = compute(bound, filled.given)
    return Calculation(
        id=one.id,
        calculator=bound,
        filled=filled,
        computed=computed,
        steps=await _proven(store, city, bound, computed, today),
        as_of=today,
        others=picked.others,
    )


def _no_such_input(calculator: Calculator, names: Sequence[str]) -> str:
    takes = "; ".join(described(i) for i in calculator.inputs)
    return f"{calculator.title} takes no input {', '.join(names)}; it takes {takes}."


async def _approved(store: Calculators, city: CityId, calculator: int) -> Held:
    stored = await store.one(calculator)
    if stored.city != city:
        raise NoCalculator(f"Calculator {calculator} is one of {stored.city}, not of {city}.")
    if stored.state != "approved":
        why = f": {stored.because}" if stored.because else ""
        raise NoCalculator(
            f"Calculator {calculator} is {stored.state}{why}; a person must approve it."
        )
    return held(stored)


async def _choices(
    store: Calculators, city: CityId, question: str, given: Mapping[str, str]
) -> list[tuple[Held, Choice]]:
    """Return the approved calculators that the question may mean.  Raises NoCalculator."""
    approved = [held(s) for s in await store.listed(city, ["approved"])]
    found = [c for c in choose(question, given, [h.calculator for h in approved]) if c.meant]
    if not found:
        raise NoCalculator(await _none(store, city, len(approved)))
    alike = meant_alike(found)
    if len(alike) > 1:
        names = "; ".join(f"{approved[c.position].id}: {c.calculator.title}" for c in alike)
        raise NoCalculator(
            f"Several calculators may be meant; choose one with its number: {names}."
        )
    return [(approved[c.position], c) for c in found]


def meant_alike(choices: Sequence[Choice]) -> list[Choice]:
    """Return the first choice with others that the question means as much and that compute otherwise."""
    first = choices[0]
    rivals = [c for c in choices[1 : NEAREST + 1] if c.score >= AS_GOOD * first.score]
    return [first, *(c for c in rivals if _rule(c) != _rule(first))]


def _rule(choice: Choice) -> tuple[object, ...]:
    """Return what a calculator computes, and by which record."""
    one = choice.calculator
    return one.external_id, one.unit, one.inputs, tuple(replace(s, source=0) for s in one.steps)


async def _none(store: Calculators, city: CityId, approved: int) -> str:
    waiting = len(await store.listed(city, ["proposed"]))
    if approved:
        return (
            f"None of the {approved} calculators of {city} is about this; "
            f"`permitbox calc list --city {city}` names them."
        )
    if waiting:
        return (
            f"{city} has no approved calculator; {waiting} wait for a person: "
            f"`permitbox calc list --city {city} --proposed`."
        )
    return f"{city} has no calculator; `permitbox calc propose --city {city}` looks for them in its law."


async def _checked(store: Calculators, city: CityId, chosen: Held, today: date) -> Calculator:
    """Return the calculator bound to the law in force today; disable it if its words have changed."""
    bound = await _followed(store, city, chosen, today)
    if isinstance(bound, Lost):
        raise NoCalculator(
            f"{chosen.calculator.title} is disabled: {bound.why} A person must confirm it: "
            f"`permitbox calc show {chosen.id}`."
        )
    return bound


async def _followed(store: Calculators, city: CityId, one: Held, today: date) -> Calculator | Lost:
    """Follow an approved calculator's words to where they stand now, or disable it."""
    sections = await store.records(city, _records(one.calculator))
    bound = rebound(one.calculator, sections, today)
    if isinstance(bound, Lost):
        await store.disable(one.id, bound.why)
    elif bound != one.calculator:
        await store.rebind(one.id, to_json(bound))
    return bound


def _records(calculator: Calculator) -> list[str]:
    return list(dict.fromkeys(b.external_id for b in calculator.bindings))


async def _proven(
    store: Calculators, city: CityId, bound: Calculator, computed: Computed, today: date
) -> tuple[Cited, ...]:
    """Return the steps with proven citations.  Raises NoCalculator if one cannot be proven."""
    sections = await store.records(city, _records(bound))
    steps = []
    for done in computed.steps:
        place = section_of(bound.bindings[done.source], sections)
        assert place is not None, "the words were looked up just now"
        section, span = place
        citation = prove(section, span, as_of=today, retrieved=None)
        if isinstance(citation, Verdict):
            raise NoCalculator(f"{bound.title} is not proven: {section.citation} is {citation}.")
        steps.append(Cited(text=done.text, citation=citation))
    return tuple(steps)


# ------------------------------------------------------------------ proposing and checking


async def propose_for(
    store: Calculators, city: CityId, *, external_id: str | None = None
) -> tuple[int, int]:
    """Look for calculators in a city's current law; return how many were found, and how many are new."""
    found = new = 0
    async for of_section in proposals(store, city, external_id=external_id):
        found += len(of_section)
        new += await store.propose(city, [_form(c) for c in of_section])
    return found, new


async def proposals(
    store: Calculators, city: CityId, *, external_id: str | None = None
) -> AsyncIterator[list[Calculator]]:
    """Yield what the builder finds in each section of a city that holds something; nothing is kept."""
    roundings: list[Rounding] = []
    async for section in store.law(city):
        if section.in_force(date.today()):
            roundings += roundings_of(section)
    async for section in store.law(city):
        wanted = external_id is None or section.external_id == external_id
        if wanted and section.in_force(date.today()) and (found := propose(section, roundings)):
            yield found


def _form(calculator: Calculator) -> CalculatorForm:
    return CalculatorForm(
        external_id=calculator.external_id,
        title=calculator.title,
        form=to_json(calculator),
        digest=calculator.digest,
    )


async def check(store: Calculators, city: CityId, *, today: date) -> list[Checked]:
    """Look up the words of every approved calculator of a city; disable those that have changed."""
    results = []
    for stored in await store.listed(city, ["approved"]):
        one = held(stored)
        bound = await _followed(store, city, one, today)
        lost = bound.why if isinstance(bound, Lost) else None
        outcome = "disabled" if lost else "same" if bound == one.calculator else "moved"
        results.append(
            Checked(id=one.id, title=one.calculator.title, outcome=outcome, because=lost)
        )
    return results


async def approve(store: Calculators, calculator: int, *, who: str, today: date) -> Calculator:
    """Put a calculator into use on a person's word.  Raises NoCalculator if its words do not stand.

    One whose text has changed cannot be approved as it is: the builder proposes it anew from the new
    text, and that one is approved in its place.
    """
    stored = await store.one(calculator)
    one = held(stored)
    sections = await store.records(stored.city, _records(one.calculator))
    bound = rebound(one.calculator, sections, today)
    if isinstance(bound, Lost):
        raise NoCalculator(
            f"{one.calculator.title} cannot be used: {bound.why} `permitbox calc propose --city "
            f"{stored.city} --section {one.calculator.external_id}` reads the new text."
        )
    await store.rebind(one.id, to_json(bound))
    await store.decide(one.id, "approved", who=who)
    return bound

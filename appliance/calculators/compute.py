"""Working a calculator through: inputs in, the result and each step in words out.  Pure, exact.

Every number is a fraction until it is written; nothing is rounded but where a step says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from appliance.calculators.calculator import (
    Bound,
    Calculator,
    Either,
    Fixed,
    Input,
    Part,
    Rate,
    Round,
    Share,
    Step,
    Term,
    When,
)
from appliance.calculators.units import convert, magnitude, quantity, unit_name, written
from appliance.errors import BadRequest

Given = Mapping[str, "Fraction | str"]  # in the inputs' own units


class MissingInput(BadRequest):
    """The calculator needs an input that was not given."""

    def __init__(self, title: str, missing: Sequence[Input]) -> None:
        self.missing = tuple(missing)
        super().__init__(f"{title} needs {'; '.join(map(described, missing))}.")


class BadInput(BadRequest):
    """An input has a value that it cannot have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One step as it was done: in words, and the total after it."""

    text: str
    total: Fraction
    source: int  # the binding that it stands on


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """What a calculator gave."""

    result: Fraction
    unit: str
    steps: tuple[Done, ...]


def described(wanted: Input) -> str:
    """Return an input for a person: its name, what it is, its unit or choices."""
    if wanted.unit is None:
        return f"{wanted.name} (one of: {', '.join(wanted.choices)})"
    unit = "a number" if wanted.unit == "each" else f"in {unit_name(wanted.unit)}"
    return f"{wanted.name} ({wanted.label}, {unit})"


def compute(calculator: Calculator, given: Given) -> Computed:
    """Return the result with its steps.  Raises MissingInput and BadInput."""
    values = _complete(calculator, given)
    total = Fraction(0)
    done: list[Done] = []
    for step in calculator.steps:
        if not _met(step, values) or _left_out(step, given, calculator):
            continue
        after, text = _after(step, total, values, calculator)
        if done and isinstance(step, Fixed | Rate | Share | Either) and total:
            sums = " + ".join(written(x, calculator.unit) for x in (total, after - total))
            text = f"{text}; {sums} = {written(after, calculator.unit)}"
        total = after
        done.append(Done(text=text, total=total, source=step.source))
    if not any(
        isinstance(s, Fixed | Rate | Share | Either) and _met(s, values) for s in calculator.steps
    ):
        raise BadInput(f"{calculator.title} says nothing of a case like this one.")
    return Computed(result=total, unit=calculator.unit, steps=tuple(done))


def _left_out(step: Step, given: Given, calculator: Calculator) -> bool:
    """Tell whether a step is only about things that were not named, of which there are none."""
    return isinstance(step, Rate) and all(
        name not in given and _input(calculator, name).optional for name in step.of
    )


def _met(step: Step, values: Given) -> bool:
    return all(_holds(when, values) for when in step.when)


def _complete(calculator: Calculator, given: Given) -> dict[str, Fraction | str]:
    """Return a value for every input: 0 for those that may be left out beside others."""
    values = dict(given)
    several = [i for i in calculator.inputs if i.optional]
    some = any(i.name in values for i in several)
    missing = [i for i in calculator.inputs if i.name not in values and not (i.optional and some)]
    if missing:
        raise MissingInput(calculator.title, missing)
    for wanted in calculator.inputs:
        value = values.setdefault(wanted.name, Fraction(0))
        _check(wanted, value)
    return values


def _check(wanted: Input, value: Fraction | str) -> None:
    if wanted.unit is None:
        if value not in wanted.choices:
            raise BadInput(f"{wanted.name} is one of: {', '.join(wanted.choices)}.")
    elif isinstance(value, str) or value < 0:
        raise BadInput(f"{wanted.name} ({wanted.label}) is a number that is not below 0.")


def _holds(when: When, values: Given) -> bool:
    value = values[when.input]
    if isinstance(value, str):
        return value in when.one_of
    return (
        (when.over is None or value > Fraction(when.over))
        and (when.least is None or value >= Fraction(when.least))
        and (when.most is None or value <= Fraction(when.most))
    )


# ------------------------------------------------------------------ one step


def _after(
    step: Step, total: Fraction, values: Given, calculator: Calculator
) -> tuple[Fraction, str]:
    """Return the total after a step, and the step in words."""
    match step:
        case Bound():
            return _bounded(step, total, calculator.unit)
        case Round():
            return _rounded(step, total, calculator.unit)
        case Either():
            return _chosen(step, total, values, calculator)
        case _:
            value, text = _term(step, values, calculator)
            return total + value, text


def _term(step: Term, values: Given, calculator: Calculator) -> tuple[Fraction, str]:
    match step:
        case Fixed():
            value = convert(step.amount, step.unit, calculator.unit)
            return value, written(value, calculator.unit)
        case Share():
            return _share(step, values, calculator)
        case Rate():
            return _rate(step, values, calculator)


def _share(step: Share, values: Given, calculator: Calculator) -> tuple[Fraction, str]:
    wanted = _input(calculator, step.of)
    counted, said = _between(values, wanted, step.above, step.up_to)
    value = convert(Fraction(step.share) * counted, _unit(wanted), calculator.unit)
    percent = written(Fraction(step.share) * 100, "percent")
    return value, f"{percent} of {said} = {written(value, calculator.unit)}"


def _rate(step: Rate, values: Given, calculator: Calculator) -> tuple[Fraction, str]:
    first, *others = (_input(calculator, name) for name in step.of)
    counted, said = _between(values, first, step.above, step.up_to)
    times = convert(counted, _unit(first), step.per_unit) / Fraction(step.per)
    whole = _whole(times, step.part)
    per = written(step.per, step.per_unit, _noun(first))
    if step.per != 1:
        said += f" ÷ {per} = {written(times, 'each')}"
    if step.per != 1 and whole == times:
        said += f"; {written(times, 'each')}"
    if whole != times:
        fraction = "a fraction counts as a whole" if step.part == "whole" else "by the greater half"
        said += f", {fraction}: {written(whole, 'each')}"
    amount = quantity(step.amount, step.unit) * whole
    for other in others:
        factor = _number(values, other)
        amount *= factor
        said += f" × {written(factor, _unit(other), _noun(other))}"
    value = magnitude(amount, calculator.unit)
    rate = written(step.amount, step.unit)
    if step.per == 1 and step.per_unit != "each" and not others:
        rate = f"{rate} per {written(Fraction(1), step.per_unit).removeprefix('1 ')}"
    return value, f"{said} × {rate} = {written(value, calculator.unit)}"


def _between(values: Given, wanted: Input, above: object, up_to: object) -> tuple[Fraction, str]:
    """Return how much of an input lies between two bounds, and that in words."""
    value, unit, noun = _number(values, wanted), _unit(wanted), _noun(wanted)
    counted, said = value, written(value, unit, noun)
    if up_to is not None and value > (top := Fraction(str(up_to))):
        counted, said = top, f"the first {written(top, unit, noun)} of {said}"
    if above is not None:
        floor = Fraction(str(above))
        counted, top = max(Fraction(0), counted - floor), counted
        said = f"{written(top, unit, noun)} − {written(floor, unit, noun)}"
        said = (
            f"({said} = {written(counted, unit, noun)})" if top > floor else written(0 * top, unit)
        )
    return counted, said


def _whole(times: Fraction, part: Part) -> Fraction:
    """Return how many times a rate is taken: a fraction as it is, as a whole one, or by its half."""
    if part == "whole":
        return Fraction(math.ceil(times))
    if part == "major":
        below = math.floor(times)
        return Fraction(below + (1 if times - below > Fraction(1, 2) else 0))
    return times


def _bounded(step: Bound, total: Fraction, unit: str) -> tuple[Fraction, str]:
    amount = convert(step.amount, step.unit, unit)
    after = max(total, amount) if step.side == "least" else min(total, amount)
    words = "not less than" if step.side == "least" else "not more than"
    outcome = "stays" if after == total else f"becomes {written(after, unit)}"
    return after, f"{words} {written(amount, unit)}: {written(total, unit)} {outcome}"


_ROUNDING = {
    "up": "a fraction counts as one more",
    "down": "a fraction is not counted",
    "from": "a fraction of {} or more counts as one more, a smaller one not",
    "above": "a fraction above {} counts as one more, a smaller one not",
}


def _rounded(step: Round, total: Fraction, unit: str) -> tuple[Fraction, str]:
    below = Fraction(math.floor(total))
    over = total - below
    edge = Fraction(step.fraction or 0)
    more = {
        "up": over > 0,
        "down": False,
        "from": over > 0 and over >= edge,
        "above": over > edge,
    }[step.rule]
    after = below + 1 if more else below
    words = _ROUNDING[step.rule].format(step.fraction)
    if not over:
        return total, f"{words}: {written(total, unit)} is whole"
    return after, f"{words}: {written(total, unit)} becomes {written(after, unit)}"


def _chosen(
    step: Either, total: Fraction, values: Given, calculator: Calculator
) -> tuple[Fraction, str]:
    terms = [_term(term, values, calculator) for term in step.of]
    pick = max if step.which == "greater" else min
    value, _ = pick(terms, key=lambda term: term[0])
    said = "; ".join(text for _, text in terms)
    return total + value, f"{said}: the {step.which} is {written(value, calculator.unit)}"


# ------------------------------------------------------------------ inputs


def _input(calculator: Calculator, name: str) -> Input:
    return next(i for i in calculator.inputs if i.name == name)


def _unit(wanted: Input) -> str:
    assert wanted.unit is not None, "a choice is not computed with"
    return wanted.unit


def _noun(wanted: Input) -> str:
    return wanted.label if wanted.unit == "each" else ""


def _number(values: Given, wanted: Input) -> Fraction:
    value = values[wanted.name]
    assert not isinstance(value, str), "checked before"
    return value

"""Filling a calculator's inputs from what a person gave by name and from the question.  Pure.

A value goes to an input only if its unit fits and its words single that input out; where two inputs
would do, none is filled and the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from appliance.calculators.calculator import Calculator, Input
from appliance.calculators.lexer import Token, tokens_of
from appliance.calculators.units import alike, convert, unit_of
from appliance.corpus.quantities import quantities
from appliance.corpus.words import terms

# Ends of the names that people give to inputs: "cost_usd", "lot_width_ft".
_SUFFIXES = {
    "sqft": "sqft", "sf": "sqft", "ft": "foot", "feet": "foot", "foot": "foot", "inches": "inch",
    "usd": "dollar", "dollars": "dollar", "acres": "acre", "acre": "acre", "days": "day",
    "months": "month", "years": "year", "hours": "hour", "miles": "mile", "yd": "yard",
}  # fmt: skip
_NEAR = 4  # words beside a number that say what it counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A number of the question, with its unit and the words about it."""

    value: Fraction
    unit: str | None  # None: a bare number of what follows
    after: tuple[str, ...]  # stems of the words that follow, up to the next number
    before: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value of an input, and where it is from."""

    value: Fraction | str
    by: Literal["input", "question"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The inputs that could be filled, and what was given and fits none."""

    values: Mapping[str, Value]
    unused: tuple[str, ...]  # names that were given and fit no input
    unused_numbers: tuple[str, ...]  # of these, those of numbers: they must not be ignored
    unsaid: float  # share of the question's numbers that no input could take

    @property
    def given(self) -> dict[str, Fraction | str]:
        """Return the bare values, as `compute` takes them."""
        return {name: v.value for name, v in self.values.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """A value that was given by a name."""

    name: str
    text: str
    words: tuple[str, ...]  # stems of the name, without a unit
    value: Fraction | None
    unit: str | None


def fill(calculator: Calculator, given: Mapping[str, str], question: str) -> Filled:
    """Return what `given` and then the question say of a calculator's inputs."""
    filling = _Filling(calculator=calculator)
    named = [_named(name, text) for name, text in given.items()]
    filling.by_exact_name(named)
    filling.by_words(named)
    filling.choices([n.text for n in named if n.value is None], "input")
    said = said_in(question)
    left = filling.from_question(said)
    filling.choices([question], "question")
    used = filling.used
    unused = [n for n in named if n.name not in used]
    return Filled(
        values=filling.values,
        unused=tuple(n.name for n in unused),
        unused_numbers=tuple(n.name for n in unused if n.value is not None),
        unsaid=len(left) / len(said) if said else 0.0,
    )


def said_in(question: str) -> list[Said]:
    """Return the numbers of a question with the words about them."""
    text = question.replace("storeys", "stories").replace("storey", "story")
    tokens = [t for t in tokens_of(text) if t.kind != "mark" or t.text in ".?!;"]
    found = []
    for i, token in enumerate(tokens):
        if token.kind != "amount" or token.value is None or token.unit == "percent":
            continue
        found.append(
            Said(
                value=Fraction(token.value),
                unit=_unit_said(token, tokens[i + 1 : i + 2]),
                after=_words(tokens[i + 1 :]),
                before=_words(tokens[:i][::-1]),
            )
        )
    return found


def _unit_said(token: Token, following: Sequence[Token]) -> str | None:
    if (
        token.unit is None
        and following
        and following[0].text in ("space", "spaces", "stall", "stalls")
    ):
        return "space"
    return token.unit


def _words(tokens: Iterable[Token]) -> tuple[str, ...]:
    """Return the stems of the words up to the next number or sentence."""
    words: list[str] = []
    for token in tokens:
        if token.kind in ("amount", "mark") or len(words) >= _NEAR:
            break
        words.append(token.text)
    return stems(" ".join(words))


def stems(text: str) -> tuple[str, ...]:
    """Return the stems of a text, the parts of joined words apart."""
    return tuple(dict.fromkeys(terms(re.sub(r"[-_/]", " ", text))))


def _named(name: str, text: str) -> _Named:
    *words, last = re.findall(r"[a-z]+|\d+", name.casefold()) or [""]
    suffix = _SUFFIXES.get(last)
    value, unit = _measured(text.strip())
    return _Named(
        name=name,
        text=text,
        words=stems(" ".join(words if suffix else [*words, last])),
        value=value,
        unit=unit or suffix,
    )


def _measured(text: str) -> tuple[Fraction | None, str | None]:
    """Return the number that a text is, with its unit if it has one; None if it is anything else."""
    tokens = tokens_of(text)
    if len(tokens) == 1 and tokens[0].kind == "amount" and tokens[0].value is not None:
        return Fraction(tokens[0].value), tokens[0].unit
    found = quantities(text)
    if len(found) == 1 and found[0].span.of(text) == text:
        return Fraction(found[0].value), unit_of(found[0].unit)
    return None, None


@dataclass(slots=True, kw_only=True)
class _Filling:
    """The inputs of one calculator while they are filled."""

    calculator: Calculator
    values: dict[str, Value] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    @property
    def _open(self) -> list[Input]:
        return [i for i in self.calculator.inputs if i.name not in self.values]

    def _take(self, wanted: Input, named: _Named) -> None:
        assert named.value is not None
        assert wanted.unit is not None
        unit = named.unit or wanted.unit
        self.values[wanted.name] = Value(value=convert(named.value, unit, wanted.unit), by="input")
        self.used.add(named.name)

    def by_exact_name(self, named: Sequence[_Named]) -> None:
        """Take what is given under an input's own name."""
        for wanted in self.calculator.inputs:
            own = next((n for n in named if n.name == wanted.name), None)
            if own is None or wanted.unit is None or own.value is None:
                continue
            if own.unit is None or alike(own.unit, wanted.unit):
                self._take(wanted, own)

    def by_words(self, named: Sequence[_Named]) -> None:
        """Take what is given under other names, by unit and words."""
        for own in named:
            if own.value is None or own.name in self.used:
                continue
            fitting = [
                i for i in self._open if i.unit and (own.unit is None or alike(own.unit, i.unit))
            ]
            best = _single(fitting, own.words)
            if best is None and own.unit is not None and len(fitting) == 1:
                best = fitting[0]  # the only length that is asked for, whatever it was called
            if best is not None:
                self._take(best, own)

    def from_question(self, said: Sequence[Said]) -> list[Said]:
        """Take the question's numbers by their words, or as the only ones of a kind; return the others."""
        left = list(said)
        for one in said:
            # What was given already is said once more: it goes to no other input.
            best = _single(
                [i for i in self.calculator.inputs if _could_be(one, i)], one.after, one.before
            )
            if best is not None:
                left.remove(one)
                if best in self._open:
                    self._say(best, one)
        for wanted in self._open:
            if wanted.unit in (None, "each"):
                continue
            rivals = [i for i in self._open if i.unit and alike(i.unit, wanted.unit or "")]
            fitting = [s for s in left if _could_be(s, wanted)]
            if len(rivals) == 1 and len(fitting) == 1:
                self._say(wanted, fitting[0])
                left.remove(fitting[0])
        return left

    def _say(self, wanted: Input, one: Said) -> None:
        assert wanted.unit is not None
        value = convert(one.value, one.unit or wanted.unit, wanted.unit)
        self.values[wanted.name] = Value(value=value, by="question")

    def choices(self, texts: Sequence[str], by: Literal["input", "question"]) -> None:
        """Take choices that the texts name."""
        for wanted in self._open:
            if wanted.unit is None and (choice := _chosen(wanted.choices, texts)):
                self.values[wanted.name] = Value(value=choice, by=by)


def _could_be(one: Said, wanted: Input) -> bool:
    """Tell whether a number can be that of an input: a measure of its kind, or a bare count."""
    if wanted.unit is None:
        return False
    if one.unit is None:
        return wanted.unit in ("each", "space")
    return alike(one.unit, wanted.unit)


def _single(
    inputs: Sequence[Input], words: Sequence[str], more: Sequence[str] = ()
) -> Input | None:
    """Return the input that shares most with the words; None where none does or two do alike."""

    def shared(wanted: Input) -> tuple[float, float]:
        own = set(stems(f"{wanted.name} {wanted.label}"))
        first = len(own & set(words))
        weight = first + 0.5 * len(own & set(more)) if first or wanted.unit != "each" else 0.0
        return weight, first / max(len(own), 1)

    ranked = sorted(((shared(i), n) for n, i in enumerate(inputs)), key=lambda r: (r[0], -r[1]))
    if not ranked or ranked[-1][0][0] <= 0:
        return None
    if len(ranked) > 1 and ranked[-1][0] == ranked[-2][0]:
        return None
    return inputs[ranked[-1][1]]


def _chosen(choices: Sequence[str], texts: Sequence[str]) -> str | None:
    """Return the longest choice that a text names, or that has the whole text in it, if it is one."""
    named = [c for c in choices if any(_within(c, t) for t in texts)]
    if not named:
        named = [c for c in choices if any(t and _within(t, c) for t in texts)]
        return named[0] if len(named) == 1 else None
    return max(named, key=len)


def _within(part: str, whole: str) -> bool:
    """Tell whether one text's words stand in the other's, in a row."""
    plain: Callable[[str], str] = lambda text: f" {' '.join(_spelled(text))} "  # noqa: E731
    return bool(_spelled(part)) and plain(part) in plain(whole)


def _spelled(text: str) -> list[str]:
    """Return the words of a text; a district is one however it is written."""
    joined = re.sub(r"(?<=[a-z0-9])-(?=\d|[a-z]\b)", "", text.casefold())
    return re.findall(r"[a-z0-9.]*[a-z0-9]", joined)

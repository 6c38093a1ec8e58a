"""Which calculator does a question mean?  Pure and deterministic.

BM25 over what a calculator is called (its label three times, its inputs twice, what stands over it
once), times how well its inputs can be filled and whether it gives what is asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from appliance.calculators.calculator import Calculator
from appliance.calculators.filling import Filled, fill
from appliance.corpus.lay import widened
from appliance.corpus.words import K1, B, average_length, idf, terms

# What the words of a question ask for; the first that occurs counts.
_FORMS = (
    ("dollar", r"fees?|cost|charges?|pay|dollars?|how much (?:is|does|will)|fine|penalty"),
    ("space", r"parking|stalls?|spaces"),
    ("foot", r"setback|how (?:far|wide|tall|high)|width|height|yard"),
    ("sqft", r"area|square f(?:ee|oo)t|how (?:big|large)|coverage"),
    # "How many trees": things that no amount of money, room or length is.
    ("each", r"how many (?!can|may|must|should|do|does|are|is|will|feet|days|hours|months)[a-z]+"),
)
_ASKED = [(unit, re.compile(rf"\b(?:{form})\b", re.IGNORECASE)) for unit, form in _FORMS]
_OTHER_UNIT = 0.4  # of the score, if the result is not what is asked for
_EMPTY = 0.5  # of the score that an input counts that could not be filled
_UNSAID = 0.3  # taken off where no number of the question is of use
_IGNORED = 0.2  # of the score, if a number that was given would be ignored


UNKNOWN = 50  # calculators that every word is weighed against besides: a city may have only two
# Questions about other things stay below these against all that the builder proposes for San Mateo and
# Brentwood (15 questions, the highest 9.0); a short question that is wholly about it is above the last.
LEAST_SCORE = 9.5
LEAST_SHARE = 0.3
MOST_WORDS = 0.6
FILLED = 40  # of the calculators with the likeliest words, so many are tried on the inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A calculator that may be meant, with its inputs as far as they are known."""

    position: int  # in the list that was chosen from
    calculator: Calculator
    filled: Filled
    score: float
    share: float  # of the weight of the question's own words that the calculator has, 0 to 1

    @property
    def meant(self) -> bool:
        """Tell whether the question is about it at all, and not only shares a word or two with it."""
        likely = self.score >= LEAST_SCORE and self.share >= LEAST_SHARE
        return likely or self.share >= MOST_WORDS


def choose(
    question: str, given: Mapping[str, str], calculators: Sequence[Calculator]
) -> list[Choice]:
    """Return the calculators that share words with the question, the likeliest first."""
    asked = [
        t
        for t in dict.fromkeys(terms(" ".join((widened(question), *map(_spoken, given.values())))))
        if _telling(t)
    ]
    bags = [_bag(c) for c in calculators]
    frequency = Counter(t for bag in bags for t in bag)
    weights = {t: idf(len(bags) + UNKNOWN, frequency[t]) for t in asked}
    average = average_length([sum(bag.values()) for bag in bags])
    unit = asked_unit(question)
    own = [t for t in dict.fromkeys(terms(question)) if t in weights]
    whole = sum(weights[t] for t in own) or 1.0
    words = [(_bm25(bag, weights, average), n) for n, bag in enumerate(bags)]
    choices = []
    for score, position in sorted((w for w in words if w[0] > 0), key=lambda w: -w[0])[:FILLED]:
        calculator = calculators[position]
        filled = fill(calculator, given, question)
        fit = score * _fitness(calculator, filled, unit)
        choices.append(
            Choice(
                position=position,
                calculator=calculator,
                filled=filled,
                score=fit,
                share=sum(weights[t] for t in own if bags[position][t]) / whole,
            )
        )
    return sorted(choices, key=lambda c: (-c.score, c.calculator.title, c.position))


def _spoken(value: str) -> str:
    """Return a given value if it is words; a number says nothing of what is meant."""
    return value if re.search(r"[A-Za-z]{2}|[A-Za-z]-?\d", value) else ""


def _telling(term: str) -> bool:
    return not re.fullmatch(r"[\d.,$%]+", term)


def asked_unit(question: str) -> str | None:
    """Return the unit of what a question asks for, if its words say that."""
    return next((unit for unit, form in _ASKED if form.search(question)), None)


def _bag(calculator: Calculator) -> Counter[str]:
    bag: Counter[str] = Counter()
    inputs = " ".join(f"{i.label} {' '.join(i.choices[:12])}" for i in calculator.inputs)
    for text, times in (
        (calculator.label, 3),
        (inputs, 2),
        (" ".join(calculator.context), 1),
    ):
        for term in terms(text):
            bag[term] += times
    return bag


def _bm25(bag: Counter[str], weights: Mapping[str, float], average: float) -> float:
    norm = K1 * (1 - B + B * sum(bag.values()) / average)
    return sum(w * bag[t] * (K1 + 1) / (bag[t] + norm) for t, w in weights.items() if bag[t])


def _fitness(calculator: Calculator, filled: Filled, unit: str | None) -> float:
    """Return how well a calculator takes what was said, 0 to 1."""
    wanted = [i for i in calculator.inputs if not i.optional]
    several = [i for i in calculator.inputs if i.optional]
    have = sum(i.name in filled.values for i in wanted)
    need = len(wanted)
    if several:
        need += 1
        have += any(i.name in filled.values for i in several)
    fitness = _EMPTY + (1 - _EMPTY) * have / max(need, 1)
    fitness *= 1 - _UNSAID * filled.unsaid
    if unit is not None and calculator.unit != unit:
        fitness *= _OTHER_UNIT
    return fitness * _IGNORED if filled.unused_numbers else fitness

"""Worked calculations: does the builder find the rule unaided, and is the result exact?

A case is a question with named inputs, the words of the rule and the result worked by hand.  The box
is asked for its law only: the builder proposes from it in memory, nothing is stored or approved, and
the calculator is chosen among **all** that it proposes for the case's city.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from appliance.answers.citations import locate
from appliance.calculate import meant_alike, proposals
from appliance.calculators.calculator import Calculator
from appliance.calculators.choosing import Choice, choose
from appliance.calculators.compute import compute
from appliance.domain import CityId, Span, StoredSection, parse_city_id
from appliance.errors import BadRequest
from appliance.ports import Calculators
from eval.cases import CaseError
from eval.results import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculationCase:
    """A question with its inputs, the rule's words, and the result."""

    id: str
    city: CityId
    question: str
    inputs: Mapping[str, str]
    records: tuple[str, ...]  # external ids that hold the quotes
    quotes: tuple[str, ...]
    hint: int  # where in the record the quotes stand, in code points
    value: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What came of a case that was asked with some inputs."""

    chosen: str | None  # the title of the calculator
    external_id: str | None
    result: Fraction | None
    problem: str | None  # why there is no result

    def exact(self, case: CalculationCase) -> bool:
        """Tell whether the result is the one worked by hand."""
        return self.result == case.value


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculationResult:
    """What came of a case."""

    case: CalculationCase
    proposed: int  # calculators of the city
    found: bool  # one of them stands on all of the case's quotes
    by_inputs: Given  # the question with the case's inputs
    by_question: Given  # the question alone
    ms: float  # of the two calculations

    def details(self) -> Json:
        """Return the result as JSON has it."""
        return {
            "id": self.case.id,
            "found": self.found,
            "exact": self.by_inputs.exact(self.case),
            "exact_by_question": self.by_question.exact(self.case),
            "wanted": float(self.case.value),
            "result": None if self.by_inputs.result is None else float(self.by_inputs.result),
            "calculator": self.by_inputs.chosen,
            "external_id": self.by_inputs.external_id,
            "problem": self.by_inputs.problem,
            "ms": round(self.ms, 1),
        }


def parse_calculation_cases(text: str, name: str) -> list[CalculationCase]:
    """Return the cases of a file of JSON lines.  Raises CaseError with file and line."""
    return [
        _case(line, name, number)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]


def _case(line: str, name: str, number: int) -> CalculationCase:
    try:
        fields = json.loads(line)
        return CalculationCase(
            id=str(fields["id"]),
            city=parse_city_id(fields["city"]),
            question=str(fields["question"]),
            inputs={str(k): str(v) for k, v in fields["inputs"].items()},
            records=(fields["record"], *fields.get("also_records", ())),
            quotes=tuple(map(str, fields["quote"])),
            hint=int(fields.get("offset_hint", 0)),
            value=Fraction(str(fields["value"])),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CaseError(name, number, f"not a calculation: {error!r}") from error


# ------------------------------------------------------------------ measuring


async def measure_calculations(
    store: Calculators, cases: Sequence[CalculationCase], *, today: date
) -> AsyncIterator[CalculationResult]:
    """Yield what comes of each case; the law of each city is read once."""
    for city in dict.fromkeys(case.city for case in cases):
        proposed = [c async for found in proposals(store, city) for c in found]
        for case in (c for c in cases if c.city == city):
            sections = [s for s in await store.records(city, case.records) if s.in_force(today)]
            began = time.perf_counter()
            by_inputs, by_question = (_given(case.question, i, proposed) for i in (case.inputs, {}))
            yield CalculationResult(
                case=case,
                proposed=len(proposed),
                found=any(stands_on(c, case, sections) for c in proposed),
                by_inputs=by_inputs,
                by_question=by_question,
                ms=(time.perf_counter() - began) * 1000,
            )


def _given(question: str, inputs: Mapping[str, str], proposed: Sequence[Calculator]) -> Given:
    choices = [c for c in choose(question, inputs, proposed) if c.meant]
    if not choices:
        return Given(chosen=None, external_id=None, result=None, problem="no calculator is meant")
    if len(alike := meant_alike(choices)) > 1:
        names = "; ".join(c.calculator.title for c in alike)
        return Given(chosen=None, external_id=None, result=None, problem=f"one of several: {names}")
    best = choices[0]
    title, external_id = best.calculator.title, best.calculator.external_id
    try:
        result = _worked(best)
    except BadRequest as error:
        return Given(chosen=title, external_id=external_id, result=None, problem=str(error))
    return Given(chosen=title, external_id=external_id, result=result, problem=None)


def _worked(choice: Choice) -> Fraction:
    if choice.filled.unused_numbers:
        raise BadRequest(f"no input takes {', '.join(choice.filled.unused_numbers)}")
    return compute(choice.calculator, choice.filled.given).result


def stands_on(
    calculator: Calculator, case: CalculationCase, sections: Sequence[StoredSection]
) -> bool:
    """Tell whether a calculator's bound words cover at least half of each of the case's quotes."""
    golds = [(s, span) for q in case.quotes for s in sections if (span := _place(q, s, case))]
    return bool(golds) and all(_covered(calculator, section, span) for section, span in golds)


def _place(quote: str, section: StoredSection, case: CalculationCase) -> Span | None:
    """Return where a quote stands in a section's text: near the hint if it says where."""
    first = section.external_id == case.records[0]
    start = max(0, case.hint - section.inside - 100) if first else 0
    span = locate(quote, section.text[start:]) or locate(quote, section.text)
    moved = span is not None and span.shifted(start).of(section.text)
    return span.shifted(start) if span and moved and locate(quote, moved) else span


def _covered(calculator: Calculator, section: StoredSection, span: Span) -> bool:
    bound = [
        b.span.shifted(-section.inside)
        for b in calculator.bindings
        if b.external_id == section.external_id and b.span.start >= section.inside
    ]
    covered = {at for b in bound for at in range(max(b.start, span.start), min(b.end, span.end))}
    return 2 * len(covered) >= len(span)


def summary(results: Sequence[CalculationResult], skipped: int) -> Json:
    """Return the counts of a run, with the cases behind them."""
    found = [r for r in results if r.found]
    return {
        "cases": len(results),
        "skipped": skipped,
        "found": len(found),
        "exact": sum(r.by_inputs.exact(r.case) for r in results),
        "exact_of_found": sum(r.by_inputs.exact(r.case) for r in found),
        "exact_by_question": sum(r.by_question.exact(r.case) for r in results),
        "wrong": sum(
            r.by_inputs.result is not None and not r.by_inputs.exact(r.case) for r in results
        ),
        "results": [r.details() for r in results],
    }

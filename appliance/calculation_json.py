"""The JSON forms of calculators and calculations: one for the command, the API and the page."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from appliance.calculate import Calculation, Held
from appliance.calculators.calculator import Calculator, Input
from appliance.calculators.filling import Value
from appliance.calculators.units import decimal_of, unit_name, written
from appliance.forms import citation_json
from appliance.ports import StoredCalculator


def calculation_json(calculation: Calculation) -> dict[str, Any]:
    """Return a result with its steps; each step carries the proven words that it stands on."""
    computed, day = calculation.computed, calculation.as_of
    return {
        "calculator": calculation.id,
        "title": calculation.calculator.title,
        "result": number(computed.result),
        "unit": unit_name(computed.unit),
        "text": written(computed.result, computed.unit),
        "as_of": day.isoformat(),
        "inputs": {
            name: _value_json(name, value, calculation.calculator)
            for name, value in calculation.filled.values.items()
        },
        "unused": list(calculation.filled.unused),
        "steps": [
            {"text": step.text, "citation": citation_json(n, step.citation, day)}
            for n, step in enumerate(calculation.steps, start=1)
        ],
        "citation": citation_json(1, calculation.citation, day),
        "unread": calculation.calculator.unread or None,
        "others": [other_json(o) for o in calculation.others],
    }


def _value_json(name: str, value: Value, calculator: Calculator) -> dict[str, Any]:
    wanted = next(i for i in calculator.inputs if i.name == name)
    plain = value.value if isinstance(value.value, str) else number(value.value)
    return {"value": plain, "unit": _unit(wanted), "from": value.by}


def number(value: Fraction) -> int | float:
    """Return an exact result as JSON has it: a whole number where it is one."""
    exact = decimal_of(value)
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def other_json(other: Held) -> dict[str, Any]:
    """Return a calculator that a question may mean, too."""
    return {"calculator": other.id, "title": other.calculator.title}


def calculator_json(stored: StoredCalculator, calculator: Calculator) -> dict[str, Any]:
    """Return a calculator: what it takes and gives, where it stands, what was decided of it."""
    own = calculator.bindings[0]
    return {
        "id": stored.id,
        "city": stored.city,
        "state": stored.state,
        "because": stored.because,
        "title": calculator.title,
        "label": calculator.label,
        "unit": unit_name(calculator.unit),
        "inputs": [input_json(i) for i in calculator.inputs],
        "section": own.citation,
        "external_id": own.external_id,
        "quote": own.quote,
        "start": own.span.start,
        "end": own.span.end,
        "version": own.version,
        "unread": calculator.unread or None,
    }


def input_json(wanted: Input) -> dict[str, Any]:
    """Return an input: its name, its unit or choices, and the question to the person."""
    return {
        "name": wanted.name,
        "label": wanted.label,
        "unit": _unit(wanted),
        "choices": list(wanted.choices),
        "optional": wanted.optional,
        "question": wanted.question,
    }


def _unit(wanted: Input) -> str | None:
    return None if wanted.unit in (None, "each") else unit_name(wanted.unit or "")

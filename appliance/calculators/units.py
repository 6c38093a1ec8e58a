"""Units of law text and exact conversion between them, by pint over fractions.  Pure.

The names are those of `corpus.quantities`.  Counted things (seats, dwellings, employees) are all the
unit "each": what is counted is said by the input, not by the unit.  A month is not some number of
days, and a dollar is no length: such conversions are refused.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache

import pint

from appliance.errors import BadRequest

# The whole of what we measure in; pint's own registry knows a thousand units that no code uses.
_DEFINITIONS = """
foot = [length]
inch = 1/12 * foot
yard = 3 * foot
mile = 5280 * foot
sqft = foot ** 2
sqyd = 9 * foot ** 2
sqmi = 27878400 * foot ** 2
acre = 43560 * foot ** 2
cuft = foot ** 3
cuyd = 27 * foot ** 3
gallon = [liquid]
pound = [weight]
dollar = [money]
cent = 1/100 * dollar
day = [time]
hour = 1/24 * day
minute = 1/1440 * day
week = 7 * day
month = [months]
year = 12 * month
space = [parking]
each = [count]
percent = [share]
"""
# How a number with its unit is written: one and many.
_WRITTEN = {
    "foot": ("ft", "ft"),
    "inch": ("in", "in"),
    "yard": ("yd", "yd"),
    "mile": ("mile", "miles"),
    "sqft": ("sq ft", "sq ft"),
    "sqyd": ("sq yd", "sq yd"),
    "sqmi": ("sq mi", "sq mi"),
    "cuft": ("cu ft", "cu ft"),
    "cuyd": ("cu yd", "cu yd"),
    "percent": ("%", "%"),
    "each": ("", ""),
}
UNITS = tuple(line.split(" = ")[0] for line in _DEFINITIONS.strip().splitlines())
# Counted things of `corpus.quantities` that are units there.
COUNTED = frozenset(("unit", "person", "story"))
DECIMALS = 6  # of a result that no decimal fraction states exactly


class UnitMismatch(BadRequest):
    """An amount is measured in a unit that cannot be what is asked for."""


def unit_of(name: str) -> str:
    """Return the unit here of a unit of `corpus.quantities`: counted things are "each"."""
    return "each" if name in COUNTED else name


def quantity(value: Fraction | Decimal | int, unit: str) -> pint.Quantity[Fraction]:
    """Return an exact pint quantity."""
    return _registry().Quantity(Fraction(value), unit)


def magnitude(of: pint.Quantity[Fraction], unit: str) -> Fraction:
    """Return how many of the unit a quantity is.  Raises UnitMismatch."""
    try:
        return Fraction(of.to(unit).magnitude)
    except pint.DimensionalityError as error:
        raise UnitMismatch(f"{of.units} cannot be expressed in {unit}.") from error


def convert(value: Fraction | Decimal | int, unit: str, into: str) -> Fraction:
    """Return the value in another unit, exactly.  Raises UnitMismatch."""
    return magnitude(quantity(value, unit), into)


def alike(unit: str, other: str) -> bool:
    """Tell whether amounts of two units can be compared."""
    return bool(quantity(1, unit).is_compatible_with(other))


@cache
def _registry() -> pint.UnitRegistry[Fraction]:
    registry: pint.UnitRegistry[Fraction] = pint.UnitRegistry(None, non_int_type=Fraction)
    registry.load_definitions(_DEFINITIONS.strip().splitlines())
    return registry


def decimal_of(value: Fraction) -> Decimal:
    """Return the value as a decimal: exactly where that can be, else to DECIMALS places, half up."""
    twos_and_fives = value.denominator
    for factor in (2, 5):
        while twos_and_fives % factor == 0:
            twos_and_fives //= factor
    if twos_and_fives == 1:
        return _decimal(value.numerator, value.denominator)
    scaled = (abs(value) * 10**DECIMALS * 2 + 1) // 2
    sign = -1 if value < 0 else 1
    return _decimal(sign * int(scaled), 10**DECIMALS)


def _decimal(numerator: int, denominator: int) -> Decimal:
    # A terminating fraction of n digits below has at most 4n decimals: none is lost.
    places = 0
    while (numerator * 10**places) % denominator:
        places += 1
    return Decimal(numerator * 10**places // denominator).scaleb(-places)


def written(value: Fraction | Decimal, unit: str, noun: str = "") -> str:
    """Return a number with its unit as people write it: "$228.80", "3,500 sq ft", "49 spaces"."""
    number = decimal_of(Fraction(value))
    if unit == "dollar":
        cents = number.as_tuple().exponent
        places = 2 if isinstance(cents, int) and -2 <= cents < 0 else None
        return f"${number:,.2f}" if places else f"${number:,f}"
    one, many = _WRITTEN.get(unit, (unit, f"{unit}s"))
    word = noun or (one if number == 1 else many)
    space = "" if unit == "percent" else " "
    return f"{number:,f}{space}{word}".strip()


def unit_name(unit: str) -> str:
    """Return the unit as a result states it: "dollars", "spaces", "sq ft"."""
    one, many = _WRITTEN.get(unit, (unit, f"{unit}s"))
    return many or one

"""One rule of the law as a person reads it, from tokens: rates, shares, bounds, products.  Pure.

The forms: "$10 plus $5 for each $1,000 or fraction thereof", "1 space per 250 sq. ft. plus 1 per
employee", "15% of the lot width, not less than 7.5 feet", "frontage x stories x $2.60", "the greater
of".  A rule ends where its words end; whatever of the sentence is left is said to be unread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from appliance.calculators.calculator import (
    Bound,
    Either,
    Fixed,
    Input,
    Part,
    Rate,
    Share,
    Step,
    Term,
    When,
)
from appliance.calculators.lexer import Token
from appliance.calculators.units import alike
from appliance.domain import Span

_SPACES = frozenset(("space", "spaces", "stall", "stalls"))
# What words say of a thing that a share is taken of; the first kind that has a word of the phrase wins.
_MEASURED = (
    ("foot", "width depth length frontage height setback"),
    (
        "dollar",
        "fee fees cost costs valuation value amount price citation charge penalty fine deposit tax",
    ),
    ("space", "space spaces stall stalls"),
    ("sqft", "area parcel lot site footprint acreage"),
)
_MEASURES = {word: unit for unit, words in reversed(_MEASURED) for word in words.split()}
_UNNAMED = {
    "sqft": "floor area", "foot": "length", "dollar": "cost", "acre": "area", "day": "days",
    "hour": "hours", "month": "months", "year": "years", "space": "spaces",
}  # fmt: skip
# Words at which what is counted ends.
_STOP = frozenset(
    [
        "plus",
        "and",
        "or",
        "but",
        "up",
        "above",
        "over",
        "exceeding",
        "excess",
        "minimum",
        "maximum",
        "not",
        "no",
        "for",
        "based",
        "provided",
        "except",
        "when",
        "where",
        "whichever",
        "if",
        "that",
        "which",
        "shall",
        "may",
        "must",
        "is",
        "are",
        "with",
        "as",
        "unless",
        "whenever",
        "in",
        "on",
        "x",
        "×",
        "times",
        "to",
        "per",
        "including",
        "excluding",
    ]
)
# Words at which the name of it ends, but not what is said of it: "seats in the portion used for services".
_GOES_ON = frozenset(
    [
        "of",
        "in",
        "on",
        "for",
        "used",
        "located",
        "at",
        "set",
        "as",
        "based",
        "including",
        "excluding",
        "to",
        "open",
    ]
)
_JOINS = frozenset(("plus", "and", "+"))
_LEADING = frozenset(("a", "an", "the", "any", "such", "each", "every", "said", "its"))
_LEAST = (
    "not less than", "no less than", "in no case less than", "with a minimum of", "a minimum of",
    "minimum of", "minimum", "at least", "never less than", "in all cases a minimum of",
    "subject to a minimum of", "a minimum fee of", "minimum fee of", "minimum fee",
)  # fmt: skip
_MOST = (
    "not more than", "no more than", "not to exceed", "not exceeding", "with a maximum of",
    "a maximum of", "up to a maximum of", "maximum of", "maximum", "in no case more than",
    "never more than", "to a maximum of", "subject to a maximum of", "maximum fee of",
)  # fmt: skip
_BOUNDS = sorted(
    [(words.split(), "least") for words in _LEAST] + [(words.split(), "most") for words in _MOST],
    key=lambda pair: -len(pair[0]),
)
LONGEST_NOUN = 7  # words of what is counted that are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one stretch of text says can be computed, with the stretch itself."""

    unit: str
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    span: Span


@dataclass(slots=True)
class _Reading:
    """What was read of a rule so far."""

    unit: str | None = None
    inputs: list[Input] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    limit: Decimal | None = None  # up to where the last step counts, in `limit_unit`
    limit_unit: str | None = None

    def input_of(self, unit: str, noun: str, *, same: bool = False) -> str:
        """Return the name of the input: an earlier one if it is meant, else a new one."""
        alikes = [i for i in self.inputs if i.unit and alike(i.unit, unit)]
        if alikes and (same or (unit != "each" and not noun)):
            return alikes[-1].name
        label = noun or _UNNAMED.get(unit, unit)
        if known := next((i for i in alikes if i.label == label), None):
            return known.name
        name = slug(label)
        if any(i.name == name for i in self.inputs):
            name = f"{name}_{len(self.inputs) + 1}"
        self.inputs.append(Input(name=name, unit=unit, label=label))
        return name

    def named(self, noun: str) -> None:
        """Give the last input its name where only what follows says it."""
        last = self.inputs[-1] if self.inputs else None
        if last and last.label == _UNNAMED.get(last.unit or "") and noun:
            self.rename(last, replace(last, name=slug(noun), label=noun))

    def rename(self, old: Input, new: Input) -> None:
        """Put a better name in place of an input's in all that was read."""
        self.inputs[self.inputs.index(old)] = new
        self.steps = [_renamed(s, old.name, new.name) for s in self.steps]


def _renamed(step: Step, old: str, new: str) -> Step:
    match step:
        case Rate():
            return replace(step, of=tuple(new if name == old else name for name in step.of))
        case Share():
            return replace(step, of=new if step.of == old else step.of)
        case _:
            return step


def slug(label: str) -> str:
    """Return a name for an input: "classrooms and offices" is `classrooms_and_offices`."""
    words = re.findall(r"[a-z0-9]+", label.casefold())
    return "_".join(words[:5])[:48] or "number"


def rule_at(tokens: Sequence[Token], at: int, bare: str | None) -> tuple[Rule, int] | None:
    """Return the rule that begins at a token, and the index behind it; None if none does.

    `bare` is the unit of amounts that name none ("1 per employee"), if what stands over them says it.
    """
    if product := _product(tokens, at):
        return product
    reading = _Reading(unit=bare)
    end = _segment(tokens, at, reading)
    if end is None:
        return None
    while (following := _joined(tokens, end, reading.unit)) is not None:
        after = _segment(tokens, following, reading)
        if after is None:
            break
        end = after
    end = _bounds(tokens, _alternative(tokens, end, reading), reading)
    if reading.unit is None or not any(isinstance(s, Rate | Share | Either) for s in reading.steps):
        return None
    return _rule(tokens, at, end, reading), end


def rule_upon(
    tokens: Sequence[Token], at: int, base: Decimal, unit: str
) -> tuple[Rule, int] | None:
    """Return the rule that goes on from a base named before: "… fee for the first $5,000; plus $2.60 …".

    `at` is the index of "for"; None if no rate follows.
    """
    reading = _Reading()
    end = _base(tokens, at, base, unit, reading)
    following = None if end is None else _joined(tokens, end)
    end = None if following is None else _segment(tokens, following, reading)
    if end is None:
        return None
    end = _bounds(tokens, end, reading)
    return _rule(tokens, at, end, reading), end


def _rule(tokens: Sequence[Token], at: int, end: int, reading: _Reading) -> Rule:
    assert reading.unit is not None
    return Rule(
        unit=reading.unit,
        inputs=tuple(reading.inputs),
        steps=tuple(reading.steps),
        span=Span(start=tokens[at].start, end=tokens[end - 1].end),
    )


# ------------------------------------------------------------------ tokens


def says(tokens: Sequence[Token], at: int, words: Sequence[str]) -> bool:
    """Tell whether the words stand at a place, in one sentence."""
    return len(tokens) >= at + len(words) and all(
        tokens[at + i].text == word for i, word in enumerate(words)
    )


def _at(tokens: Sequence[Token], i: int) -> Token | None:
    return tokens[i] if 0 <= i < len(tokens) and not (i and tokens[i].broken) else None


def _text(tokens: Sequence[Token], i: int) -> str:
    token = _at(tokens, i)
    return token.text if token else ""


def _joined(tokens: Sequence[Token], i: int, unit: str | None = None) -> int | None:
    """Return where the next segment begins, behind ", plus" or "and"; None if there is none.

    Of parking, a sentence that goes on with an amount of its own and no other use is one, too.
    """
    mark = _text(tokens, i)
    if mark in (",", ";", "."):
        i += 1
    joins = _text(tokens, i) in _JOINS
    if says(tokens, i, ("in", "addition", "to")) or not (joins or (mark and unit == "space")):
        return None
    if not joins and mark not in (";", "."):
        return None
    i += joins
    if _text(tokens, i) in ("an", "a") and _text(tokens, i + 1) == "additional":
        i += 2
    token = _at(tokens, i)
    return i if token and token.kind == "amount" and token.unit != "percent" else None


def _skip_remark(tokens: Sequence[Token], i: int) -> int:
    """Return the index behind a remark without numbers: "(no exclusions)", ", exclusive of bassinets,"."""
    if _text(tokens, i) == "," and _text(tokens, i + 1) in ("exclusive", "excluding", "including"):
        _, end = _noun(tokens, i + 2 + (_text(tokens, i + 2) == "of"))
        return end
    if _text(tokens, i) != "(":
        return i
    for j in range(i + 1, min(i + 14, len(tokens))):
        if tokens[j].kind == "amount":
            return i
        if tokens[j].text == ")":
            return j + 1
    return i


# ------------------------------------------------------------------ segments


def _segment(tokens: Sequence[Token], at: int, reading: _Reading) -> int | None:
    """Read one segment ("1 space per 250 sq. ft.") into the reading; return the index behind it."""
    # Only a rule may begin behind an empty line; a segment that adds to it may not.
    amount = _at(tokens, at) if reading.steps else tokens[at]
    if amount is None or amount.kind != "amount" or amount.value is None:
        return None
    if amount.unit == "percent":
        return _share(tokens, at, amount, reading)
    unit, i = _amount_unit(tokens, at, amount, reading)
    if unit is None or (reading.unit is not None and not alike(unit, reading.unit)):
        return None
    for read in (_base, _rate):
        if (end := read(tokens, i, amount.value, unit, reading)) is not None:
            return end
    # "plus 2" of something else adds nothing here.
    named = amount.unit is not None or i > at + 1
    return _lone(tokens, i, amount.value, unit, reading) if named else None


def _lone(
    tokens: Sequence[Token], i: int, value: Decimal, unit: str, reading: _Reading
) -> int | None:
    """Read an amount that is for nothing in particular: only as a term of a sum."""
    if not reading.steps and _joined(tokens, i) is None:
        return None
    reading.unit = reading.unit or unit
    reading.steps.append(Fixed(amount=value, unit=unit))
    return i


def _amount_unit(
    tokens: Sequence[Token], at: int, amount: Token, reading: _Reading
) -> tuple[str | None, int]:
    """Return the unit of an amount and the index behind its words: "2 garage spaces"."""
    if amount.unit is not None:
        return amount.unit, at + 1
    for i in range(at + 1, at + 6):
        token = _at(tokens, i)
        if token is None or token.kind != "word" or token.text in _STOP | _LEADING:
            break
        if token.text in _SPACES:
            return "space", i + 1
    return reading.unit, at + 1


def _base(
    tokens: Sequence[Token], i: int, value: Decimal, unit: str, reading: _Reading
) -> int | None:
    """Read "for the first 25 feet or fraction thereof in the length of the shed"."""
    if not says(tokens, i, ("for", "the", "first")):
        return None
    covered, behind = _covered(tokens, i + 3)
    if covered is None:
        return None
    reading.unit = unit
    reading.limit, reading.limit_unit = covered
    reading.steps.append(Fixed(amount=value, unit=unit))
    noun, end = _named_after(tokens, behind)
    reading.input_of(covered[1], noun)
    return end


def _covered(tokens: Sequence[Token], i: int) -> tuple[tuple[Decimal, str] | None, int]:
    """Return the amount and unit at a place, and the index behind it: "1,000 square feet"."""
    token = _at(tokens, i)
    if token is None:
        return None, i
    if token.kind == "amount" and token.value is not None and token.unit not in (None, "percent"):
        assert token.unit is not None
        return (token.value, token.unit), i + 1
    if token.kind == "unit" and token.unit is not None:
        return (Decimal(1), token.unit), i + 1
    return None, i


def _rate(
    tokens: Sequence[Token], i: int, value: Decimal, unit: str, reading: _Reading
) -> int | None:
    """Read "per 250 sq. ft. of floor area, or fraction thereof, up to 4,000 square feet"."""
    behind, additional = _per(tokens, i)
    if behind is None and _text(tokens, i) == "of" and unit in ("sqft", "acre"):
        _, i = _noun(tokens, i + 1)
        behind, additional = _per(tokens, i)
    if behind is None:
        return None
    counted, end = _counted(tokens, behind)
    if counted is None:
        return None
    per, per_unit, noun = counted
    tail = _Tail()
    end = _tail(tokens, end, tail, per_unit)
    noun = noun if per_unit == "each" else tail.noun
    above = tail.above
    if additional and above is None:
        if reading.limit is None or not alike(reading.limit_unit or "", per_unit):
            return None
        above = reading.limit
    name = reading.input_of(per_unit, noun, same=above is not None)
    if above is not None:
        reading.named(noun)
        name = next(i.name for i in reversed(reading.inputs) if i.unit and alike(i.unit, per_unit))
    reading.unit = reading.unit or unit
    reading.steps.append(
        Rate(
            amount=value, unit=unit, of=(name,), per=per, per_unit=per_unit,
            above=above, up_to=tail.up_to, part=tail.part,
        )
    )  # fmt: skip
    if tail.up_to is not None:
        reading.limit, reading.limit_unit = tail.up_to, per_unit
    return end


def _per(tokens: Sequence[Token], i: int) -> tuple[int | None, bool]:
    """Return the index behind "per", "for each additional" …; and whether it is for more of the same."""
    start = i
    if _text(tokens, i) in (",", ":"):
        i += 1
    if _text(tokens, i) in ("per", "/"):
        i += 1
        while _text(tokens, i) in ("each", "every"):
            i += 1
    else:
        if _text(tokens, i) in ("for", "at"):
            i += 1
        if _text(tokens, i) not in ("each", "every"):
            return None, False
        i += 1
    additional = _text(tokens, i) in ("additional", "further")
    return (i + 1 if additional else i) if i > start else None, additional


def _counted(tokens: Sequence[Token], i: int) -> tuple[tuple[Decimal, str, str] | None, int]:
    """Return (how many, unit, noun) of what a rate is for: "4 seats", "250 sq. ft.", "employee"."""
    token = _at(tokens, i)
    if token is None:
        return None, i
    measured, behind = _covered(tokens, i)
    if measured is not None:
        return (*measured, ""), behind
    per = Decimal(1)
    if token.kind == "amount" and token.value is not None and token.unit is None:
        per, i = token.value, i + 1
    noun, end = _noun(tokens, i)
    after = _at(tokens, end)
    if after is not None and after.kind == "amount" and tokens[end - 1].text in ("of", "to"):
        return None, i  # "each increment of 22 feet" counts no increments
    return ((per, "each", noun), end) if noun and per > 0 else (None, i)


def _noun(tokens: Sequence[Token], i: int) -> tuple[str, int]:
    """Return the words of what is counted or measured, and the index behind them."""
    words: list[str] = []
    while (token := _at(tokens, i)) is not None and token.kind == "word":
        ends = token.text in _STOP and not _another(tokens, i, words) and not _most(tokens, i)
        if ends or (token.capital and words):
            break
        if words or token.text not in _LEADING:
            words.append(token.text)
        i += 1
    kept = words[:LONGEST_NOUN]
    while kept and kept[-1] in ("of", "the", "a", "at", "by", "under"):
        kept.pop()
    return " ".join(kept), i


def _most(tokens: Sequence[Token], i: int) -> bool:
    """Tell whether "maximum" names no bound: "on the maximum shift", "at maximum capacity"."""
    named = tokens[i].text in ("maximum", "minimum") and _text(tokens, i - 1) in ("the", "at")
    return named and _text(tokens, i + 1) != "of"


def _another(tokens: Sequence[Token], i: int, words: Sequence[str]) -> bool:
    """Tell whether "or" goes on naming: "office or sales area", not "or fraction thereof"."""
    after = _at(tokens, i + 1)
    ends = _STOP | _LEADING | {"fraction", "portion", "part", "major", "one"}
    plain = after is not None and after.kind == "word" and not after.capital
    return bool(words) and tokens[i].text == "or" and plain and tokens[i + 1].text not in ends


@dataclass(slots=True)
class _Tail:
    """What follows a rate's unit."""

    noun: str = ""
    part: Part = "exact"
    above: Decimal | None = None
    up_to: Decimal | None = None


def _tail(tokens: Sequence[Token], i: int, tail: _Tail, unit: str) -> int:
    """Read what follows a rate's unit, in any order; return the index behind it."""
    while True:
        after = _fraction(tokens, i, tail)
        after = _limits(tokens, after, tail, unit)
        if after == i:
            after = _phrase(tokens, i, tail)
        if after == i:
            after = _skip_remark(tokens, i)
        if after == i:
            return i
        i = after


def _fraction(tokens: Sequence[Token], i: int, tail: _Tail) -> int:
    """Read ", or fraction thereof," and "(or major portion thereof)"."""
    j = i
    while _text(tokens, j) in (",", "("):
        j += 1
    if _text(tokens, j) not in ("or", "and"):
        return i
    j += 1
    if _text(tokens, j) in ("any", "a"):
        j += 1
    major = _text(tokens, j) == "major"
    j += major
    if _text(tokens, j) not in ("fraction", "portion", "part", "fractional", "fractions"):
        return i
    j += 2 if _text(tokens, j + 1) in ("thereof", "part", "portion") else 1
    if _text(tokens, j) == "thereof":
        j += 1
    while _text(tokens, j) == ")":
        j += 1
    if _text(tokens, j) == "," and _text(tokens, j + 1) in ("of", "in"):
        j += 1
    tail.part = "major" if major else "whole"
    return j


_ABOVE = (
    ("in", "excess", "of"), ("above", "the", "first"), ("over", "the", "first"),
    ("above",), ("over",), ("exceeding",), ("beyond",), ("greater", "than"),
)  # fmt: skip
_UP_TO = (
    ("up", "to", "and", "including"), ("to", "and", "including"), ("for", "the", "first"),
    ("up", "to"),
)  # fmt: skip


def _limits(tokens: Sequence[Token], i: int, tail: _Tail, unit: str) -> int:
    """Read "in excess of five thousand dollars" and "for the first 1,000 square feet"."""
    j = i + (
        _text(tokens, i) == "," and _text(tokens, i + 1) in ("up", "to", "above", "over", "in")
    )
    for side, forms in (("above", _ABOVE), ("up_to", _UP_TO)):
        form = next((f for f in forms if says(tokens, j, f)), None)
        if form is None or tokens[j].capital:
            continue
        limit, behind = _covered(tokens, j + len(form))
        if limit is None or limit[1] != unit:
            return i
        setattr(tail, side, limit[0])
        return behind
    return i


def _phrase(tokens: Sequence[Token], i: int, tail: _Tail) -> int:
    """Read "of enclosed display area" and "in the length of the shed"; filler words are passed over."""
    j = i
    while _text(tokens, j) in _GOES_ON and not tokens[j].capital:
        if _text(tokens, j + 1) in ("each", "every", "excess") or says(
            tokens, j, ("for", "the", "first")
        ):
            return i
        j += 1
    token = _at(tokens, j)
    plain = token is not None and token.kind == "word" and not token.capital
    if plain and token is not None and (token.text not in _STOP or _most(tokens, j)):
        noun, end = _noun(tokens, j)
        tail.noun = tail.noun or noun
        return end
    return i


def _named_after(tokens: Sequence[Token], i: int) -> tuple[str, int]:
    """Return what "the first 25 feet" are feet of, and the index behind that."""
    tail = _Tail()
    end = _tail(tokens, i, tail, "")
    return tail.noun, end


# ------------------------------------------------------------------ shares


def _share(tokens: Sequence[Token], at: int, amount: Token, reading: _Reading) -> int | None:
    """Read "15% of the lot width as measured at building location"."""
    if reading.steps or _text(tokens, at + 1) not in ("of", "or"):
        return None
    noun, end = _noun(tokens, at + 2)
    unit = measured_in(noun)
    if unit is None or amount.value is None or not noun:
        return None
    tail = _Tail()
    end = _tail(tokens, end, tail, unit)
    name = reading.input_of(unit, noun)
    reading.unit = unit
    reading.steps.append(
        Share(share=amount.value / 100, of=name, above=tail.above, up_to=tail.up_to)
    )
    return end


def measured_in(noun: str) -> str | None:
    """Return the unit in which a thing is measured that law takes shares of; None if none is known."""
    words = noun.split()
    for unit, kinds in _MEASURED:
        if any(word in kinds.split() for word in words):
            return unit
    return None


# ------------------------------------------------------------------ products


def _product(tokens: Sequence[Token], at: int) -> tuple[Rule, int] | None:
    """Read "Multiply building frontage in feet or fraction thereof x number of stories x $2.60"."""
    if not says(tokens, at, ("multiply",)):
        return None
    reading = _Reading()
    names: list[str] = []
    part: Part = "exact"
    i, per_unit = at + 1, "each"
    while True:
        token = _at(tokens, i)
        if token is None:
            return None
        if token.kind == "amount" and token.value is not None and token.unit:
            break
        noun, i = _noun(tokens, i)
        unit, whole, i = _factor(tokens, i)
        if not noun or _text(tokens, i) not in ("x", "×", "by", "times"):
            return None
        names.append(reading.input_of(unit, noun.removeprefix("number of ")))
        per_unit, part = (unit, "whole") if whole else (unit if len(names) == 1 else per_unit, part)
        i += 1
    if not names or (len(names) > 1 and any(x.unit != "each" for x in reading.inputs[1:])):
        return None
    assert token.unit is not None
    reading.unit = token.unit
    reading.steps.append(
        Rate(amount=token.value, unit=token.unit, of=tuple(names), per_unit=per_unit, part=part)
    )
    end = _bounds(tokens, i + 1, reading)
    return _rule(tokens, at, end, reading), end


def _factor(tokens: Sequence[Token], i: int) -> tuple[str, bool, int]:
    """Return the unit of a factor, if fractions of it count whole, and the index behind it."""
    unit = "each"
    token = _at(tokens, i + 1)
    if _text(tokens, i) == "in" and token is not None and token.unit:
        unit, i = token.unit, i + 2
    tail = _Tail()
    return unit, (end := _fraction(tokens, i, tail)) != i, end


# ------------------------------------------------------------------ alternatives and bounds


def _alternative(tokens: Sequence[Token], i: int, reading: _Reading) -> int:
    """Read "or one space per 75 square feet, whichever is greater" behind one rate."""
    if (
        _text(tokens, i) != "or"
        or len(reading.steps) != 1
        or not isinstance(reading.steps[0], Rate)
    ):
        return i
    first = reading.steps[0]
    other = _Reading(unit=reading.unit, inputs=list(reading.inputs))
    token = _at(tokens, i + 1)
    if token is not None and token.kind == "amount":
        end = _segment(tokens, i + 1, other)
        if end is None and token.value is not None and token.unit and alike(token.unit, first.unit):
            other.steps.append(Fixed(amount=token.value, unit=token.unit))
            end = i + 2
    else:
        end = _rate(tokens, i + 1, first.amount, first.unit, other)
    if end is None or len(other.steps) != 1:
        return i
    which, after = _whichever(tokens, end)
    second = other.steps[0]
    if which is None or not isinstance(second, Rate | Share | Fixed):
        return i
    terms: tuple[Term, ...] = (first, second)
    reading.inputs = other.inputs
    reading.steps = [Either(which="greater" if which == "greater" else "lesser", of=terms)]
    return after


def beside(rule: Rule, before: Sequence[Token], after: Sequence[Token]) -> Rule | None:
    """Return the rule with the amount that it stands beside: "800 square feet or 50% of …, whichever is less".

    None if the words before or after it say that it is one of two, and not what the other one is.
    """
    which, _ = _whichever(after, 0)
    words = [t.text for t in before[-8:]]
    named = [w for w in words if w in ("lesser", "greater", "smaller", "larger")]
    if words[-1:] != ["or"] and not (named and words[-1:] == ["and"]):
        return None if which or named else rule
    amount, step = before[-2] if len(before) > 1 else None, rule.steps[0]
    less = which == "lesser" or any(w in ("lesser", "smaller") for w in named)
    fits = amount is not None and amount.value is not None and amount.unit not in (None, "percent")
    if not (which or named) or not fits or not isinstance(step, Rate | Share):
        return None
    assert amount is not None
    assert amount.value is not None
    assert amount.unit is not None
    if not alike(amount.unit, rule.unit):
        return None
    other = Fixed(amount=amount.value, unit=amount.unit)
    both = Either(which="lesser" if less else "greater", of=(other, step))
    span = Span(start=amount.start, end=rule.span.end)
    return replace(rule, steps=(both, *rule.steps[1:]), span=span)


def _whichever(tokens: Sequence[Token], i: int) -> tuple[str | None, int]:
    j = i + (_text(tokens, i) == ",")
    if _text(tokens, j) != "whichever":
        return None, i
    for k in range(j + 1, j + 6):
        if _text(tokens, k) in ("greater", "larger", "more", "higher"):
            return "greater", k + 1
        if _text(tokens, k) in ("less", "lesser", "smaller", "lower"):
            return "lesser", k + 1
    return None, i


def _bounds(tokens: Sequence[Token], i: int, reading: _Reading) -> int:
    """Read ", but not less than $260" and what follows it; return the index behind the last bound."""
    while reading.unit is not None:
        j = i
        while _text(tokens, j) in (",", ";", "but", "and", "."):
            j += 1
        found = next(((words, side) for words, side in _BOUNDS if says(tokens, j, words)), None)
        if found is None:
            return i
        words, side = found
        end = _bound(tokens, j + len(words), side, reading)
        if end is None:
            return i
        i = end
    return i


def _bound(tokens: Sequence[Token], i: int, side: str, reading: _Reading) -> int | None:
    """Read the amount of a bound, in each district where there is more than one."""
    read: list[Bound] = []
    while (token := _at(tokens, i)) is not None and token.kind == "amount":
        if token.value is None or token.unit == "percent":
            break
        unit, i = _amount_unit(tokens, i, token, reading)
        plain = token.unit is not None or _plainly(tokens, i)
        if unit is None or reading.unit is None or not alike(unit, reading.unit) or not plain:
            break
        districts, i = _districts(tokens, i)
        when = (When(input="district", one_of=districts),) if districts else ()
        read.append(
            Bound(
                side="least" if side == "least" else "most",
                amount=token.value,
                unit=unit,
                when=when,
            )
        )
        if not districts or _text(tokens, i) not in ("and", ","):
            break
        i += 1
    if not read:
        return None
    reading.steps += read
    _add_district(reading, [d for b in read for w in b.when for d in w.one_of])
    return _noun_free(tokens, i)


def _plainly(tokens: Sequence[Token], i: int) -> bool:
    """Tell whether a bound on spaces is one on all of them, not on those of some kind only."""
    words = [tokens[k].text for k in range(max(0, i - 4), i) if tokens[k].kind == "word"]
    return not any(
        word in ("customer", "visitor", "guest", "employee", "bicycle") for word in words
    )


def _noun_free(tokens: Sequence[Token], i: int) -> int:
    """Return the index behind "for each structure" or "per sign": whose bound it is."""
    if _text(tokens, i) in ("for", "per") and _text(tokens, i + 1) not in ("the", "first"):
        j = i + 1 + (_text(tokens, i + 1) in ("each", "every", "any"))
        noun, end = _noun(tokens, j)
        return end if noun else i
    return i


_DISTRICT = re.compile(r"[a-z]{1,4}-?\d{0,3}(?:-[a-z0-9]{1,3})?", re.IGNORECASE)


def _districts(tokens: Sequence[Token], i: int) -> tuple[tuple[str, ...], int]:
    """Return the districts of "in the R1-B and C districts" (R1-B, R1-C), and the index behind."""
    if _text(tokens, i) not in ("in", "for"):
        return (), i
    j = i + 1
    while _text(tokens, j) in ("the", "a", "an", "any"):
        j += 1
    names: list[str] = []
    while (token := _at(tokens, j)) is not None:
        if token.text in ("district", "districts", "zone", "zones") and names:
            return tuple(_whole_names(names)), j + 1
        if token.text not in ("and", "or", ","):
            if not _DISTRICT.fullmatch(token.text):
                break
            names.append(token.text.upper())
        j += 1
    return (), i


def _whole_names(names: Sequence[str]) -> list[str]:
    """Return "R1-B", "R1-C" for "R1-B", "C"."""
    whole: list[str] = []
    for name in names:
        before = whole[-1] if whole else ""
        stem, hyphen, _ = before.rpartition("-")
        whole.append(f"{stem}-{name}" if hyphen and len(name) == 1 else name)
    return whole


def _add_district(reading: _Reading, names: Sequence[str]) -> None:
    if not names:
        return
    known = next((i for i in reading.inputs if i.name == "district"), None)
    choices = tuple(dict.fromkeys([*(known.choices if known else ()), *names]))
    wanted = Input(name="district", unit=None, label="district", choices=choices)
    if known:
        reading.inputs[reading.inputs.index(known)] = wanted
    else:
        reading.inputs.append(wanted)

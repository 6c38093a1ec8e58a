"""Proposing calculators: what of a section's text can be computed, read by general forms.  Pure.

Nothing here knows a city.  A proposal is no answer: a person reads it beside the law and approves
it or not, so the builder says what of a rule it did not understand instead of leaving it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from appliance.calculators.calculator import (
    Binding,
    Bound,
    Calculator,
    Fixed,
    Input,
    Rate,
    Round,
    Share,
    Step,
    When,
)
from appliance.calculators.compute import BadInput, compute
from appliance.calculators.grids import Cell, Grid, Row, grids
from appliance.calculators.lexer import LONGEST, Token, tokens_of
from appliance.calculators.rounding import RoundingRule, rounding_rules
from appliance.calculators.rules import Rule, beside, rule_at, rule_upon, slug
from appliance.calculators.units import UnitMismatch, alike
from appliance.domain import Span, StoredSection

_PARKING = re.compile(r"\b(?:parking|stalls?|loading)\b", re.IGNORECASE)
_RATIO = re.compile(r"\bfloor[\s-]area\s+ratios?\b|\bF\.?A\.?R\b", re.IGNORECASE)
# What can be computed at all has a number and one of these.
_WORTH = re.compile(
    r"\bper\b|\beach\b|\bevery\b|%|\bpercent\b|\bratio\b|\bmultipl|\|", re.IGNORECASE
)
_BULLET = re.compile(r"\s*[•·▪]\s*")
MOST_CHOICES = 60  # rows of a table that is looked up
LONGEST_LABEL = 240  # code points
LONGEST_ABOVE = 160  # of the sentences before a rule, which may say what it is about


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """A rounding rule with the section that says it."""

    rule: RoundingRule
    section: StoredSection

    @property
    def binding(self) -> Binding:
        """Return the sentence as what a step stands on."""
        return bound_to(self.section, self.rule.span)


def bound_to(section: StoredSection, span: Span) -> Binding:
    """Return a stretch of a section's text as what a calculator stands on."""
    return Binding(
        external_id=section.external_id,
        citation=section.citation,
        version=section.version,
        span=span.shifted(section.inside),
        quote=span.of(section.text),
    )


def roundings_of(section: StoredSection) -> list[Rounding]:
    """Return what a section says of fractions of a space."""
    return [Rounding(rule=r, section=section) for r in rounding_rules(section.text)]


def propose(section: StoredSection, roundings: Sequence[Rounding] = ()) -> list[Calculator]:
    """Return the calculators that a section's text gives, in reading order.

    `roundings` are those of the whole city; the nearest one whose scope holds the section is taken.
    """
    text = section.text
    if len(text) > LONGEST or not _WORTH.search(text):
        return []
    found: dict[str, Calculator] = {}
    for draft in _drafts(section):
        if _goes_on(draft.unread):
            continue  # a part of a sum would be taken for the whole
        whole = _rounded(_capped(draft, section), section, roundings)
        if _sound(whole):
            found.setdefault(whole.digest, whole)
    return list(found.values())


_MORE = re.compile(
    r"(?:[^.;]{0,40}?[,;]\s*)?(?:plus|\+|and|or)\s+(?:an?\s+)?(?:additional\s+)?", re.IGNORECASE
)


def _goes_on(unread: str) -> bool:
    """Tell whether what was not read is a further amount of the same rule: "plus 1 trailer space …"."""
    match = _MORE.match(unread)
    following = tokens_of(unread[match.end() : match.end() + 60]) if match else []
    return bool(following) and following[0].kind == "amount"


def _drafts(section: StoredSection) -> Iterator[Calculator]:
    tables = grids(section.text)
    for grid in tables:
        yield from _of_grid(section, grid)
    prose = _without(section.text, [row.span for grid in tables for row in grid.rows])
    runs = list(_run_in_rows(prose))
    for run in runs:
        yield from _run_in_sum(section, prose, run)
    prose = _without(prose, [Span(start=r[0].start(), end=r[-1].end()) for r in runs])
    yield from _of_prose(section, prose)
    yield from _of_ratio_sentences(section, prose)


def _sound(calculator: Calculator) -> bool:
    """Tell whether the steps fit together: units agree for some inputs."""
    given: dict[str, Fraction | str] = {
        i.name: i.choices[0] if i.unit is None else Fraction(100) for i in calculator.inputs
    }
    try:
        compute(calculator, given)
    except UnitMismatch:
        return False
    except BadInput:  # 100 lies in no row: units were not asked
        return True
    return True


# ------------------------------------------------------------------ what stands over a rule


def _title(section: StoredSection, label: str) -> str:
    heading = section.heading.removeprefix(section.citation).strip(" .—–-")
    short = label if len(label) <= 90 else label[:89].rstrip() + "…"
    return f"{short} — {heading}" if short else heading


def _context(section: StoredSection, start: int, *more: str) -> tuple[str, ...]:
    """Return what stands over a place: chapter, heading, the items that it is a part of, more."""
    over = [*section.path[-1:], section.heading, _opening(section.text, start)]
    over += _items_over(section.text, start)
    return tuple(dict.fromkeys(w for w in (*over, *more) if w))


_OPENING = re.compile(r"[^.:;|]{20,200}(?=[.:;])")


def _opening(text: str, start: int) -> str:
    """Return how a section begins, which often says where it applies: "within the R-3 District …"."""
    match = _OPENING.match(text)
    return " ".join(match.group().split()) if match and match.end() < start else ""


_ITEM = re.compile(r"^([ \t]*)\(?(?:[A-Za-z]{1,4}|\d{1,3})[).]\s+\S.*$", re.MULTILINE)


def _items_over(text: str, start: int) -> list[str]:
    """Return the numbered items that a place is a part of, the outermost first, each cut short."""
    over: list[str] = []
    indent = 1_000
    for match in reversed(list(_ITEM.finditer(text, 0, start))):
        if len(match[1]) < indent:
            indent = len(match[1])
            over.append(match.group().strip()[:160])
        if indent == 0 or len(over) == 4:
            break
    return over[::-1]


_SENTENCE_END = re.compile(
    r"(?<!sq)(?<!ft)(?<!\bno)(?<!\bSec)[.;]\s+(?=[A-Z(\d])|\n\s*\n|\n(?=\s*\(?\w{1,4}[).]\s)|[|]",
    re.IGNORECASE,
)


def _label_before(text: str, floor: int, start: int) -> Span:
    """Return the words before a rule that say what it is about: the item's or sentence's beginning."""
    begin = max(floor, start - LONGEST_LABEL)
    if begin > floor:  # not in the middle of a word
        begin = text.find(" ", begin, start) + 1 or begin
    for end in _SENTENCE_END.finditer(text, begin, start):
        begin = end.end()
    # In tables that have lost their lines, a label follows on the last cell's amount.
    for token in tokens_of(text[begin:start], begin):
        after = text[token.end : start].lstrip()
        if token.kind == "amount" and token.unit and after[:1].isupper():
            begin = token.end
    if begin == floor and (name := re.search(r"\b[A-Z]", text[begin:start])):
        begin += name.start()  # what stands before it belongs to the rule before
    words = text[begin:start]
    remark = re.match(r"\s*(?:\([^)]*\)|[^()]*\))\s*", words)
    begin += remark.end() if remark else len(words) - len(words.lstrip())
    kept = text[begin:start].rstrip(" :–—-\n")
    return Span(start=begin, end=begin + len(kept))


def _unread(text: str, end: int) -> str:
    """Return what follows a rule in its sentence."""
    rest = text[end : end + 400]
    stop = re.search(r"(?<!sq)(?<!ft)[.;](?:\s|$)|\n\s*\n|[|]", rest)
    rest = rest[: stop.start()] if stop else rest
    rest = rest.strip(" ,.;*\n")
    return "" if not rest or rest[0].isupper() or rest[0] == "(" else " ".join(rest.split())


# ------------------------------------------------------------------ prose


def _without(text: str, spans: Sequence[Span]) -> str:
    """Return the text with stretches blanked, so that places stay and sentences end there."""
    for span in spans:
        text = text[: span.start] + "\n" * len(span) + text[span.end :]
    return text


def _rules_in(tokens: Sequence[Token], bare: str | None) -> Iterator[Rule]:
    """Yield the rules that begin anywhere among the tokens, without those that add to another."""
    i = 0
    while i < len(tokens):
        read = None
        if tokens[i].kind == "amount" or tokens[i].text == "multiply":
            before = tokens[i - 1].text if i else ""
            read = None if before in ("plus", "by", "additional") else rule_at(tokens, i, bare)
        if read is None:
            i += 1
            continue
        rule, i = read
        yield rule


def _of_prose(section: StoredSection, prose: str) -> Iterator[Calculator]:
    bare = "space" if _PARKING.search(section.heading) else None
    floor = 0
    banded: list[tuple[Rule, Span, When]] = []
    for rule in _rules_in(tokens_of(prose), bare):
        label = _label_before(prose, floor, rule.span.start)
        nameless = floor and not len(label) and not prose[floor : rule.span.start].strip()
        floor = rule.span.end
        if nameless:
            continue  # the next column of a table that has lost its lines
        band = _band(label.of(prose), rule)
        if band is not None:
            banded.append((rule, label, band))
        else:
            # What a share or a rate is of stands before it: both are one quote.
            found = _beside(prose, label.start, rule)
            if found is None:
                continue
            whole = Span(start=min(label.start, found.span.start), end=found.span.end)
            words = label.of(prose)
            if rule.unit != "space":
                # A sentence may say only behind the amount what it is of; a table of uses does not.
                words = f"{words} … {_unread(prose, rule.span.end)}".strip(" …")
            yield _of_rule(section, replace(found, span=whole), " ".join(words.split()))
    yield from _of_bands(section, banded)


def _beside(text: str, start: int, rule: Rule) -> Rule | None:
    """Return the rule with an alternative that stands before it, or None if it is half of a rule."""
    start = min(start, rule.span.start)
    before = tokens_of(text[start : rule.span.start], start)
    return beside(rule, before, tokens_of(text[rule.span.end : rule.span.end + 60]))


def _of_rule(
    section: StoredSection, rule: Rule, label: str, *over: str, titles: Sequence[Cell] = ()
) -> Calculator:
    bindings = [bound_to(section, s) for s in (rule.span, *(c.span for c in titles if c.text))]
    return Calculator(
        title=_title(section, label),
        label=label,
        context=_context(section, rule.span.start, *over),
        unit=rule.unit,
        inputs=rule.inputs,
        steps=rule.steps,
        bindings=tuple(bindings),
        unread=_unread(section.text, rule.span.end),
    )


_BETWEEN = (
    (("least", "most"), r"\b(?:from|between)\s+([\d,.]+)\s+(?:to|and|through)\s+([\d,.]*\d)"),
    (("over",), r"\b(?:more|greater|larger)\s+than\s+([\d,.]*\d)|\bover\s+([\d,.]*\d)"),
    (("least",), r"\b([\d,.]*\d)\s+or\s+(?:more|greater)|\bat\s+least\s+([\d,.]*\d)"),
    (("most",), r"\b([\d,.]*\d)\s+or\s+(?:less|fewer)|\bup\s+to\s+([\d,.]*\d)"),
)
_BANDS = tuple((re.compile(form, re.IGNORECASE), sides) for sides, form in _BETWEEN)


def _band(label: str, rule: Rule) -> When | None:
    """Return between which amounts of its own input a share applies: "where the number … is from 10 to 100"."""
    step = rule.steps[0]
    if (
        len(rule.steps) != 1
        or not isinstance(step, Share)
        or not label.startswith(("Where", "If", "When", "For"))
    ):
        return None
    noun = rule.inputs[0].label.split()[-1].rstrip("s")
    if noun not in label.casefold():
        return None
    for form, sides in _BANDS:
        if match := form.search(label):
            numbers = [Decimal(n.replace(",", "")) for n in match.groups() if n]
            return When(input=step.of, **dict(zip(sides, numbers, strict=True)))  # type: ignore[arg-type]
    return None


def _of_bands(
    section: StoredSection, banded: Sequence[tuple[Rule, Span, When]]
) -> Iterator[Calculator]:
    """Yield one calculator for each input whose amount decides which share applies."""
    inputs = dict.fromkeys(rule.inputs for rule, _, _ in banded)
    for wanted in inputs:
        of_it = [(r, label, w) for r, label, w in banded if r.inputs == wanted]
        steps = [replace(r.steps[0], when=(w,), source=n) for n, (r, _, w) in enumerate(of_it)]
        spans = [Span(start=label.start, end=r.span.end) for r, label, _ in of_it]
        label = " ".join(of_it[0][1].of(section.text).split())
        yield Calculator(
            title=_title(section, ""),
            label=label,
            context=_context(section, spans[0].start),
            unit=of_it[0][0].unit,
            inputs=wanted,
            steps=tuple(steps),
            bindings=tuple(bound_to(section, s) for s in spans),
            unread=_unread(section.text, spans[-1].end),
        )


# ------------------------------------------------------------------ tables


def _of_grid(section: StoredSection, grid: Grid) -> Iterator[Calculator]:
    yield from _of_cells(section, grid)
    yield from _of_sums(section, grid)
    yield from _of_tiers(section, grid)
    yield from _of_lookups(section, grid)


def _of_cells(section: StoredSection, grid: Grid) -> Iterator[Calculator]:
    """Yield the rules that stand in single cells, headers too: some tables have none."""
    groups = dict(
        zip((r.span for r, _ in grid.groups()), (g for _, g in grid.groups()), strict=True)
    )
    for row in grid.rows:
        group = groups.get(row.span, "")
        for column, cell in enumerate(row.cells):
            if column and cell.text and _range(row.cells[0].text) is None:
                yield from _of_cell(section, grid, row, column, group)


def _of_cell(
    section: StoredSection, grid: Grid, row: Row, column: int, group: str
) -> Iterator[Calculator]:
    cell, title = row.cells[column], grid.title(column)
    own = title is not None and title.span == cell.span
    over = [w for w in (group, "" if title is None or own else title.text) if w != row.label]
    named = " ".join((section.heading, *over, row.label))
    bare = "space" if _PARKING.search(named) else None
    titles = [row.cells[0], *([title] if title and not own else [])]
    tokens = _in_cell(tokens_of(cell.text, cell.span.start))
    if ratio := _ratio(section, named, cell.span):
        yield _of_rule(section, ratio, row.label, *over, titles=titles)
        return
    if based := _of_base(section, tokens, row):
        yield _of_rule(
            section, based, _BULLET.sub("; ", row.label).replace(":; ", ": "), *over, titles=titles
        )
        return
    floor = cell.span.start
    for rule in _rules_in(tokens, bare):
        before = section.text[floor : rule.span.start].strip(" :\n")
        if floor > cell.span.start and before and not before[0].isupper():
            continue  # a remark on the rule before
        floor = rule.span.end
        label = f"{row.label}: {before}" if before else row.label
        rest = section.text[rule.span.end : cell.span.end].strip(" .,;*\n")
        found = _beside(section.text[: cell.span.end], cell.span.start, rule)
        if found is None:
            continue
        whole = _of_rule(section, found, " ".join(label.split()), *over, titles=titles)
        yield replace(whole, unread=" ".join(rest.split())[:400])


def _in_cell(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens of a cell, where a capital is a name's and ends nothing but a sentence."""
    before = ["", *(t.text for t in tokens)]
    return [replace(t, capital=t.capital and before[n].endswith(".")) for n, t in enumerate(tokens)]


_BASES = re.compile(
    r"(?:[A-Z][A-Za-z ]{3,40}?\s?[-–—:]\s?\$[\d,.]*\d\s*)+(?=[A-Z][A-Za-z ]{3,40}?\s(?P<for>for)\sthe\sfirst\s)"
)


def _of_base(section: StoredSection, tokens: Sequence[Token], row: Row) -> Rule | None:
    """Return the rule of "Minimum fee - $170 … Minimum fee for the first $5,000; plus $2.60 for each …".

    Where several such amounts stand there, they are those of as many items of the row's label.
    """
    if not tokens:
        return None
    text = section.text[: tokens[-1].end]
    match = _BASES.search(text, tokens[0].start)
    if match is None:
        return None
    amounts = [Decimal(a.replace(",", "")) for a in re.findall(r"\$([\d,.]*\d)", match.group())]
    at = next(i for i, t in enumerate(tokens) if t.start == match.start("for"))
    read = rule_upon(tokens, at, amounts[0], "dollar")
    if read is None:
        return None
    rule = replace(read[0], span=Span(start=match.start(), end=read[0].span.end))
    if len(amounts) == 1:
        return rule
    items = _BULLET.split(row.label)[1:][-len(amounts) :]
    return _by_item(rule, amounts, items) if len(items) == len(amounts) else None


def _by_item(rule: Rule, amounts: Sequence[Decimal], items: Sequence[str]) -> Rule:
    choice = Input(name="kind", unit=None, label="kind", choices=tuple(items))
    bases = [
        Fixed(amount=amount, unit="dollar", when=(When(input="kind", one_of=(item,)),))
        for amount, item in zip(amounts, items, strict=True)
    ]
    return replace(rule, inputs=(choice, *rule.inputs), steps=(*bases, *rule.steps[1:]))


# ------------------------------------------------------------------ rows that are summed


def _of_sums(section: StoredSection, grid: Grid) -> Iterator[Calculator]:
    """Yield the sum over rows of one number for each thing counted: stalls for each kind of dwelling."""
    run: list[Row] = []
    before: list[str] = []  # the first cells of the rows above, the nearest last
    for row, _ in (*grid.groups(), (None, "")):
        numbers = _numbers(row) if row else ()
        if row is not None and numbers and (not run or len(numbers) == len(_numbers(run[0]))):
            run.append(row)
            continue
        if len(run) > 1 and (summed := _sum(section, grid, run, " ".join(before[-2:]))):
            yield summed
        before = [*(before if not run else []), row.label if row else ""]
        run = []


def _numbers(row: Row) -> tuple[Decimal, ...]:
    """Return the numbers of a row that has nothing but a label and numbers."""
    values = [c.bare for c in row.filled[1:]]
    plain = bool(values) and row.filled[0] is row.cells[0] and row.filled[0].bare is None
    return tuple(v for v in values if v is not None) if plain and None not in values else ()


def _sum(section: StoredSection, grid: Grid, rows: Sequence[Row], over: str) -> Calculator | None:
    title = grid.title(1)
    named = " ".join((section.heading, over, title.text if title else ""))
    values = [_numbers(row) for row in rows]
    # One number a row, or the last one is the sum of the others.
    total = len(values[0]) == 1 or all(sum(v[:-1]) == v[-1] for v in values)
    if not _PARKING.search(named) or not total or any(v[-1] > 100 for v in values):
        return None
    labels = [row.label for row in rows]
    pairs = [(label, v[-1]) for label, v in zip(labels, values, strict=True)]
    context = _context(section, rows[0].span.start, over, title.text if title else "")
    return _summed(section, pairs, [r.span for r in rows], over or "; ".join(labels), context)


def _summed(
    section: StoredSection,
    pairs: Sequence[tuple[str, Decimal]],
    spans: Sequence[Span],
    label: str,
    context: tuple[str, ...],
) -> Calculator:
    inputs = [
        Input(name=slug(words), unit="each", label=words, optional=True) for words, _ in pairs
    ]
    steps = [
        Rate(amount=value, unit="space", of=(i.name,), source=n)
        for n, (i, (_, value)) in enumerate(zip(inputs, pairs, strict=True))
    ]
    return Calculator(
        title=_title(section, " ".join(label.split())),
        label=" ".join((label, *(words for words, _ in pairs))),
        context=context,
        unit="space",
        inputs=tuple(inputs),
        steps=tuple(steps),
        bindings=tuple(bound_to(section, s) for s in spans),
    )


_RUN_IN = re.compile(
    r"\s(?P<label>[A-Z][a-z][\w,'’/() -]{1,70}?)\s(?P<value>\d{1,2}\.\d{2})(?=\s[A-Z]|\s*$)"
)


def _run_in_rows(prose: str) -> Iterator[list[re.Match[str]]]:
    """Yield the rows of tables that have lost their lines: "One bedroom 1.50 Two bedrooms 2.00"."""
    run: list[re.Match[str]] = []
    for match in (*_RUN_IN.finditer(prose), None):
        if match and run and match.start() == run[-1].end():
            run.append(match)
            continue
        if len(run) > 1:
            yield run
        run = [match] if match else []


def _run_in_sum(
    section: StoredSection, prose: str, run: Sequence[re.Match[str]]
) -> Iterator[Calculator]:
    before = prose[max(0, run[0].start() - LONGEST_LABEL) : run[0].start("value")]
    if not _PARKING.search(before):
        return
    starts = [m.start("label") for m in run]
    # The first label has the table's header before it, each word of which has a capital.
    tail = re.search(r"[A-Z][^A-Z]*$", run[0]["label"])
    starts[0] += tail.start() if tail else 0
    spans = [Span(start=s, end=m.end("value")) for s, m in zip(starts, run, strict=True)]
    labels = [prose[s : m.end("label")] for s, m in zip(starts, run, strict=True)]
    pairs = [(label, Decimal(m["value"])) for label, m in zip(labels, run, strict=True)]
    over = _label_before(prose, 0, run[0].start()).of(prose)
    yield _summed(section, pairs, spans, over, _context(section, spans[0].start))


# ------------------------------------------------------------------ tiers and look-ups

_AMOUNT = r"\$?([\d,.]*\d)"
_RANGES = (
    (("least", "most"), rf"{_AMOUNT}\s*(?:to|through|[-–—])\s*{_AMOUNT}\s*(?P<unit>.*)"),
    (
        ("over", "most"),
        (
            rf"(?:over|more\s+than|above)\s+{_AMOUNT}\s*"
            rf"(?:to|up\s+to|through|but\s+not\s+(?:over|more\s+than))\s*{_AMOUNT}\s*(?P<unit>.*)"
        ),
    ),
    (
        ("least",),
        rf"{_AMOUNT}\s*(?P<unit>\D{{0,15}}?)\s*(?:and|or)\s+(?:up|over|more|above|larger|greater)\.?",
    ),
    (("over",), rf"(?:over|more\s+than|above)\s+{_AMOUNT}\s*(?P<unit>\D*)"),
    (("most",), rf"(?:up\s+to|less\s+than|under)\s+{_AMOUNT}\s*(?P<unit>\D*)"),
)
_TIERS = tuple((re.compile(form, re.IGNORECASE), sides) for sides, form in _RANGES)


def _range(text: str) -> tuple[str, dict[str, Decimal]] | None:
    """Return the unit and the ends of "$501 to $2,000"; None of any other words."""
    for form, sides in _TIERS:
        if match := form.fullmatch(text.strip()):
            named = tokens_of(match["unit"])
            if len(named) > 1 or (named and named[0].kind != "unit"):
                return None
            unit = "dollar" if "$" in text else named[0].unit if named else None
            numbers = [Decimal(n.replace(",", "")) for n in match.groups()[: len(sides)]]
            return (unit, dict(zip(sides, numbers, strict=True))) if unit else None
    return None


def _of_tiers(section: StoredSection, grid: Grid) -> Iterator[Calculator]:
    """Yield the calculator of a table whose first column says from where to where each row applies."""
    for column in range(1, max(len(row.cells) for row in grid.rows)):
        rows = [r for r in grid.rows if len(r.cells) > column and _range(r.cells[0].text)]
        steps: list[Step] = []
        for n, row in enumerate(rows):
            steps += _tier(row, column, n)
        units = {
            s.unit for s in steps if not isinstance(s, Round | Share | Bound) and s.kind != "either"
        }
        steps = _closed(steps)
        if len({s.source for s in steps}) < 2 or len(units) != 1:
            continue
        read = _range(rows[0].cells[0].text)
        assert read is not None
        first, title = grid.rows[0].cells[0], grid.title(column)
        label = first.text if grid.headers and first.text else "amount"
        yield Calculator(
            title=_title(section, title.text if title else label),
            label=" ".join((label, title.text if title else "")),
            context=_context(section, rows[0].span.start),
            unit=units.pop(),
            inputs=(Input(name="amount", unit=read[0], label=label),),
            steps=tuple(steps),
            bindings=tuple(bound_to(section, r.span) for r in rows),
        )


def _closed(steps: Sequence[Step]) -> list[Step]:
    """Return tiers without the gaps of whole units: "$1 to $500" and "$501 to $2,000" leave none."""
    tops = {w.most for s in steps for w in s.when if w.most is not None}
    closed: list[Step] = []
    for step in steps:
        (when,) = step.when
        below = [t for t in tops if when.least is not None and 0 < when.least - t <= 1]
        if below:
            when = replace(when, least=None, over=max(below))
        closed.append(replace(step, when=(when,)))
    return closed


def _tier(row: Row, column: int, source: int) -> list[Step]:
    read = _range(row.cells[0].text)
    tokens = tokens_of(row.cells[column].text, row.cells[column].span.start)
    if read is None or not tokens:
        return []
    when = (When(input="amount", **read[1]),)  # type: ignore[arg-type]
    amount = tokens[0]
    if len(tokens) == 1 and amount.value is not None and amount.unit:
        return [Fixed(amount=amount.value, unit=amount.unit, source=source, when=when)]
    rule = rule_at(tokens, 0, None)
    if rule is None or rule[1] < len(tokens) - 1 or len(rule[0].inputs) != 1:
        return []
    steps: list[Step] = []
    for step in rule[0].steps:
        named = replace(step, of=("amount",)) if isinstance(step, Rate) else step
        steps.append(replace(named, source=source, when=when))
    return steps


def _of_lookups(section: StoredSection, grid: Grid) -> Iterator[Calculator]:
    """Yield the calculator that looks a row up, for each column of plain amounts in one unit."""
    for column in range(1, max(len(row.cells) for row in grid.rows)):
        rows = [(r, a) for r in grid.rows[grid.headers :] if (a := _plain(r, column))]
        units = {amount.unit for _, amount in rows}
        labels = [" ".join(r.label.split()) for r, _ in rows]
        title = grid.title(column)
        if not 2 <= len(rows) <= MOST_CHOICES or len(units) != 1 or len(set(labels)) < len(rows):
            continue
        if title is None:
            continue  # nobody says what the amounts are
        unit = units.pop()
        assert unit is not None
        what = grid.rows[0].cells[0].text if grid.headers else ""
        yield Calculator(
            title=_title(section, title.text),
            label=" ".join((title.text, *labels)),
            context=_context(section, rows[0][0].span.start, what),
            unit=unit,
            inputs=(Input(name="row", unit=None, label=what or "row", choices=tuple(labels)),),
            steps=tuple(
                _row_of(a, unit, n, label)
                for n, ((_, a), label) in enumerate(zip(rows, labels, strict=True))
            ),
            bindings=tuple(bound_to(section, r.span) for r, _ in rows),
        )  # fmt: skip


def _row_of(amount: Token, unit: str, source: int, label: str) -> Fixed:
    when = When(input="row", one_of=(label,))
    return Fixed(amount=amount.value or Decimal(0), unit=unit, source=source, when=(when,))


def _plain(row: Row, column: int) -> Token | None:
    """Return the amount of a cell that holds nothing else, in a row with a label."""
    if len(row.cells) <= column or not row.label or _range(row.label):
        return None
    tokens = tokens_of(row.cells[column].text)
    known = (
        len(tokens) == 1 and tokens[0].kind == "amount" and tokens[0].unit not in (None, "percent")
    )
    return tokens[0] if known else None


# ------------------------------------------------------------------ floor area ratios

_SQFT = r"(?:square\s+feet|sq\.?\s*ft\.?)"
_STEPPED = re.compile(
    rf"(?P<low>\d?\.\d+|\d)\s+for\s[^.|;]{{0,60}}?(?:less\s+than(?:\s+or\s+equal\s+to)?|up\s+to|not\s+more\s+than)\s+"
    rf"(?P<edge>[\d,]+)\s+{_SQFT},?\s+plus\s+(?P<high>\d?\.\d+|\d)\s+(?:for|of)\s[^.|;]{{0,80}}?"
    rf"(?:over|above|in\s+excess\s+of|exceeding)\s+(?P=edge)\s+{_SQFT}",
    re.IGNORECASE,
)  # fmt: skip
_STATED = re.compile(
    r"floor[\s-]area\s+ratio(?:\s*\(FAR\))?[^.;|\d]{0,60}?(?:shall\s+(?:be|not\s+exceed)|is|of|:)\s*(?P<ratio>\d?\.\d+|\d\.\d+)\b(?!\s*(?:feet|percent|%))",
    re.IGNORECASE,
)
_LOT = Input(name="lot_area", unit="sqft", label="lot area")


def _ratio(section: StoredSection, named: str, span: Span) -> Rule | None:
    """Return the floor area that a cell allows by the area of the lot, where a table is of ratios."""
    if not _RATIO.search(named):
        return None
    cell = span.of(section.text)
    if match := _STEPPED.search(cell):
        edge = Decimal(match["edge"].replace(",", ""))
        low, high = Decimal(match["low"]), Decimal(match["high"])
        steps = (
            Share(share=low, of="lot_area", up_to=edge),
            Share(share=high, of="lot_area", above=edge),
        )
        own = Span(start=span.start + match.start(), end=span.start + match.end())
        return Rule(unit="sqft", inputs=(_LOT,), steps=steps, span=own)
    if re.fullmatch(r"\d?\.\d+|\d\.\d+", cell):
        step = Share(share=Decimal("0" + cell if cell[0] == "." else cell), of="lot_area")
        return Rule(unit="sqft", inputs=(_LOT,), steps=(step,), span=span)
    return None


def _of_ratio_sentences(section: StoredSection, prose: str) -> Iterator[Calculator]:
    for match in _STATED.finditer(prose):
        ratio = match["ratio"]
        step = Share(share=Decimal("0" + ratio if ratio[0] == "." else ratio), of="lot_area")
        span = Span(start=match.start(), end=match.end())
        rule = Rule(unit="sqft", inputs=(_LOT,), steps=(step,), span=span)
        label = _label_before(prose, 0, match.start())
        above = prose[max(0, label.start - LONGEST_ABOVE) : label.start]
        words = " ".join(f"{label.of(prose)} {match.group()}".split())
        yield _of_rule(section, rule, words, " ".join(above.split()))


# ------------------------------------------------------------------ caps and fractions

_CAP = re.compile(
    r"\bin\s+no\s+(?:case|event)\s+shall\s+(?P<side>more|less|fewer)\s+than\s+(?P<amount>[^.;|]{1,60})",
    re.IGNORECASE,
)


def _capped(calculator: Calculator, section: StoredSection) -> Calculator:
    """Return the calculator with "in no case shall more than …" of its section, where units agree."""
    for match in _CAP.finditer(section.text):
        tokens = tokens_of(match["amount"])
        amount = tokens[0] if tokens else None
        if amount is None or amount.value is None or not amount.unit or amount.unit == "percent":
            continue
        if not alike(amount.unit, calculator.unit):
            continue
        span = Span(start=match.start(), end=match.start("amount") + amount.end)
        side = "most" if match["side"].casefold() == "more" else "least"
        step = Bound(
            side="most" if side == "most" else "least", amount=amount.value, unit=amount.unit,
            source=len(calculator.bindings),
        )  # fmt: skip
        calculator = replace(
            calculator,
            steps=(*calculator.steps, step),
            bindings=(*calculator.bindings, bound_to(section, span)),
        )
    return calculator


def _rounded(
    calculator: Calculator, section: StoredSection, roundings: Sequence[Rounding]
) -> Calculator:
    """Return the calculator with what its code says of a fraction of a space."""
    if calculator.unit != "space":
        return calculator
    near = [(r, d) for r in roundings if (d := _distance(section, r)) is not None]
    if not near:
        return calculator
    nearest, _ = min(near, key=lambda pair: pair[1])
    step = replace(nearest.rule.step, source=len(calculator.bindings))
    return replace(
        calculator,
        steps=(*calculator.steps, step),
        bindings=(*calculator.bindings, nearest.binding),
    )


def _distance(section: StoredSection, rounding: Rounding) -> int | None:
    """Return how far off a rule on fractions stands: 0 in the section; None if its scope is another."""
    other = rounding.section
    if other.id == section.id:
        return 0
    shared = 0
    for mine, its in zip(section.path, other.path, strict=False):
        if mine != its:
            break
        shared += 1
    reach = _reach(rounding.rule.scope, other.path)
    return 1 + len(other.path) - shared if reach and shared >= reach else None


def _reach(scope: str, path: Sequence[str]) -> int:
    """Return how many steps of the path a section must share to be in the scope; 0: none can be."""
    if scope in ("section", "subsection"):
        return 0
    named = (
        n for n, step in enumerate(path, start=1) if scope and step.casefold().startswith(scope)
    )
    whole = 1 if scope in ("title", "ordinance", "code") else len(path)
    return next(named, whole)

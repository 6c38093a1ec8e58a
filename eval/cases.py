"""The questions with known answers: JSON lines in, frozen records out.  Pure.

Two forms are read.  Our own names its gold by the corpus records' ids:

    {"id", "city", "kind", "question", "gold": [["id", "equivalent id"], ["second needed id"]],
     "facts": [], "facts_alt" or "facts_norm": [], "answerable", "offset_hint(s)", …}

The other, of a published zoning set, names its gold by citation and keeps its
expectations in "expect".  A line that is neither is an error with file and line:
a case that is dropped in silence would raise every score.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType

from appliance.domain import CityId, parse_city_id
from appliance.errors import BadRequest

Groups = tuple[tuple[str, ...], ...]  # every group is needed; any entry of a group satisfies it
_NO_HINTS: Mapping[str, tuple[int, ...]] = MappingProxyType({})


class CaseError(BadRequest):
    """A case file, or a line of it, is not in a form that is known."""

    def __init__(self, name: str, line: int | None, why: str) -> None:
        self.name = name
        self.line = line
        self.why = why
        super().__init__(f"{name}: {why}" if line is None else f"{name}:{line}: {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldIds:
    """Gold named by the corpus records' ids, which are unique in a city."""

    groups: Groups


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldCitations:
    """Gold named by citations, which several records of a city may bear: any of them will do."""

    groups: Groups


Gold = GoldIds | GoldCitations


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A string that a right answer contains, and the other forms that are as good."""

    text: str
    alternates: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[str, ...]:
        """Return every accepted form."""
        return (self.text, *self.alternates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question with what is known of its right answer."""

    id: str
    city: CityId
    kind: str  # quantitative | procedural | multi | unanswerable | …
    question: str
    gold: Gold
    facts: tuple[Fact, ...]
    answerable: bool  # False: the right outcome is an abstention
    # Where in a giant record the answer stands, in code points; any one of the offsets will do.
    hints: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: _NO_HINTS)
    gold_held: bool = True  # False: the file itself says that the corpus lacks the gold
    shared: str | None = None  # the same words are asked of several cities
    near: tuple[str, ...] = ()  # plausible ids that do not answer it
    as_of: date | None = None  # None: today


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalCase:
    """A question whose answer an enacted law changed."""

    question_case: Case  # its gold is the amended section
    section: str  # external id of the section that was amended
    law: str  # external id of the law that amended it
    before: date  # a day on which the section said the old thing
    after: date  # a day on which the law had taken effect
    effective: date  # the day on which it did


def parse_temporal_cases(text: str, name: str, *, city: CityId) -> tuple[TemporalCase, ...]:
    """Return the cases of a JSON-lines text; `city` is that of cases that name none.

    Raises CaseError.
    """
    cases = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                cases.append(_temporal_case(_line(line), city))
            except _Unfit as error:
                raise CaseError(name, number, str(error)) from error
    if not cases:
        raise CaseError(name, None, "holds no case")
    return tuple(cases)


def _temporal_case(row: _Row, city: CityId) -> TemporalCase:
    section = row.text("base_record")
    return TemporalCase(
        question_case=Case(
            id=row.text("id"),
            city=_city(row, "city") if "city" in row else city,
            kind="temporal",
            question=row.text("question"),
            gold=GoldIds(groups=((section,),)),
            facts=(),
            answerable=True,
        ),
        section=section,
        law=row.text("law_record"),
        before=_day(row, "as_of_before"),
        after=_day(row, "as_of_after"),
        effective=_day(row, "effective"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonCase:
    """A question to several cities, with what each city's cell should say."""

    id: str
    question: str
    cells: tuple[Case, ...]  # one a city; answerable: False where its code has nothing


def parse_comparison_cases(text: str, name: str) -> tuple[ComparisonCase, ...]:
    """Return the cases of a JSON-lines text.  Raises CaseError."""
    cases = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                cases.append(_comparison_case(_line(line)))
            except _Unfit as error:
                raise CaseError(name, number, str(error)) from error
    if not cases:
        raise CaseError(name, None, "holds no case")
    return tuple(cases)


def _comparison_case(row: _Row) -> ComparisonCase:
    cells = row.row("cells")
    if set(row.texts("cities")) != {city for city, _ in cells.pairs()}:
        raise _Unfit("field 'cells' must have one for each of 'cities'")
    return ComparisonCase(
        id=row.text("id"),
        question=row.text("question"),
        cells=tuple(_cell(row, city, cells.row(city)) for city in row.texts("cities")),
    )


def _cell(row: _Row, city: str, cell: _Row) -> Case:
    there = "fact" in cell
    ids = cell.texts("gold")
    gold = GoldIds(groups=(ids,) if ids else ())
    if there != bool(ids):
        raise _Unfit(f"the cell of {city} must have gold if it has a fact, and none without")
    try:
        place = parse_city_id(city)
    except ValueError as error:
        raise _Unfit(f"field 'cities': {error}") from error
    return Case(
        id=f"{row.text('id')}/{place}",
        city=place,
        kind="cell",
        question=row.text("question"),
        gold=gold,
        facts=(Fact(text=cell.text("fact"), alternates=cell.texts("fact_norm")),) if there else (),
        answerable=there,
        hints=_hints(cell, gold) if there else _NO_HINTS,
    )


def parse_cases(text: str, name: str) -> tuple[Case, ...]:
    """Return the cases of a JSON-lines text in their order.  Raises CaseError."""
    cases: dict[str, Case] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            case = _parse(line)
        except _Unfit as error:
            raise CaseError(name, number, str(error)) from error
        if case.id in cases:
            raise CaseError(name, number, f"the id {case.id!r} occurs twice")
        cases[case.id] = case
    if not cases:
        raise CaseError(name, None, "holds no case")
    return tuple(cases.values())


class _Unfit(ValueError):
    """Why a line is not a case; becomes a CaseError where file and line are known."""


class _Row:
    """One JSON object, read field by field with the type that is wanted."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def __contains__(self, key: str) -> bool:
        return self._values.get(key) is not None

    def text(self, key: str) -> str:
        value = self._values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise _Unfit(f"field {key!r} must be a text")
        return value

    def flag(self, key: str, default: bool | None = None) -> bool:
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            raise _Unfit(f"field {key!r} must be true or false")
        return value

    def items(self, key: str) -> list[object]:
        value = self._values.get(key, [])
        if not isinstance(value, list):
            raise _Unfit(f"field {key!r} must be a list")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        return _texts(self.items(key), key)

    def row(self, key: str) -> _Row:
        return _row(self._values.get(key), f"field {key!r}")

    def pairs(self) -> Iterable[tuple[str, object]]:
        return self._values.items()

    def get(self, key: str) -> object:
        return self._values.get(key)


def _row(value: object, what: str) -> _Row:
    if not isinstance(value, dict):
        raise _Unfit(f"{what} must be a JSON object")
    return _Row(value)


def _texts(value: object, key: str) -> tuple[str, ...]:
    """Return a string or a list of strings as a tuple."""
    entries = [value] if isinstance(value, str) else value
    if not isinstance(entries, list):
        raise _Unfit(f"field {key!r} must hold texts or lists of texts")
    texts = tuple(e for e in entries if isinstance(e, str) and e.strip())
    if len(texts) != len(entries):
        raise _Unfit(f"field {key!r} must hold texts and none of them empty")
    return texts


def _line(line: str) -> _Row:
    try:
        return _row(json.loads(line), "the line")
    except json.JSONDecodeError as error:
        raise _Unfit(f"not valid JSON: {error.msg}") from error


def _parse(line: str) -> Case:
    row = _line(line)
    case = _zoning_case(row) if "project_description" in row else _own_case(row)
    if case.answerable and not case.gold.groups:
        raise _Unfit("an answerable case needs gold")
    return case


def _own_case(row: _Row) -> Case:
    gold = GoldIds(groups=tuple(_texts(g, "gold") for g in row.items("gold")))
    if not all(gold.groups):
        raise _Unfit("field 'gold' has an empty group")
    return Case(
        id=row.text("id"),
        city=_city(row, "city"),
        kind=row.text("kind"),
        question=row.text("question"),
        gold=gold,
        facts=_facts(row),
        answerable=row.flag("answerable"),
        hints=_hints(row, gold),
        shared=row.text("shared") if "shared" in row else None,
        near=row.texts("near"),
        as_of=_day(row, "as_of") if "as_of" in row else None,
    )


def _zoning_case(row: _Row) -> Case:
    expect = row.row("expect")
    answerable = not expect.flag("should_abstain")
    return Case(
        id=row.text("id"),
        city=_city(row, "jurisdiction_id"),
        kind="zoning" if answerable else "unanswerable",
        question=row.text("project_description"),
        gold=GoldCitations(groups=tuple((c,) for c in expect.texts("must_cite_section_refs"))),
        facts=(),
        answerable=answerable,
        gold_held=row.flag("gold_in_corpus", True) or not answerable,
    )


def _city(row: _Row, key: str) -> CityId:
    try:
        return parse_city_id(row.text(key))
    except _Unfit:
        raise
    except ValueError as error:
        raise _Unfit(f"field {key!r}: {error}") from error


def _day(row: _Row, key: str) -> date:
    try:
        return date.fromisoformat(row.text(key))
    except _Unfit:
        raise
    except ValueError as error:
        raise _Unfit(f"field {key!r} must be a day like 2026-05-31") from error


def _facts(row: _Row) -> tuple[Fact, ...]:
    texts = row.texts("facts")
    keys = [k for k in ("facts_alt", "facts_norm") if k in row]
    if len(keys) == 2:
        raise _Unfit("give 'facts_alt' or 'facts_norm', not both")
    if not keys:
        return tuple(Fact(text=t) for t in texts)
    others = row.items(keys[0])
    if len(others) != len(texts):
        raise _Unfit(f"field {keys[0]!r} must have an entry for each of 'facts'")
    return tuple(
        Fact(text=t, alternates=_texts(o, keys[0])) for t, o in zip(texts, others, strict=True)
    )


def _hints(row: _Row, gold: GoldIds) -> Mapping[str, tuple[int, ...]]:
    """Return the offsets by record; a single 'offset_hint' is about the only gold record."""
    ids = {i for group in gold.groups for i in group}
    if "offset_hints" in row:
        hints = {k: _offsets(v, "offset_hints") for k, v in row.row("offset_hints").pairs()}
        if strange := sorted(set(hints) - ids):
            raise _Unfit(f"field 'offset_hints' names {strange[0]!r}, which is not in 'gold'")
        return MappingProxyType(hints)
    if "offset_hint" not in row:
        return _NO_HINTS
    if len(ids) != 1:
        raise _Unfit("with several gold ids, 'offset_hints' must say which record each is about")
    return MappingProxyType({ids.pop(): _offsets(row.get("offset_hint"), "offset_hint")})


def _offsets(value: object, key: str) -> tuple[int, ...]:
    entries = value if isinstance(value, list) else [value]
    numbers = tuple(e for e in entries if isinstance(e, int) and not isinstance(e, bool) and e >= 0)
    if not numbers or len(numbers) != len(entries):
        raise _Unfit(f"field {key!r} must hold whole numbers from 0")
    return numbers

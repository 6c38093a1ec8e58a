"""What is in the box of a city, what is not, and whether that can be searched.  Pure.

Sections go into a `Tally`, one after the other; the tally and what the store counts make the `Facts`;
`judge` makes a verdict of them, with a reason for each gap, the command that mends it, and a few plain
sentences on what the city's text covers.  Knows no store: probe questions are asked elsewhere, here
is only which they are.

Smallness is not badness: an honest ordinance of three sections is limited, never quarantined.
What quarantines a city are shares of bad data, each with a least number, so that one bad record in
a handful is told and not punished.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise

from appliance.domain import City, Standing, State, StoredSection
from appliance.ports import Finding, Probe, Probed, Refused, Verdict

# ------------------------------------------------------------------ probes


# The everyday questions of the counter; what codes call them stands beside what people do.
PROBES = tuple(
    Probe(name=name, groups=tuple(tuple(group.split()) for group in groups))
    for name, *groups in (
        ("kitchen remodel", "kitchen interior", "remodel alteration renovate repair", "permit"),
        ("building permit", "building", "permit", "required application issue"),
        ("fence", "fence", "height feet permit"),
        ("deck", "deck porch", "permit yard feet setback"),
        ("demolition", "demolition demolish raze", "permit structure building"),
        ("inspection", "inspection inspect", "building construction structure"),
        ("fees", "fee", "permit application schedule"),
        ("accessory dwelling", "accessory secondary", "dwelling", "unit apartment"),
        ("shed", "shed accessory", "building structure"),
        ("sign", "sign", "permit area height"),
        ("pool", "pool", "swimming", "fence barrier yard permit"),
        ("variance", "variance", "board appeal hardship"),
        ("setback", "setback yard", "feet foot", "minimum required"),
        ("parking", "parking", "space", "required minimum"),
        ("home business", "home", "occupation business"),
        ("occupancy", "certificate", "occupancy"),
        ("electrical or plumbing work", "electrical plumbing mechanical", "permit code"),
    )
)


# ------------------------------------------------------------------ the tally

# UTF-8 read as Windows-1252 or Latin-1, and the sign that stands for a lost character.
_DAMAGE = re.compile("Ã[\u0080-\u00bf]|Â[\u00a0-\u00bf]|â€|\ufffd|ï¿½")
# One lost character in a thousand is a scar that most scans have; more make a text that a search
# for its words misses.
_DAMAGED = 1 / 1000
# Shorter texts are the same in many sections of an honest code: "Same as in the R-1 district."
_LONG_ENOUGH = 200

# Building law in the names of titles and chapters: "Title 23 BUILDINGS AND CONSTRUCTION".
_BUILDING = re.compile(
    r"\bbuildings?\b.{0,40}\b(?:codes?|construction|permits?|inspections?|department)\b"
    r"|\bconstruction (?:codes?|permits?)\b|\bdepartment of buildings\b|\bbuilding official\b"
    r"|^\W*(?:(?:title|chapter|article|part)\s+[\w.-]+\W+)?buildings?\W*$",
    re.IGNORECASE,
)
# A zoning code's own section on "Building permits; relation to zoning" is not building law.
_ZONING = re.compile(
    r"\bzon(?:e|es|ing)\b|\bdistricts?\b|\bland[ -]use|\bunified development|\bsetbacks?\b|\byards?\b",
    re.IGNORECASE,
)
# Model codes by name: "Virginia Uniform Statewide Building Code", "2018 International Fire Code".
_TRADE = (
    r"building|residential|fire(?: prevention)?|plumbing|mechanical|electric(?:al)?|fuel gas"
    r"|energy(?: conservation)?|property maintenance|existing building|swimming pool and spa"
    r"|green building standards|life safety|housing|abatement of dangerous buildings"
    r"|construction"
)
_MODEL_CODE = re.compile(
    rf"\b((?:International|Uniform|National|Statewide|State|California|Virginia)"
    rf"(?:\s+(?:Uniform|Statewide|State|Standard))*\s+(?:(?:{_TRADE})\s+)?(?:{_TRADE}))\s+(Codes?)\b",
    re.IGNORECASE,
)
_ADOPTS = re.compile(
    r"\b(?:adopt(?:s|ed|ion|ing)?|incorporated?)\b[^.;]{0,300}\b(?:by (?:this )?reference|hereby|as the)"
    r"|\bhereby\b[^.;]{0,120}\badopt(?:s|ed)?\b|\b(?:is|are) (?:hereby )?adopted\b",
    re.IGNORECASE,
)
# How far from the name of a code the word of its adoption may stand: adoptions are long sentences.
_NEAR = 400

# A text that points to a table, and a table: two cells in a line of Markdown.
_TABLE_NAMED = re.compile(
    r"\b(?:following|accompanying|above|below) table\b|\btable (?:below|above)\b|\btable \d",
    re.IGNORECASE,
)
_TABLE = re.compile(r"^\|[^|\n]*\|[^|\n]*\|", re.MULTILINE)

# "City of Bath", "Ray County": whom a text speaks of.
_PLACE = re.compile(
    r"\b(?i:city|town|village|borough|county) of ((?!The\b)[A-Z][a-z]+(?: [A-Z][a-z]+){0,2})"
    r"|\b((?!The\b)[A-Z][a-z]+(?: [A-Z][a-z]+)?) County\b"
)


@dataclass(slots=True)
class Tally:
    """Counts of a city's sections, each of which is added once."""

    city: City
    today: date
    sections: int = 0
    in_force: int = 0
    dated: int = 0  # in force, with an effective date
    damaged: int = 0  # in force, with more lost characters than a scar
    repeated: int = 0  # in force, with the very text of an earlier one
    building_chapters: int = 0  # sections in force under a chapter of building law
    building_headings: int = 0  # sections in force that are about building permits or codes
    zoning: int = 0  # sections in force about zoning, by chapter or heading
    newest: date | None = None
    tables: int = 0  # sections in force with a table
    tables_named: int = 0  # sections in force that point to one and hold none
    own_name: int = 0  # how often the text names this city, about
    places: Counter[str] = field(default_factory=Counter)
    adopted: Counter[str] = field(default_factory=Counter)  # model codes
    named_codes: Counter[str] = field(default_factory=Counter)
    _texts: set[int] = field(default_factory=set)
    _chapters: dict[tuple[str, ...], Chapter] = field(default_factory=dict)

    def add(self, section: StoredSection) -> None:
        """Count one section of a current version."""
        self.sections += 1
        chapter = self._chapters.setdefault(
            section.path, Chapter(name=" > ".join(section.path) or "the top")
        )
        until = section.effective_until
        alive = section.standing is Standing.IN_FORCE and (until is None or until > self.today)
        chapter.add(section, alive=alive)
        if not alive:
            return
        self.in_force += 1
        self._add_dates(section)
        self._add_subject(section)
        self._add_text(section.text)

    def _add_dates(self, section: StoredSection) -> None:
        if section.effective_from is not None:
            self.dated += 1
            if section.effective_from <= self.today:  # else it is yet to come
                self.newest = max(self.newest or section.effective_from, section.effective_from)

    def _add_subject(self, section: StoredSection) -> None:
        self.building_chapters += any(map(_BUILDING.search, section.path))
        self.building_headings += bool(_BUILDING.search(section.heading))
        self.zoning += any(map(_ZONING.search, (*section.path, section.heading)))

    def _add_text(self, text: str) -> None:
        if not text.strip():
            return
        has_table = bool(_TABLE.search(text))
        self.tables += has_table
        self.tables_named += not has_table and bool(_TABLE_NAMED.search(text))
        self.damaged += len(_DAMAGE.findall(text)) > len(text) * _DAMAGED
        if len(text) >= _LONG_ENOUGH:
            key = hash(text)
            self.repeated += key in self._texts
            self._texts.add(key)
        self.own_name += self.city.name.partition(",")[0].casefold() in text.casefold()
        for place in _PLACE.finditer(text):
            self._add_place(place[1] or place[2])
        for name, adopted in model_codes(text).items():
            self.named_codes[name] += 1
            self.adopted[name] += adopted

    def _add_place(self, place: str) -> None:
        if is_name_of(place, self.city):
            self.own_name += 1
        else:
            self.places[place] += 1

    @property
    def empty(self) -> int:
        """Return how many sections in force have lost their text."""
        return sum(len(self._lost(chapter)) for chapter in self._chapters.values())

    def empty_chapters(self) -> list[str]:
        """Return the chapters all of whose sections have lost their text."""
        return [c.name for c in self._chapters.values() if len(self._lost(c)) == c.sections]

    def _lost(self, chapter: Chapter) -> list[tuple[str, ...]]:
        """Return the sections of a chapter that should have text: a heading over others needs none."""
        return [path for path in chapter.blank if path not in self._chapters]

    def chapters(self) -> Sequence[Chapter]:
        """Return the chapters in the order in which they came."""
        return tuple(self._chapters.values())


def is_name_of(place: str, city: City) -> bool:
    """Tell whether "San Mateo" is the city "San Mateo, CA": by its name or its id."""
    name = place.casefold()
    known = f"{city.name.casefold()} {city.id.replace('-', ' ')}"
    return name in known or any(word in known.split() for word in name.split() if len(word) > 4)


def model_codes(text: str) -> dict[str, bool]:
    """Return the model codes that a text names, with whether it adopts them.

    "Building Code of the State" and the like, which have no name of their own, are not found.
    """
    found: dict[str, bool] = {}
    for match in _MODEL_CODE.finditer(text):
        name = f"{' '.join(match[1].split()).title()} Code"
        near = text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        found[name] = found.get(name, False) or bool(_ADOPTS.search(near))
    return found


# ------------------------------------------------------------------ chapters

# A jump of more than so many steps is the code's own numbering, which leaves room; a smaller one is a
# section that is not here.
_LEAP = 5
_LAST_NUMBER = re.compile(r"(\d+)$")


@dataclass(slots=True)
class Chapter:
    """The sections under one heading of the table of contents."""

    name: str
    sections: int = 0
    blank: list[tuple[str, ...]] = field(
        default_factory=list
    )  # in force, without text of their own
    numbers: dict[str, set[int]] = field(default_factory=dict)  # last numbers by what precedes them

    def add(self, section: StoredSection, *, alive: bool) -> None:
        """Count a section, with its number; a dead one is rightly without text."""
        self.sections += 1
        if alive and not section.text.strip():
            self.blank.append((*section.path, section.heading))
        if section.number and (match := _LAST_NUMBER.search(section.number)):
            self.numbers.setdefault(section.number[: match.start()], set()).add(int(match[1]))

    def missing(self) -> list[str]:
        """Return the numbers that the chapter's own counting leaves out."""
        return [
            f"{prefix}{number}"
            for prefix, numbers in self.numbers.items()
            for number in gaps(numbers)
        ]


def gaps(numbers: Collection[int]) -> list[int]:
    """Return what is left out of a row of numbers that goes on by even steps.

    >>> gaps([10, 20, 30, 50, 60, 100])
    [40, 70, 80, 90]
    """
    row = sorted(numbers)
    steps = Counter(b - a for a, b in pairwise(row))
    if not steps:
        return []
    step, often = steps.most_common(1)[0]
    if often < 3 or often * 2 < len(row):  # no even row: nothing can be said
        return []
    return [
        n
        for a, b in pairwise(row)
        if step < b - a <= _LEAP * step and (b - a) % step == 0
        for n in range(a + step, b, step)
    ]


# ------------------------------------------------------------------ the facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that a verdict is made of."""

    city: City
    documents: int
    chunks: int  # searchable ones
    fetched: datetime | None  # the newest time of fetching
    tally: Tally
    refused: tuple[Refused, ...]
    probed: tuple[Probed, ...]
    claimed: bool = False  # a person said by `--city` that it is this city's

    @property
    def rejected(self) -> int:
        """Return the records turned away, a shared file's by the city's share of it."""
        return round(
            sum(r.rejected * r.held / max(1, r.of_all) for r in self.refused if not r.barren)
        )

    @property
    def rejections(self) -> Counter[str]:
        """Return the reasons for turning records away, with their counts."""
        found: Counter[str] = Counter()
        for refused in self.refused:
            found.update(refused.reasons)
        return found

    @property
    def empty_chapters(self) -> list[str]:
        """Return the chapters whose sections have all lost their text."""
        return self.tally.empty_chapters()

    @property
    def missing(self) -> list[str]:
        """Return the section numbers that the chapters' own counting leaves out."""
        return [number for c in self.tally.chapters() for number in c.missing()]

    @property
    def unanswered(self) -> list[str]:
        """Return the probes that no passage answers to."""
        return [p.probe for p in self.probed if not p.hits]


# ------------------------------------------------------------------ the verdict


def judge(facts: Facts) -> Verdict:
    """Return the verdict: as bad as its worst finding, live without any."""
    findings = sorted(
        (*_bad_data(facts), *_gaps(facts)), key=lambda f: f.state is not State.QUARANTINED
    )
    return Verdict(
        state=findings[0].state if findings else State.LIVE,
        findings=tuple(findings),
        coverage=coverage_text(facts),
    )


# A share beyond the second number quarantines, one beyond the first limits; both only from the least
# number of sections on.  The worst of 36 honest codes: 0.2 % of the sections without text, 0.7 % of
# the records rejected, 0.6 % of the sections damaged, 3 % repeated (rules that every district has).
_LEAST = 5
_REJECTED = (0.02, 0.20)
_EMPTY = (0.10, 0.50)
_DAMAGE_SHARE = (0.02, 0.20)
_REPEATED = (0.20, 0.50)
# A law names its own place now and then; one that never does, and another one this often, is the
# other one's.
_FOREIGN_NAMES = 20


def _bad_data(facts: Facts) -> Iterable[Finding]:
    tally, city = facts.tally, facts.city.id
    again = _again(facts)
    if not facts.chunks:
        yield _quarantine("nothing of it has text that can be searched", again)
    rejected = facts.rejected
    if state := _how_bad(rejected, rejected + facts.documents, _REJECTED):
        why, _ = facts.rejections.most_common(1)[0]
        yield Finding(
            state=state,
            reason=f"{_share(rejected, rejected + facts.documents)} of the records were turned away "
            f"({rejected:,} of {rejected + facts.documents:,}; most often: {why})",
            fix=f"permitbox gate {_worst_file(facts)}",
        )
    for count, limits, what in (
        (tally.empty, _EMPTY, "have a heading but no text"),
        (tally.damaged, _DAMAGE_SHARE, "hold letters that were decoded wrongly"),
        (tally.repeated, _REPEATED, "repeat another section word for word"),
    ):
        if state := _how_bad(count, tally.in_force, limits):
            share = _share(count, tally.in_force)
            yield Finding(
                state=state,
                reason=f"{share} of the sections in force {what} ({count:,} of {tally.in_force:,})",
                fix=again,
            )
    if foreign := _foreign(tally):
        yield Finding(
            # Whoever gives a city by `--city` knows what they read: it is said, not refused.
            state=State.LIMITED if facts.claimed else State.QUARANTINED,
            reason=f"the text is another place's: it names {foreign} {tally.places[foreign]:,} times "
            f"and {facts.city.name} never",
            fix=f"{again} --city {city}",
        )


def _again(facts: Facts) -> str:
    return f"permitbox ingest {facts.refused[0].file if facts.refused else 'FILE'}"


def _quarantine(reason: str, fix: str) -> Finding:
    return Finding(state=State.QUARANTINED, reason=reason, fix=fix)


def _how_bad(count: int, of: int, limits: tuple[float, float]) -> State | None:
    limited, quarantined = limits
    if count < _LEAST or count <= limited * of:
        return None
    return State.QUARANTINED if count > quarantined * of else State.LIMITED


def _share(count: int, of: int) -> str:
    percent = 100 * count / max(1, of)
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.1f} %"


def _worst_file(facts: Facts) -> str:
    return max(facts.refused, key=lambda r: r.rejected).file


def _foreign(tally: Tally) -> str | None:
    if tally.own_name or not tally.places:
        return None
    place, often = tally.places.most_common(1)[0]
    # One name out of many is a neighbour that is spoken of; the text's own place is most of them.
    mostly = often * 2 > tally.places.total()
    return place if mostly and often >= _FOREIGN_NAMES else None


# Publishers drop reserved numbers: an honest code leaves out up to 16 % that way.
_MISSING = 0.25


def _gaps(facts: Facts) -> Iterable[Finding]:
    tally = facts.tally
    again = _again(facts)
    more = f"permitbox ingest FOLDER --city {facts.city.id}"
    if any(r.barren for r in facts.refused):
        file = next(r.file for r in facts.refused if r.barren)
        yield _limit(
            "the last reading of a file brought nothing but rejected records; the text before it stands",
            f"permitbox gate {file}",
        )
    subjects = subjects_of(tally)
    if "building permits and construction" not in subjects:
        held = " and ".join(subjects) or "other law"
        yield _limit(f"{held} only: no chapter on building permits and construction", more)
    elif "zoning" not in subjects:
        yield _limit("no zoning law", more)
    if facts.unanswered:
        yield _limit(f"no passage on {', '.join(facts.unanswered)}", more)
    if tally.in_force and tally.dated * 2 < tally.in_force:
        none = "no section says" if not tally.dated else "most sections do not say"
        yield _limit(f"{none} since when it is law", more)
    if chapters := facts.empty_chapters:
        yield _limit(f"{_counted(chapters, 'chapter')} without any text: {_some(chapters)}", more)
    missing = facts.missing
    if len(missing) >= _LEAST and len(missing) > _MISSING * facts.tally.sections:
        yield _limit(
            f"{_counted(missing, 'section number')} are left out by the numbering: {_some(missing)}",
            more,
        )
    if tally.tables_named >= _LEAST and tally.tables * 10 < tally.tables_named:
        yield _limit(
            f"tables lost: {tally.tables_named:,} sections point to a table, {tally.tables or 'none'} "
            "of the sections has one",
            again,
        )
    if codes := adopted_codes(tally):
        yield _limit(f"adopted by reference, text not in this box: {_some(codes)}", more)


def _limit(reason: str, fix: str) -> Finding:
    return Finding(state=State.LIMITED, reason=reason, fix=fix)


def _counted(things: Sequence[str], noun: str) -> str:
    return f"{len(things):,} {noun}{'s' if len(things) != 1 else ''}"


def _some(things: Sequence[str], most: int = 4) -> str:
    more = len(things) - most
    return ", ".join(things[:most]) + (f" and {more:,} more" if more > 0 else "")


# ------------------------------------------------------------------ what it covers

# A code with a share below this has a chapter on zoning at best in a neighbour's name.
_ZONING_SHARE = 0.05
# A whole city code says on building permits more than one heading; a zoning code, where each section
# is about zoning, has some such headings without being building law.
_BUILDING_HEADINGS = 2
_MOSTLY_ZONING = 0.5


def subjects_of(tally: Tally) -> list[str]:
    """Return which of the two laws of a permit are held: zoning, building permits and construction."""
    zoning = tally.zoning / max(1, tally.in_force)
    held = []
    if zoning >= _ZONING_SHARE or tally.zoning >= 20:
        held.append("zoning")
    several = min(_BUILDING_HEADINGS, max(1, tally.in_force // 10))
    headings = tally.building_headings >= several and zoning < _MOSTLY_ZONING
    if tally.building_chapters >= several or headings:
        held.append("building permits and construction")
    return held


def adopted_codes(tally: Tally) -> list[str]:
    """Return the model codes that the city adopts and that no chapter of it holds, most named first."""
    chapters = " ".join(c.name for c in tally.chapters()).casefold()
    adopted = [name for name, count in tally.adopted.most_common() if count]
    return _distinct(name for name in adopted if name.casefold() not in chapters)


def _distinct(names: Iterable[str]) -> list[str]:
    """Return the names without those that are another one's end: "Uniform Statewide Building Code"."""
    kept = list(names)
    return [n for n in kept if not any(o != n and o.endswith(n) for o in kept)]


def coverage_text(facts: Facts) -> str:
    """Return a few plain sentences: topics in, topics out, newest date, what is not in the box."""
    tally = facts.tally
    found = [p.probe for p in facts.probed if p.hits]
    sentences = [_subjects_text(subjects_of(tally))]
    if found:
        sentences.append(f"Passages on {', '.join(found)}")
    if facts.unanswered:
        sentences.append(f"None on {', '.join(facts.unanswered)}")
    newest = f"Newest law of {tally.newest}" if tally.newest else "Law undated"
    sentences.append(f"{newest}, fetched {facts.fetched:%Y-%m-%d}" if facts.fetched else newest)
    adopted = adopted_codes(tally)
    if adopted:
        sentences.append(f"Adopted by reference, text not in this box: {_some(adopted)}")
    elsewhere = _distinct(n for n, _ in tally.named_codes.most_common() if n not in adopted)
    if elsewhere:
        sentences.append(f"Refers also to: {_some(elsewhere, 3)}")
    return ". ".join(sentences) + "."


def _subjects_text(subjects: Sequence[str]) -> str:
    match list(subjects):
        case []:
            return "Neither zoning nor building law"
        case [only]:
            return f"{only[0].upper()}{only[1:]} only"
        case several:
            text = " and ".join(several)
            return f"{text[0].upper()}{text[1:]}"

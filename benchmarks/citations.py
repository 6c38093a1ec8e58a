"""Citations with known labels, made of the law in the box: does the verifier tell true from false?

Half are true: windows of a section's words, written as people copy them.  The others are false in one
known way each.  Whether a false one is true by chance (the same sentence stands under the other number)
is said by a look into the stored text that shares nothing with the verifier; such ones are left out.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from psycopg import AsyncConnection

from appliance.corpus.references import parse_citation
from appliance.domain import CityId
from appliance.errors import BadRequest
from appliance.ports import Searcher
from appliance.store.database import Pool, connected
from appliance.verify import ClaimLine, Verifier, open_verifier

LEAST_KEPT = 0.995  # of the true ones
_LEAST, _MOST = 150, 60_000  # code points of a section that is quoted
_FEWEST_WORDS, _MOST_WORDS = 7, 30  # of a quote
_TRIES = 40  # for one citation, until chance makes one


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A section as the box holds it."""

    city: CityId
    state: str  # alive | shared (its number has several bearers) | dead | later
    citation: str
    number: str | None
    neighbour: str | None  # the citation of the section behind it
    since: date | None
    until: date | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A citation with its quote, and what a verifier must say of it."""

    way: str
    city: CityId
    citation: str
    quote: str
    day: date
    expected: frozenset[str]  # verdicts; a true one is proven

    @property
    def true(self) -> bool:
        """Tell whether it is true."""
        return self.expected == {"proven"}

    @property
    def claim(self) -> ClaimLine:
        """Return it as somebody writes it down."""
        return ClaimLine(city=self.city, citation=self.citation, claim=f'It says "{self.quote}".')


# ------------------------------------------------------------------ what people and models write


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draw:
    """What chance draws from: the sections by city, and the day."""

    rng: random.Random
    day: date
    by_city: dict[CityId, list[Stored]]

    def other_city(self, city: CityId) -> CityId:
        """Return another city."""
        return self.rng.choice([c for c in self.by_city if c != city])

    def window(self, text: str, most: int = _MOST_WORDS) -> str:
        """Return some consecutive words as they stand; "" if there are too few."""
        words = [m.span() for m in re.finditer(r"\S+", text)]
        count = self.rng.randint(_FEWEST_WORDS, most)
        if len(words) < count:
            return ""
        first = self.rng.randrange(len(words) - count + 1)
        window = text[words[first][0] : words[first + count - 1][1]]
        # A row of empty cells says nothing that could be quoted.
        return window if len(re.findall(r"\w{2,}", window)) >= _FEWEST_WORDS - 3 else ""


Way = Callable[[_Draw, Stored], "tuple[str, str, CityId, date] | None"]


def _as_written(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
    return source.citation, draw.window(source.text), source.city, draw.day


_WRITINGS: tuple[Callable[[str], str], ...] = (
    lambda q: q.replace('"', "\u201d").replace("'", "\u2019"),
    lambda q: q.replace("\u2019", "'").replace("\u201c", '"').replace("\u201d", '"'),
    lambda q: "\n".join(q.split()),
    lambda q: re.sub(r"(?<=[a-z]{3})(?=[a-z]{3})", "\u00ad", q, count=2),
    lambda q: q.replace("-", "\u2011"),
    lambda q: f"{q}," if q[-1:].isalnum() else q,
    lambda q: q[:1].swapcase() + q[1:],
)


def _copied(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
    """Write a quote as it comes out of a page, a word processor or a model: nothing of it is changed."""
    quote = draw.window(source.text)
    written = draw.rng.choice(_WRITINGS)
    return source.citation, written(quote), source.city, draw.day


def _by_number(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
    if source.number is None or " " in source.number:
        return None
    sign = draw.rng.choice(["§ ", "Sec. ", "Section ", "§"])
    return f"{sign}{source.number}", draw.window(source.text), source.city, draw.day


_LAST_NUMBER = re.compile(r"\d+(?:[.\-:]\d+)*(?!.*\d)")


def _renumbered(change: Callable[[random.Random, str], str]) -> Way:
    def way(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
        last = _LAST_NUMBER.search(source.citation)
        if last is None or (number := change(draw.rng, last[0])) == last[0]:
            return None
        citation = source.citation[: last.start()] + number + source.citation[last.end() :]
        return citation, draw.window(source.text), source.city, draw.day

    return way


def _one_digit(rng: random.Random, number: str) -> str:
    at = rng.choice([i for i, c in enumerate(number) if c.isdigit()])
    return number[:at] + rng.choice("0123456789") + number[at + 1 :]


def _two_digits(rng: random.Random, number: str) -> str:
    pairs = [i for i in range(len(number) - 1) if number[i : i + 2].isdigit()]
    if not pairs:
        return number
    at = rng.choice(pairs)
    return number[:at] + number[at + 1] + number[at] + number[at + 2 :]


def _neighbour(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
    if source.neighbour is None or source.neighbour == source.citation:
        return None
    return source.neighbour, draw.window(source.text), source.city, draw.day


def _misattributed(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
    other = draw.rng.choice(draw.by_city[source.city])
    if other.citation == source.citation or other.state not in _ALIVE:
        return None
    return other.citation, draw.window(source.text), source.city, draw.day


def _other_city(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
    return source.citation, draw.window(source.text), draw.other_city(source.city), draw.day


def _other_city_by_number(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
    other = draw.rng.choice(draw.by_city[draw.other_city(source.city)])
    if other.state not in _ALIVE or other.number is None or " " in other.number:
        return None
    return f"§ {other.number}", draw.window(source.text), other.city, draw.day


def _too_early(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
    if source.since is None:
        return None
    day = source.since - timedelta(days=draw.rng.randint(1, 400))
    return source.citation, draw.window(source.text), source.city, day


def _too_late(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
    if source.until is None:
        return None
    day = source.until + timedelta(days=draw.rng.randint(0, 400))
    return source.citation, draw.window(source.text), source.city, day


def _changed(change: Callable[[_Draw, str, Stored], str | None]) -> Way:
    def way(draw: _Draw, source: Stored) -> tuple[str, str, CityId, date] | None:
        quote = change(draw, draw.window(source.text), source)
        return (source.citation, quote, source.city, draw.day) if quote else None

    return way


def _stitched(draw: _Draw, quote: str, source: Stored) -> str | None:
    return f"{quote} {draw.window(source.text, most=12)}"


def _one_word(draw: _Draw, quote: str, source: Stored) -> str | None:
    words = quote.split(" ")
    inner = [i for i in range(1, len(words) - 1) if words[i].isalpha()]
    others = re.findall(r"\b[a-z]{3,12}\b", source.text)
    if not inner or not others:
        return None
    at = draw.rng.choice(inner)
    words[at] = draw.rng.choice([*draw.rng.sample(others, min(3, len(others))), "not", ""])
    return " ".join(w for w in words if w)


def _one_number(draw: _Draw, quote: str, _: Stored) -> str | None:
    digits = [m.start() for m in re.finditer(r"\d", quote)]
    if not digits:
        return None
    at = draw.rng.choice(digits)
    return quote[:at] + draw.rng.choice("0123456789") + quote[at + 1 :]


def _cut(draw: _Draw, quote: str, _: Stored) -> str | None:
    """Begin or end within a word or a number: "2 feet" of "1.2 feet", "permit" of "permitted"."""
    first, *_inner, last = quote.split() or ["", ""]
    if draw.rng.random() < 0.5 and len(first) > 3 and first.isalnum():
        return quote[draw.rng.randint(1, len(first) - 1) :]
    if len(last) > 3 and last.isalnum():
        return quote[: -draw.rng.randint(1, len(last) - 1)]
    return None


def _other_case(draw: _Draw, quote: str, _: Stored) -> str | None:
    words = quote.split(" ")
    inner = [i for i in range(1, len(words)) if 1 < len(words[i]) < 6 and words[i].isalpha()]
    if not inner:
        return None
    at = draw.rng.choice(inner)
    words[at] = words[at].swapcase()
    return " ".join(words)


_ALIVE = ("alive", "shared")
_PHANTOM = frozenset(["phantom", "wrong_section", "wrong_city"])
_MISQUOTED = frozenset(["misquoted"])
# (the way to write it, of sections of which state, what must be said, how often among its half)
_Plan = tuple[str, Way, tuple[str, ...], frozenset[str], int]
TRUE: tuple[_Plan, ...] = (
    ("as written", _as_written, ("alive",), frozenset(["proven"]), 4),
    ("copied", _copied, ("alive",), frozenset(["proven"]), 3),
    ("by number", _by_number, ("alive",), frozenset(["proven"]), 2),
    ("number shared", _by_number, ("shared",), frozenset(["proven"]), 1),
)
FALSE: tuple[_Plan, ...] = (
    ("digit swapped", _renumbered(_one_digit), _ALIVE, _PHANTOM, 2),
    ("digits transposed", _renumbered(_two_digits), _ALIVE, _PHANTOM, 2),
    ("neighbour's number", _neighbour, _ALIVE, frozenset(["wrong_section"]), 2),
    ("misattributed", _misattributed, _ALIVE, frozenset(["wrong_section"]), 2),
    ("other city", _other_city, _ALIVE, frozenset(["wrong_city", "phantom"]), 2),
    (
        "other city's words",
        _other_city_by_number,
        _ALIVE,
        frozenset(["misquoted", "wrong_city", "wrong_section"]),
        1,
    ),
    ("repealed", _as_written, ("dead",), frozenset(["repealed"]), 2),
    ("too late", _too_late, ("dead", *_ALIVE), frozenset(["repealed"]), 1),
    ("too early", _too_early, (*_ALIVE, "later"), frozenset(["not_yet_in_force"]), 2),
    ("frankenquote", _changed(_stitched), _ALIVE, _MISQUOTED, 2),
    ("one word", _changed(_one_word), _ALIVE, _MISQUOTED, 3),
    ("one number", _changed(_one_number), _ALIVE, _MISQUOTED, 3),
    ("cut in a word", _changed(_cut), _ALIVE, _MISQUOTED, 2),
    ("other case", _changed(_other_case), _ALIVE, _MISQUOTED, 1),
)


# ------------------------------------------------------------------ is it true by chance?

_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")
_MARKS = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u201f": '"', "\u2032": "'"}
_MARKS |= dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
_MARKS |= {"`": "'", "\u00b4": "'", "\u201e": '"', "\u2033": '"', "\u00ab": '"', "\u00bb": '"'}
_EVEN = str.maketrans(_MARKS)


def even(text: str) -> str:
    """Return a text as quotes are compared with it: marks alike, white space single."""
    return " ".join(_INVISIBLE.sub("", text).translate(_EVEN).split())


def stands(quote: str, text: str) -> bool:
    """Tell whether the words stand in the text, at the edges of words; a first capital is free."""
    wanted = re.escape(even(quote).rstrip(".,;: "))
    if not wanted:
        return False
    first = wanted[0]
    pattern = f"[{first}{first.swapcase()}]{wanted[1:]}" if first.isalpha() else wanted
    return re.search(rf"(?<![^\W_]){pattern}(?![^\W_])", even(text)) is not None


# ------------------------------------------------------------------ from the box


@cache
def _statement(name: str) -> bytes:
    text = files("benchmarks").joinpath("citations.sql").read_text("utf-8")
    statements: dict[str, str] = dict(re.findall(r"-- name: (\w+)\n(.*?);\n", text, re.DOTALL))
    return statements[name].encode()


async def sections_of(pool: Pool, *, day: date, each: int, seed: int) -> list[Stored]:
    """Return sections of all cities of the box by chance, `each` of a city and state at most."""
    parameters = {"day": day, "each": each, "seed": seed, "least": _LEAST, "most": _MOST}
    async with connected(pool) as connection:
        cursor = await connection.execute(_statement("sampled"), parameters)
        rows = await cursor.fetchall()
    return [
        Stored(
            city=CityId(city),
            state=state,
            citation=citation,
            number=number,
            neighbour=neighbour,
            since=since,
            until=until,
            text=text,
        )
        for city, state, citation, number, neighbour, since, until, text in rows
    ]


async def generated(
    pool: Pool, sections: Sequence[Stored], *, n: int, day: date, seed: int
) -> AsyncIterator[Generated]:
    """Yield n citations, half of them true; cities and ways in turn."""
    draw = _Draw(rng=random.Random(seed), day=day, by_city=_by_city(sections))  # noqa: S311
    of_state: dict[str, dict[CityId, list[Stored]]] = defaultdict(lambda: defaultdict(list))
    for section in sections:
        of_state[section.state][section.city].append(section)
    plans = {
        half: [plan for plan in ways for _ in range(plan[4])]
        for half, ways in ((0, TRUE), (1, FALSE))
    }
    async with connected(pool) as connection:
        for i in range(n):
            for _ in range(_TRIES):
                plan = draw.rng.choice(plans[i % 2])
                if made := await _made(connection, draw, plan, of_state):
                    yield made
                    break


def _by_city(sections: Sequence[Stored]) -> dict[CityId, list[Stored]]:
    found: dict[CityId, list[Stored]] = defaultdict(list)
    for section in sections:
        found[section.city].append(section)
    return dict(found)


async def _made(
    connection: AsyncConnection,
    draw: _Draw,
    plan: _Plan,
    of_state: dict[str, dict[CityId, list[Stored]]],
) -> Generated | None:
    """Return a citation of one way; None if chance made none, or one that is not what it says."""
    name, way, states, expected, _ = plan
    held = of_state[draw.rng.choice(states)]
    if not held:
        return None
    source = draw.rng.choice(held[draw.rng.choice(list(held))])
    made = way(draw, source)
    if made is None or not made[1]:
        return None
    citation, quote, city, day = made
    found = Generated(
        way=name, city=city, citation=citation, quote=quote, day=day, expected=expected
    )
    stands_there = await _stands_there(connection, found)
    return found if stands_there is found.true else None


async def _stands_there(connection: AsyncConnection, made: Generated) -> bool:
    """Tell whether what is in force under that number holds the quote, by the stored text alone."""
    cited = parse_citation(made.citation)
    numbers = [n for n in (cited.number, cited.whole) if n]
    cursor = await connection.execute(
        _statement("in_force_texts"), {"city": made.city, "day": made.day, "numbers": numbers}
    )
    return any(stands(made.quote, text) for (text,) in await cursor.fetchall())


# ------------------------------------------------------------------ the measurement


@dataclass(slots=True)
class Confusion:
    """What was said of the citations of each way."""

    said: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    expected: Counter[str] = field(default_factory=Counter)  # by way: labelled as it had to be
    true: Counter[bool] = field(default_factory=Counter)  # of the true ones: kept or lost
    false: Counter[bool] = field(default_factory=Counter)  # of the false ones: shown as proven
    milliseconds: dict[bool, list[float]] = field(default_factory=lambda: {True: [], False: []})
    faults: list[str] = field(default_factory=list)

    def add(self, made: Generated, verdict: str, milliseconds: float) -> None:
        """Count a verdict."""
        proven = verdict == "proven"
        self.said[made.way][verdict] += 1
        self.expected[made.way] += verdict in made.expected
        (self.true if made.true else self.false)[proven] += 1
        self.milliseconds[made.true].append(milliseconds)
        if proven is not made.true:
            words = f"{made.city}, {made.citation}, {made.day}: {made.quote[:160]!r}"
            self.faults.append(f"{made.way}: {verdict}: {words}")

    @property
    def kept(self) -> float:
        """Return the share of the true ones that were proven."""
        return self.true[True] / max(1, self.true.total())

    @property
    def sound(self) -> bool:
        """Tell whether no false one was shown as proven and nearly all true ones were."""
        return not self.false[True] and self.kept >= LEAST_KEPT

    def lines(self) -> Iterator[str]:
        """Yield the table, the totals and what went wrong."""
        for way, said in sorted(
            self.said.items(), key=lambda item: (item[0] not in _TRUE, item[0])
        ):
            total = said.total()
            verdicts = ", ".join(f"{v} {c}" for v, c in said.most_common())
            yield f"{way:<20} n={total:<6} as it had to be {self.expected[way] / total:6.1%}  {verdicts}"
        yield f"true ones kept: {self.true[True]} of {self.true.total()} ({self.kept:.2%})"
        yield f"false ones shown as proven: {self.false[True]} of {self.false.total()}"
        for true, name in ((True, "true"), (False, "false")):
            p50, p95 = _quantiles(self.milliseconds[true])
            yield f"a {name} one, look-ups included: p50 {p50:.2f} ms, p95 {p95:.2f} ms"
        yield from self.faults[:40]

    def json(self) -> dict[str, object]:
        """Return the same for a script."""
        p50, p95 = _quantiles([*self.milliseconds[True], *self.milliseconds[False]])
        return {
            "ways": {way: dict(said) for way, said in self.said.items()},
            "true": self.true.total(),
            "kept": self.kept,
            "false": self.false.total(),
            "false_proven": self.false[True],
            "p50_ms": round(p50, 3),
            "p95_ms": round(p95, 3),
            "sound": self.sound,
            "faults": self.faults,
        }


def _quantiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile; zeros of nothing."""
    ordered = sorted(values) or [0.0]
    return ordered[len(ordered) // 2], ordered[int(0.95 * (len(ordered) - 1))]


_TRUE = frozenset(plan[0] for plan in TRUE)


async def confusion(verifier: Verifier, citations: Sequence[Generated]) -> Confusion:
    """Have the citations judged, one at a time."""
    found = Confusion()
    for made in citations:
        began = time.perf_counter()
        judged = await verifier.judgement(made.claim, made.day)
        found.add(made, judged.verdict.value, (time.perf_counter() - began) * 1000)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many citations are made of what."""

    n: int
    day: date
    seed: int

    @property
    def each(self) -> int:
        """Return how many sections of a city and state are drawn from."""
        return max(20, self.n // 40)


async def measure(pool: Pool, store: Searcher, plan: Plan) -> Confusion:
    """Make the citations and have them judged."""
    sections = await sections_of(pool, day=plan.day, each=plan.each, seed=plan.seed)
    if len({s.city for s in sections}) < 2:
        raise BadRequest(
            "Citations are made of at least two cities; `permitbox ingest` loads them."
        )
    made = generated(pool, sections, n=plan.n, day=plan.day, seed=plan.seed)
    citations = [citation async for citation in made]
    async with open_verifier(store) as verifier:
        return await confusion(verifier, citations)

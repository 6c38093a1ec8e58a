"""Look-up questions made of a code's own numbers: is the section that was named the first hit?

Every number is written in the ways in which people write it (other joints, blanks, no keyword, a
wrong case, its title apart, a part of it in brackets) inside a sentence.  The gold is read from the
records alone.  Sentences full of dates, prices, measures and districts must name nothing.
"""

from __future__ import annotations

import json
import os
import random
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np

from appliance.clients.encode import MiniLmEncoder
from appliance.domain import CityId, Query
from appliance.ingest import corpus_files, decode, ingest, read_bytes
from appliance.naming import resolve_named
from appliance.ports import Reranker, Tokenizer, Vectors
from appliance.retrieve import Recipe, retrieve
from appliance.settings import Settings
from appliance.store import embedded
from appliance.store.database import Pool, open_pool
from appliance.store.loading import PostgresLoader, prepare_model
from appliance.store.search import PostgresStore

SENTENCES = (
    "what does {} say",
    "What does {} require?",
    "Explain {} to me in plain English.",
    "{}",
    "Where can I read {}?",
    "does {} apply to a garage conversion",
    "My contractor mentioned {}, what is that about?",
    "Under {}, who has to pay for it?",
    "Show me the text of {}.",
    "I was cited for violating {}. What now?",
)
PLAIN = (
    "The fence is {a} ft high and {b} ft long.",
    "Call me at 650-{c}-{d} after {a}:30.",
    "I paid ${a},{c}.50 on 2024-0{e}-1{e}.",
    "My lot is zoned R-{e}-{f} and measures {a} x {b} feet.",
    "The permit B{c}-{d} expired on {e}/{f}/2023.",
    "We have {e}.{f} acres and {e}-{f} family houses.",
    "My address is {a}-{b} {c}th Street, 1{c}0.",
    "The slope is {e}:{f} and the pipe is {e}.{f} inches.",
    "Open 24/7 since 20{a}, from {e}:00-{f}:30.",
    "Do I need a permit for a {a} by {b} shed, {e} stories?",
    "The ZIP is 1{d}-{d} and the form is no. {a}-{c}.",
    "Our noise level was {a}.{e} dBA, {b} % over.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A question that names a section, and the ids of those that it can mean."""

    city: CityId
    form: str
    question: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """A record with a number, as its corpus file has it."""

    city: CityId
    id: str
    citation: str
    number: str  # as it is written
    path: tuple[str, ...]

    @property
    def parts(self) -> list[str]:
        """Return the parts of the number, joints left out."""
        return re.split(r"[.\-:]", self.number)


# ------------------------------------------------------------------ the questions

_NUMBER = re.compile(r"(?:[A-Z]{1,2}[.\-])?\d+[A-Za-z]{0,2}(?:[.\-:]{1,2}[0-9A-Z][0-9A-Za-z]*)*")
_SECTION = re.compile(rf"(?:§|\bsec(?:tion)?\b\.?)\s*(?P<number>{_NUMBER.pattern})", re.IGNORECASE)
_TITLE = re.compile(r"title\s+(\d+[A-Z]?)\b", re.IGNORECASE)
_CHAPTER = re.compile(r"(?P<word>chapter|article)\s+(?P<number>[\d.\-]*\d|[IVX]+)\b", re.IGNORECASE)
_LAW = re.compile(r"Local Law (\d+) of (\d{4})")

Row = Mapping[str, object]


def numbered(rows: Iterable[Row]) -> Iterator[Numbered]:
    """Yield the records whose citation has a section's number."""
    for row in rows:
        citation = " ".join(str(row.get("citation", "")).split()).rstrip(". ")
        if _LAW.search(citation) or _CHAPTER.search(citation):
            continue
        found = [m["number"] for m in _SECTION.finditer(citation)]
        found = found or [m for m in _NUMBER.findall(citation) if citation.endswith(m)]
        if found:
            yield Numbered(
                city=CityId(str(row["jurisdiction"])),
                id=str(row["id"]),
                citation=citation,
                number=found[-1],
                path=_path(row),
            )


def _path(row: Row) -> tuple[str, ...]:
    path = row.get("path")
    return tuple(str(p) for p in path) if isinstance(path, list) else ()


Form = Callable[[Numbered, random.Random], str | None]


def _jointed(record: Numbered) -> bool:
    return len(record.parts) > 1


def _title(record: Numbered) -> str | None:
    found = [m[1] for level in record.path if (m := _TITLE.match(level))]
    return found[-1] if found else None


def _spaced(r: Numbered, _: random.Random) -> str | None:
    return f"sec {' '.join(r.parts)}" if _jointed(r) else None


def _ocr(r: Numbered, rng: random.Random) -> str | None:
    if not _jointed(r):
        return None
    joints = [m.start() for m in re.finditer(r"[.\-:]", r.number)]
    at = rng.choice(joints)
    return f"Section {r.number[:at]} {r.number[at]} {r.number[at + 1 :]}"


def _of_title(r: Numbered, _: random.Random) -> str | None:
    title = _title(r)
    if title is None or r.parts[0] != title or not _jointed(r):
        return None
    return f"section {r.number[len(title) + 1 :]} of title {title}"


def _with_title(r: Numbered, _: random.Random) -> str | None:
    title = _title(r)
    return None if title is None else f"Title {title}, section {r.number}"


def _zeros(r: Numbered, _: random.Random) -> str | None:
    short = re.sub(r"(?<=[.\-])0+(?=\d)", "", r.number)
    return f"section {short}" if short != r.number else None


def _bare(r: Numbered, _: random.Random) -> str | None:
    digits = sum(c.isdigit() for c in r.number)
    long = len(r.parts) > 2 or (len(r.parts) == 2 and digits >= 4 and "-" in r.number)
    return r.number if long and digits >= 3 else None


def _spoken(r: Numbered, _: random.Random) -> str | None:
    if not _jointed(r):
        return None
    words = r.number.replace("-", " dash ").replace(".", " point ")
    return f"section {words}"


def _other_joint(r: Numbered, _: random.Random) -> str | None:
    return f"sec. {'-'.join(r.parts)}" if _jointed(r) else None


FORMS: dict[str, Form] = {
    "§ n": lambda r, _: f"§ {r.number}",
    "§n": lambda r, _: f"§{r.number}",
    "Sec. n": lambda r, _: f"Sec. {r.number}",
    "sec n": lambda r, _: f"sec {r.number}",
    "SECTION n": lambda r, _: f"SECTION {r.number}",
    "lower case": lambda r, _: f"section {r.number.lower()}",
    "upper case": lambda r, _: f"Section {r.number.upper()}",
    "citation": lambda r, _: r.citation,
    "citation, lower": lambda r, _: r.citation.lower(),
    "citation, no §": lambda r, _: " ".join(r.citation.replace("§", " ").split()),
    "n(a)": lambda r, _: f"section {r.number}(a)",
    "n(a)(2)": lambda r, _: f"§ {r.number} (a)(2)",
    "(b) of n": lambda r, _: f"paragraph (b) of section {r.number}",
    "[n]": lambda r, _: f"section [{r.number}]",
    "dash": lambda r, _: f"Sec. {r.number.replace('-', '–')}" if "-" in r.number else None,
    "nb hyphen": lambda r, _: (
        f"§\u00a0{r.number.replace('-', chr(0x2011))}" if "-" in r.number else None
    ),
    "trailing dot": lambda r, _: f"Section {r.number}." if _jointed(r) else None,
    "sec a b c": _spaced,
    "a . b": _ocr,
    "code n": lambda r, _: f"code {r.number}" if _jointed(r) else None,
    "rule n": lambda r, _: f"Rule {r.number}" if _jointed(r) else None,
    "bare": _bare,
    "of title": _of_title,
    "title, n": _with_title,
    "no zeros": _zeros,
    "spoken joints": _spoken,
    "hyphens": _other_joint,
}


def lookups(
    rows: Sequence[Row],
    *,
    most: int,
    sentences: Sequence[str] = SENTENCES,
    seed: int = 1,
) -> list[Lookup]:
    """Return at most `most` questions, the forms in turn; what the records say is the gold."""
    rng = random.Random(seed)  # noqa: S311  (questions, not secrets)
    records = list(numbered(rows))
    gold = _Gold(records)
    made = [*_laws(rows, rng, sentences), *_chapters(rows, rng, sentences, most // 8)]
    made = rng.sample(made, min(len(made), most // 4))
    names = list(FORMS)
    tries = 0
    while records and len(made) < most and tries < 20 * most:
        form, record = names[tries % len(names)], rng.choice(records)
        tries += 1
        if written := FORMS[form](record, rng):
            made.append(
                Lookup(
                    city=record.city,
                    form=form,
                    question=rng.choice(sentences).format(written),
                    gold=gold.of(record, form),
                )
            )
    return made


class _Gold:
    """The ids of the records that a number can mean, by what the form says beside it."""

    def __init__(self, records: Sequence[Numbered]) -> None:
        self._by_number: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._by_code: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        self._by_title: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for r in records:
            number = self._loose(r.number)
            self._by_number[r.city, number].add(r.id)
            self._by_code[r.city, self._code(r), number].add(r.id)
            self._by_title[r.city, _title(r) or "", number].add(r.id)

    @staticmethod
    def _code(record: Numbered) -> str:
        """Return what the citation says before the number: the code's name."""
        name = record.citation[: record.citation.rfind(record.number)].lower()
        return re.sub(r"\s*(?:§|sec(?:tion)?\b\.?)\s*$", "", name)

    @staticmethod
    def _loose(number: str) -> str:
        return re.sub(r"(^|\.)0+(?=\d)", r"\1", re.sub(r"[.\-:]+", ".", number.lower()))

    def of(self, record: Numbered, form: str) -> frozenset[str]:
        """Return the ids; a form that gives the title or the code's name means that one."""
        number = self._loose(record.number)
        if form.startswith("citation"):
            return frozenset(self._by_code[record.city, self._code(record), number])
        if form == "title, n":
            return frozenset(self._by_title[record.city, _title(record) or "", number])
        return frozenset(self._by_number[record.city, number])


def _laws(rows: Sequence[Row], rng: random.Random, sentences: Sequence[str]) -> Iterator[Lookup]:
    for row in rows:
        year, _, number = str(row.get("LocalLaw", "")).partition("/")
        for form in ("Local Law {n} of {y}", "LL {n}/{y}", "local law no. {n} of {y}", "LL{n}"):
            if number:
                yield Lookup(
                    city=CityId("new-york-ny"),
                    form="local law",
                    question=rng.choice(sentences).format(form.format(n=number, y=year)),
                    gold=frozenset(
                        str(r["ID"])
                        for r in rows
                        if str(r.get("LocalLaw", "")).split("/")[1:] == [number]
                        and ("{y}" not in form or str(r["LocalLaw"]).startswith(year))
                    ),
                )


def _chapters(
    rows: Sequence[Row], rng: random.Random, sentences: Sequence[str], most: int
) -> Iterator[Lookup]:
    """Yield questions for chapters and articles; whatever stands in one of that number is meant."""
    held: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for row in rows:
        heads = [_CHAPTER.match(level) for level in (*_path(row), str(row.get("heading", "")))]
        for match in (*heads, _CHAPTER.search(str(row.get("citation", "")))):
            if match:
                key = (str(row["jurisdiction"]), match["word"].lower(), match["number"].upper())
                held[key].add(str(row["id"]))
    short = {"chapter": ("ch. {}", "Ch {}", "Chapter {}"), "article": ("Art. {}", "Article {}")}
    for city, word, number in rng.sample(sorted(held), min(most, len(held))):
        yield Lookup(
            city=CityId(city),
            form=word,
            question=rng.choice(sentences).format(rng.choice(short[word]).format(number)),
            gold=frozenset(held[city, word, number]),
        )


def plain_sentences(count: int, seed: int = 1) -> list[str]:
    """Return sentences with numbers of all sorts but sections'."""
    rng = random.Random(seed)  # noqa: S311  (questions, not secrets)
    return [
        PLAIN[i % len(PLAIN)].format(
            a=rng.randint(10, 99),
            b=rng.randint(10, 99),
            c=rng.randint(100, 999),
            d=rng.randint(1000, 9999),
            e=rng.randint(2, 9),
            f=rng.randint(2, 9),
        )
        for i in range(count)
    ]


def rows_of(paths: Sequence[Path]) -> list[dict[str, object]]:
    """Return the records of the corpus files at the paths."""
    files = [f for f in corpus_files(paths, []) if ".jsonl" in f.name]
    return [json.loads(line) for f in files for line in decode(read_bytes(f), f).splitlines()]


# ------------------------------------------------------------------ the measurement


@dataclass(slots=True)
class _WordsOnly:
    """An encoder whose vectors say nothing: look-ups are measured without the dense leg."""

    tokenizer: Tokenizer
    model: str = "none"
    dimension: int = 8
    reranker: Reranker | None = None

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of chance for each text."""
        chance = np.random.default_rng(len(texts)).normal(size=(len(texts), self.dimension))
        unit: Vectors = (chance / np.linalg.norm(chance, axis=1, keepdims=True)).astype(np.float32)
        return unit

    async def encode_query(self, text: str) -> Vectors:
        """Return one of them."""
        unit: Vectors = (await self.encode_documents([text]))[0]
        return unit


@asynccontextmanager
async def words_only_box(
    paths: Sequence[Path],
) -> AsyncIterator[tuple[PostgresStore, _WordsOnly, Pool]]:
    """Hand over a store in a home of its own that holds the corpus, with words only."""
    with tempfile.TemporaryDirectory(prefix="permitbox-named-") as folder:
        os.chmod(folder, 0o755)  # noqa: PTH101, S103  (the server's user must reach it)
        settings = Settings(home=Path(folder) / "home")
        real = MiniLmEncoder(threads=1)
        encoder = _WordsOnly(tokenizer=real.tokenizer)
        with embedded.running(settings, extra={"fsync": "off"}) as cluster:
            async with open_pool(cluster.dsn) as pool:
                tables = await prepare_model(pool, name=encoder.model, dimension=8)
                loader = PostgresLoader(pool, tables)
                await ingest(
                    loader, encoder, paths, city=None, today=date.today(), tell=lambda _: None
                )
                yield PostgresStore(pool, vectors=tables.vectors), encoder, pool
        real.close()


@dataclass(slots=True)
class _Tally:
    right: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        for form, count in sorted(self.asked.items()):
            yield f"{form:<18} hit@1 {self.right[form] / count:6.3f}  n={count}"
        total = self.asked.total()
        yield f"{'all':<18} hit@1 {self.right.total() / max(total, 1):6.4f}  n={total}"
        times = sorted(self.milliseconds)
        yield f"resolving: p50 {times[len(times) // 2]:.1f} ms  p95 {times[int(0.95 * len(times))]:.1f} ms"


async def measure(paths: Sequence[Path], *, most: int, seed: int) -> list[str]:
    """Load the corpus, ask, and return the lines of the report."""
    rows = rows_of(paths)
    questions = lookups(rows, most=most, seed=seed)
    cities = sorted({q.city for q in questions})
    tally, recipe = _Tally(), Recipe(legs=("lexical", "named"), rerank=False, ranker=False)
    false = []
    async with words_only_box(paths) as (store, encoder, _):
        for lookup in questions:
            query = Query(text=lookup.question, city=lookup.city, as_of=date.today())
            began = time.perf_counter()
            await resolve_named(store, query)
            tally.milliseconds.append((time.perf_counter() - began) * 1000)
            found = await retrieve(store, encoder, query, 1, recipe=recipe)
            tally.asked[lookup.form] += 1
            if found.passages and found.passages[0].section.external_id in lookup.gold:
                tally.right[lookup.form] += 1
            else:
                got = found.passages[0].section.external_id if found.passages else None
                tally.missed.append(
                    f"{lookup.form}: {lookup.question!r} -> {got}, not {sorted(lookup.gold)[:3]}"
                )
        for i, sentence in enumerate(plain_sentences(240, seed)):
            query = Query(text=sentence, city=cities[i % len(cities)], as_of=date.today())
            if named := await resolve_named(store, query):
                false.append(f"{sentence!r} names {named[0].number} ({named[0].how})")
        near = await _near(store, questions)
    return [
        *tally.lines(),
        f"sentences without a section: {len(false)} of 240 name one",
        near,
        *(f"missed: {m}" for m in tally.missed[:40]),
        *(f"false: {f}" for f in false[:20]),
    ]


async def _near(store: PostgresStore, questions: Sequence[Lookup]) -> str:
    """Slip in one digit of each number: is the section among the suggestions, and how fast?"""
    rng = random.Random(1)  # noqa: S311
    times, right, asked = [], 0, 0
    for lookup in [q for q in questions if q.form == "Sec. n"]:
        digits = [m.start() for m in re.finditer(r"\d", lookup.question)]
        at = rng.choice(digits)
        slipped = (
            lookup.question[:at]
            + str((int(lookup.question[at]) + 5) % 10)
            + lookup.question[at + 1 :]
        )
        query = Query(text=slipped, city=lookup.city, as_of=date.today())
        began = time.perf_counter()
        named = await resolve_named(store, query)
        times.append((time.perf_counter() - began) * 1000)
        if named and named[0].how == "near":
            asked += 1
            right += any(s.external_id in lookup.gold for s in named[0].suggestions)
    times.sort()
    return (
        f"one wrong digit, no such section: meant one suggested {right} of {asked}; "
        f"p50 {times[len(times) // 2]:.1f} ms  p95 {times[int(0.95 * len(times))]:.1f} ms"
    )

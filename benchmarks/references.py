"""Precision and recall of references: what is found in the text, and where it leads, against links.

Some publishers keep the links of their code as data (`refs` of a record).  They are
the truth here: a link should be found as a mention in the record's text, and the
mention should lead to the linked record.  No database is used.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from appliance.corpus.cross_references import mentions_in
from appliance.corpus.labels import CAPTION, labels_of
from appliance.corpus.records import Read, read_records
from appliance.corpus.references import normalise_number
from appliance.corpus.resolution import (
    Container,
    Entry,
    Node,
    Registry,
    Resolution,
    Unresolved,
    part_of_heading,
    plain_number,
)
from appliance.domain import CityId, Mention
from appliance.ingest import corpus_files, decode, read_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One section of a corpus file with the links that its publisher gives."""

    city: CityId
    place: str
    entry: Entry
    text: str
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link of the truth, read: its numbers from the widest unit to the narrowest."""

    written: str
    section: str | None  # the number of a section, as the publisher writes it
    units: tuple[str, ...]  # the numbers of containers, if it leads to one

    @property
    def number(self) -> str:
        """Return the number that the text is expected to mention."""
        return normalise_number(re.sub(r"\(.*", "", self.section or "")) or self.units[-1]


@dataclass(slots=True, kw_only=True)
class Score:
    """Counts of one group of records; each link and each target counts once a record."""

    name: str
    records: int = 0
    links: int = 0
    written: int = 0  # links whose number stands in the record's text
    found: int = 0  # links with a mention of their number, or one that leads there
    written_found: int = 0  # of those written
    held: int = 0  # links that lead to a record or container that is there
    held_found: int = 0  # of these, with a mention
    reached: int = 0  # of these, a mention leads there
    astray: int = 0  # mention found, but it leads elsewhere
    mentioned: int = 0  # distinct numbers mentioned of the code itself
    mentioned_linked: int = 0  # of these, linked
    led: int = 0  # distinct targets that explicit mentions lead to
    led_linked: int = 0  # of these, linked
    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def report(self) -> str:
        """Return the score in lines."""
        return f"""{self.name}: {self.records:,} sections with links, {self.links:,} links
  extraction recall    {_share(self.found, self.links)} of links; {_share(self.written_found, self.written)} \
of those whose number is in the text
  extraction precision {_share(self.mentioned_linked, self.mentioned)} of distinct numbers mentioned are linked
  resolution recall    {_share(self.reached, self.held)} of links to what is held; \
{_share(self.reached, self.held_found)} of those with a mention
  resolution precision {_share(self.led_linked, self.led)} of distinct targets are linked; \
{self.astray:,} mentions of a link lead elsewhere"""


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.4f} ({part:,}/{whole:,})" if whole else "- (0)"


# ------------------------------------------------------------------ reading


def records_of(folder: Path) -> list[Record]:
    """Return every section record of the corpus files in a folder."""
    records: list[Record] = []
    for path in corpus_files([folder], []):
        if ".jsonl" in path.name:
            records += _of_file(path, len(records))
    return records


def _of_file(path: Path, first: int) -> Iterator[Record]:
    text = decode(read_bytes(path), path)
    links = {}
    for line in text.split("\n"):
        if line.strip():
            fields = json.loads(line)
            links[str(fields.get("id"))] = tuple(fields.get("refs") or ())
    key = first
    for read in read_records(text, name=path.name):
        if isinstance(read, Read):
            for entry in entries_of(read, key):
                body = read.accepted.document.body
                section = read.accepted.sections[entry.key - key]
                yield Record(
                    city=read.city.id,
                    place=read.city.name,
                    entry=entry,
                    text=section.span.of(body),
                    links=links.get(entry.external_id, ()),
                )
            key += len(read.accepted.sections)


def entries_of(read: Read, key: int) -> list[Entry]:
    """Return the registry entries of one document."""
    document, sections = read.accepted.document, read.accepted.sections
    tables: dict[int, list[str]] = {}
    for label in labels_of(document.body, sections):
        if label.kind == "table" and label.weight <= CAPTION:
            tables.setdefault(label.section, []).append(label.number)
    return [
        Entry(
            key=key + i,
            external_id=s.external_id,
            document=key,
            citation=s.citation,
            number=s.number,
            heading=s.heading,
            path=s.path,
            standing=s.standing,
            tables=tuple(tables.get(i, ())),
        )
        for i, s in enumerate(sections)
    ]


def registries(records: Sequence[Record]) -> dict[CityId, Registry]:
    """Return the registry of each city."""
    cities: dict[CityId, list[Record]] = {}
    for record in records:
        cities.setdefault(record.city, []).append(record)
    return {
        city: Registry(
            (r.entry for r in of_city), re.findall(r"[a-z0-9]+", of_city[0].place.casefold())
        )
        for city, of_city in cities.items()
    }


# ------------------------------------------------------------------ links


def link_of(written: str) -> Link | None:
    """Read "§6-1405.01|(a)", "6|14" (Title 6 chapter 14) or "code/13.35.105#(b)"; None for others."""
    plain = written.strip()
    if match := re.fullmatch(r"§\[?([^|\]]+)\]?(?:\|.*)?", plain):
        return Link(written=written, section=match[1], units=())
    if match := re.fullmatch(r"(?:code|charter)/([\w.\-]+)(?:#.*)?", plain):
        number = match[1]
        deep = number.count(".") >= 2 or plain.startswith("charter/")
        return Link(
            written=written,
            section=number if deep else None,
            units=() if deep else (number.split(".")[0], number)[: 1 + number.count(".")],
        )
    if "|" in plain and re.fullmatch(r"[\dA-Za-z|\-.:]+", plain):
        return Link(
            written=written, section=None, units=tuple(u.casefold() for u in plain.split("|"))
        )
    return None


class Truth:
    """Which node a link means, from the publisher's own ids and paths."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._by_id = {(r.city, _tail(r.entry.external_id)): r.entry for r in records}
        self._containers: dict[tuple[CityId, tuple[str, ...]], tuple[str, ...]] = {}
        for record in records:
            numbers: tuple[str, ...] = ()
            for depth, heading in enumerate(record.entry.path, start=1):
                part = part_of_heading(heading)
                if part and (numbers or part.unit == "title"):
                    numbers = (*numbers, plain_number(part.number))
                    self._containers.setdefault((record.city, numbers), record.entry.path[:depth])

    def target(self, link: Link, city: CityId) -> str | None:
        """Return the external id of what the link leads to, None if that is not held."""
        if link.section is not None:
            entry = self._by_id.get((city, link.section.casefold()))
            return entry.external_id if entry else None
        path = self._containers.get((city, tuple(plain_number(u) for u in link.units)))
        return Container(path=path).external_id if path else None


def _tail(external_id: str) -> str:
    """Return the number in a record's id: "dc-6-1405.01", "smc-code-13.35.105"."""
    return re.sub(r"^(?:dc|smc-code|smc-charter)-", "", external_id).casefold()


# ------------------------------------------------------------------ scoring


def score(
    name: str, records: Sequence[Record], registry: dict[CityId, Registry], truth: Truth
) -> Score:
    """Return the counts over the records that have links."""
    total = Score(name=name)
    for record in records:
        links = [link for w in record.links if (link := link_of(w))]
        if links:
            _score_record(total, record, links, registry[record.city], truth)
    return total


def _score_record(
    total: Score, record: Record, links: Sequence[Link], registry: Registry, truth: Truth
) -> None:
    mentions = mentions_in(record.text)
    resolved = [(m, registry.resolve(m, record.entry)) for m in mentions]
    numbers = {_key(m.number) for m in mentions}
    led = {_id(r.target) for m, r in resolved if r.target is not None and m.number}
    led_any = {_id(r.target) for _, r in resolved if r.target is not None}
    wanted = {link.number: link for link in links}
    targets = {t for link in wanted.values() if (t := truth.target(link, record.city))}
    total.records += 1
    total.links += len(wanted)
    for number, link in wanted.items():
        target = truth.target(link, record.city)
        found = _key(number) in numbers or target in led_any
        written = _stands_in(record.text, number)
        total.written += written
        total.written_found += written and found
        total.found += found
        if target:
            total.held += 1
            total.held_found += found
            total.reached += target in led_any
            total.astray += found and target not in led_any and _leads_elsewhere(number, resolved)
    own = {_key(m.number) for m, r in resolved if _of_own_code(m, r)}
    total.mentioned += len(own)
    total.mentioned_linked += len(own & {_key(n) for n in wanted})
    led.discard(record.entry.external_id)
    total.led += len(led)
    total.led_linked += len(led & targets)
    for mention, resolution in resolved:
        total.kinds[mention.kind] += 1
        if resolution.reason:
            total.reasons[resolution.reason.value] += 1


def _of_own_code(mention: Mention, resolution: Resolution) -> bool:
    return (
        mention.number != ""
        and mention.kind not in ("table", "relative")
        and resolution.reason not in (Unresolved.EXTERNAL_LAW, Unresolved.ORDINANCE_NOT_HELD)
    )


def _key(number: str) -> str:
    return plain_number(normalise_number(number))


def _id(node: Node) -> str:
    return node.external_id


def _leads_elsewhere(number: str, resolved: Sequence[tuple[Mention, Resolution]]) -> bool:
    return any(_key(m.number) == _key(number) and r.target is not None for m, r in resolved)


def _stands_in(text: str, number: str) -> bool:
    return re.search(rf"(?<![\w.\-]){re.escape(number)}(?![\w])", text, re.IGNORECASE) is not None


def measure(folder: Path) -> Iterator[str]:
    """Yield the report: all links, and each half of the codes' titles."""
    began = time.monotonic()
    records = records_of(folder)
    read = time.monotonic()
    registry = registries(records)
    truth = Truth(records)
    made = time.monotonic() - read
    yield f"{len(records):,} sections read in {read - began:.1f} s, registries in {made:.1f} s"
    began = time.monotonic()
    characters = sum(len(r.text) for r in records)
    count = sum(len(mentions_in(r.text)) for r in records)
    seconds = time.monotonic() - began
    yield f"{count:,} mentions in {characters / 1e6:.1f} M characters, {characters / 1e6 / seconds:.2f} M/s"
    for city in sorted({r.city for r in records if r.links}):
        linked = [r for r in records if r.city == city and r.links]
        roots = sorted({_root(r) for r in linked})
        halves = {root: i % 2 for i, root in enumerate(roots)}
        for half, name in ((0, "titles developed on"), (1, "titles held out")):
            chosen = [r for r in linked if halves[_root(r)] == half]
            yield score(f"{city}, {name}", chosen, registry, truth).report()
        yield score(f"{city}, all", linked, registry, truth).report()


def _root(record: Record) -> tuple[str, ...]:
    """Return the title that a record stands in."""
    path = record.entry.path
    numbered = [p for p in path if (part := part_of_heading(p)) and part.unit == "title"]
    return tuple(numbered[:1] or path[:1])

"""Which section a mention means: exactly one of the city's registry, or a reason why not.

Pure.  The registry is built from what is held of one city; the law of other bodies
(the state's, Congress's, a model code) is never looked for in it, whatever its
numbers are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TypeVar

from appliance.corpus.cross_references import UNITS
from appliance.corpus.law_names import enactment_of
from appliance.corpus.references import (
    is_compound,
    names_a_code,
    normalise_number,
    parse_citation,
    same_code,
)
from appliance.corpus.sections import number_in_heading
from appliance.domain import Mention, Part, Standing


class Unresolved(StrEnum):
    """Why a mention leads nowhere in this box."""

    NO_SUCH_SECTION = "no_such_section"  # the city's code, as it is held, has no such number
    SEVERAL = "several_candidates"  # more than one section fits equally well
    EXTERNAL_LAW = "external_law"  # the law of a state or the Union, or a code that is not held
    ORDINANCE_NOT_HELD = "ordinance_not_held"  # an ordinance by its number, whose text is not held
    NO_CONTAINER = "no_container"  # "this chapter" in a section that stands in none


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What the registry needs to know of one section."""

    key: int  # whatever the caller knows it by
    external_id: str
    document: int  # sections of one document share it
    citation: str
    number: str | None
    heading: str
    path: tuple[str, ...]
    standing: Standing = Standing.IN_FORCE
    tables: tuple[str, ...] = ()  # numbers of the tables captioned in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A chapter, article or title that exists only as a step of paths."""

    path: tuple[str, ...]

    @property
    def external_id(self) -> str:
        """Return its name: the whole path, outermost first."""
        return " > ".join(self.path)


Node = Entry | Container
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Where a mention leads: one node, or a reason and the nodes that it might mean."""

    target: Node | None = None
    reason: Unresolved | None = None
    candidates: tuple[Node, ...] = ()


_CONTAINER_HEADING = re.compile(
    rf"^\W{{0,4}}(?P<unit>{'|'.join(UNITS)}|sec|art|ch|app)\b\.?\s*(?:no\.\s*)?"
    r"(?P<number>\d[\w.\-:]*|[IVXLC]+(?:-[A-Z]+)?\b|[A-Z]{1,3}(?:-\d+)?\b)",
    re.IGNORECASE,
)
_HEADING_UNITS = {"sec": "section", "art": "article", "ch": "chapter", "app": "appendix"}
# "14-48 PRE-FILING REVIEW": a chapter that is numbered with its title, without a word for either.
_BARE_HEADING = re.compile(r"^(?P<title>\d+)-(?P<chapter>\d+)\s")
_ROMAN = re.compile(r"(?=[ivxlc])(?:c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@cache
def part_of_heading(heading: str) -> Part | None:
    """Return the unit and number of "ARTICLE II. - USE" or "Chapter 15.04 Permits", else None."""
    if match := _CONTAINER_HEADING.match(heading):
        unit = match["unit"].casefold()
        return Part(unit=_HEADING_UNITS.get(unit, unit), number=normalise_number(match["number"]))
    if match := _BARE_HEADING.match(heading):
        return Part(unit="chapter", number=match["chapter"])
    number, is_section = number_in_heading(heading)
    return Part(unit="section", number=number) if number and is_section else None


@cache
def plain_number(number: str) -> str:
    """Return a container's number in Arabic figures: codes write "Article II" and "Article 2"."""
    roman = number.casefold()
    # Of single letters only I, V and X are taken for numerals: "Part C" and "Part D" are letters.
    if not _ROMAN.fullmatch(roman) or (len(roman) == 1 and roman not in "ivx"):
        return roman
    digits = [_VALUES[c] for c in roman]
    following = [*digits[1:], 0]
    return str(sum(-d if d < n else d for d, n in zip(digits, following, strict=True)))


class Registry:
    """What is held of one city, to be looked up by number, unit and place."""

    def __init__(self, entries: Iterable[Entry], place: Sequence[str]) -> None:
        self.entries = tuple(entries)  # in reading order
        self.place = tuple(place)  # the words of the city's name
        self._positions = {e.key: i for i, e in enumerate(self.entries)}
        self._sections: dict[str, list[Entry]] = {}
        self._tables: dict[str, list[Entry]] = {}
        self._enacted: dict[str, list[Entry]] = {}
        self._codes: dict[int, tuple[str, ...]] = {}
        self._nodes: dict[tuple[str, ...], Node] = {}  # by path, the node's own step included
        self._parts: dict[tuple[str, str], list[tuple[tuple[str, ...], Node]]] = {}
        self._roots: dict[str, tuple[str, ...]] = {}  # the code's words by the root of its paths
        self._same: dict[tuple[tuple[str, ...], tuple[str, ...]], bool] = {}
        for entry in self.entries:
            self._add(entry)
            if entry.path:
                self._roots.setdefault(entry.path[0], self._codes[entry.key])
        for entry in self.entries:
            for depth in range(1, len(entry.path) + 1):
                self._add_container(entry.path[:depth])
        self._number_silent_chapters()

    def _add(self, entry: Entry) -> None:
        cited = parse_citation(entry.citation)
        self._codes[entry.key] = cited.words if cited.number else ()
        if enacted := enactment_of(entry.citation):
            self._enacted.setdefault(enacted, []).append(entry)
        for table in entry.tables:
            self._tables.setdefault(table, []).append(entry)
        unit, _, number = (entry.number or "").rpartition(" ")
        if number and unit in ("", "section"):
            self._sections.setdefault(number, []).append(entry)
        part = Part(unit=unit, number=number) if number and unit else part_of_heading(entry.heading)
        path = (*entry.path, entry.heading)
        if path not in self._nodes:
            self._nodes[path] = entry
            if part is not None and part.unit != "section":
                self._index(part, path, entry)

    def _add_container(self, path: tuple[str, ...]) -> None:
        if path in self._nodes:
            return
        node = Container(path=path)
        self._nodes[path] = node
        if part := part_of_heading(path[-1]):
            self._index(part, path, node)

    def _number_silent_chapters(self) -> None:
        """Give a container whose heading has no number the one that all its sections begin with.

        "SUPPLEMENTARY REGULATIONS" that holds 18.125.010 and 18.125.020 is chapter 18.125.
        """
        stems: dict[tuple[str, ...], set[str]] = {}
        for entry in self.entries:
            if entry.path and entry.number:
                stems.setdefault(entry.path, set()).add(re.sub(r"[.\-]\w+$", "", entry.number))
        for path, numbers in stems.items():
            node = self._nodes[path]
            if len(numbers) == 1 and isinstance(node, Container) and not part_of_heading(path[-1]):
                self._index(Part(unit="chapter", number=numbers.pop()), path, node)

    def _index(self, part: Part, path: tuple[str, ...], node: Node) -> None:
        self._parts.setdefault((part.unit, plain_number(part.number)), []).append((path, node))

    # -------------------------------------------------------------- what the graph is made of

    def containers(self) -> list[Container]:
        """Return every container that is no section of its own."""
        return [n for n in self._nodes.values() if isinstance(n, Container)]

    def parent_of(self, node: Node) -> Node | None:
        """Return what a node stands in."""
        path = node.path if isinstance(node, Entry) else node.path[:-1]
        return self._nodes.get(path) if path else None

    def next_of(self, entry: Entry) -> Entry | None:
        """Return the section that follows in reading order in the same part of the code."""
        return self._beside(entry, 1)

    def _beside(self, entry: Entry, step: int) -> Entry | None:
        at = self._positions[entry.key] + step
        if not 0 <= at < len(self.entries):
            return None
        other = self.entries[at]
        same_code_ = self._codes[other.key] == self._codes[entry.key]
        same_root = other.path[:1] == entry.path[:1] or other.document == entry.document
        return other if same_code_ and same_root else None

    # -------------------------------------------------------------- resolution

    def resolve(self, mention: Mention, source: Entry) -> Resolution:
        """Return what a mention in the section `source` leads to."""
        if mention.kind == "ordinance":
            return self._ordinance(mention)
        if mention.kind in _OTHERS_LAW or (mention.law and not self._holds(mention)):
            return Resolution(reason=Unresolved.EXTERNAL_LAW)
        if mention.kind == "relative":
            return self._relative(mention, source)
        if mention.kind == "table":
            return self._chosen(self._tables.get(mention.number, []), mention, source)
        return self._numbered(mention, source)

    def _numbered(self, mention: Mention, source: Entry) -> Resolution:
        if mention.unit == "section":
            return self._section(mention, source)
        return self._container(mention, source)

    def _ordinance(self, mention: Mention) -> Resolution:
        found = self._enacted.get(enactment_of(mention.law or mention.number), [])
        if not found:
            return Resolution(reason=Unresolved.ORDINANCE_NOT_HELD)
        return _one(found)

    def _holds(self, mention: Mention) -> bool:
        """Tell whether some code of the registry can go by the name that a mention gives."""
        return any(self._meant(mention, own) for own in dict.fromkeys(self._codes.values()))

    def _meant(self, mention: Mention, own: tuple[str, ...]) -> bool:
        """Tell whether a mention's law can be the code of these words."""
        asked = law_words(mention.law)
        title = next((p.number for p in _parts(mention) if p.unit == "title"), "")
        # "§ 108 of Title 14 of the Municipal Regulations" and "14 DCMR § 108" are one.
        return self._fits(asked, own) or (title != "" and self._fits((title, *asked), own))

    def _fits(self, asked: tuple[str, ...], own: tuple[str, ...]) -> bool:
        pair = (asked, own)
        if pair not in self._same:
            # A code that has no name of its own in citations is only meant by names that fit any.
            self._same[pair] = (
                same_code(asked, own, self.place) and not _other_sort(asked, own)
                if names_a_code(own)
                else any(same_code(asked, name, self.place) for name in self._plain_names())
            )
        return self._same[pair]

    def _plain_names(self) -> Iterator[tuple[str, ...]]:
        """Yield the names by which a code can go that its own citations do not name."""
        place = self.place[:-1] if len(self.place) > 1 else self.place  # without the state
        for sort in _CODES_OF_PLACES:
            yield (*place, *sort)
        for root in self._roots:
            yield tuple(re.findall(r"[a-z]+", _CONTAINER_HEADING.sub("", root).casefold()))

    def _relative(self, mention: Mention, source: Entry) -> Resolution:
        if mention.unit in (
            "section",
            "subsection",
            "paragraph",
            "subparagraph",
            "subsubparagraph",
        ):
            if mention.number:
                other = self._beside(source, -1 if mention.number == "preceding" else 1)
                return (
                    Resolution(target=other)
                    if other and other.path == source.path
                    else Resolution(reason=Unresolved.NO_CONTAINER)
                )
            return Resolution(target=source)
        own = None if mention.number else self._own(mention.unit, source)
        if own is None:
            return Resolution(reason=Unresolved.NO_CONTAINER)
        return Resolution(target=own)

    def _own(self, unit: str, source: Entry) -> Node | None:
        """Return the unit that a section stands in, or is."""
        path = (*source.path, source.heading)
        for depth in range(len(path), 0, -1):
            part = part_of_heading(path[depth - 1])
            if part is not None and part.unit == unit:
                return self._nodes.get(path[:depth])
        whole = unit in ("code", "ordinance", "regulation", "act", "local law")
        if whole and source.path and part_of_heading(source.path[0]) is None:
            return self._nodes.get(source.path[:1])
        return None

    def _section(self, mention: Mention, source: Entry) -> Resolution:
        for number in _shorter(mention.number):
            if found := self._sections.get(number) or self._in_chapter(number):
                return self._chosen(found, mention, source)
        if mention.number == source.number:  # its own number, whatever the registry made of it
            return Resolution(target=source)
        return self._container(mention, source)

    def _in_chapter(self, number: str) -> list[Entry]:
        """Return the sections that "18-4.3.1" means in a code whose chapter 18 has a section 4.3.1."""
        chapter, _, rest = number.partition("-")
        return [
            entry
            for entry in self._sections.get(rest, [])
            if entry.path
            and (part := part_of_heading(entry.path[0])) is not None
            and part == Part(unit="chapter", number=chapter)
        ]

    def _container(self, mention: Mention, source: Entry) -> Resolution:
        found = self._parts.get((mention.unit, plain_number(mention.number)), [])
        nodes = dict(found)
        paths = [p for p in nodes if self._of_law(mention, source, p)]
        paths = [p for p in paths if self._inside(p[:-1], mention.within, source)]
        if not paths:
            return Resolution(reason=Unresolved.NO_SUCH_SECTION)
        near = _nearest(paths, lambda p: p[:-1], source.path)
        return _one([nodes[p] for p in near])

    def _of_law(self, mention: Mention, source: Entry, path: tuple[str, ...]) -> bool:
        """Tell whether a container can be of the law that was named, or of the source's own."""
        words = self._root_words(path[0])
        if mention.law and names_a_code(law_words(mention.law)):
            return self._meant(mention, words) or self._meant(
                mention, tuple(w for w in words if not w.isdigit())
            )
        return path[:1] == source.path[:1] or words == self._codes[source.key]

    def _root_words(self, root: str) -> tuple[str, ...]:
        """Return the name in citations of the code that a root of paths belongs to."""
        return self._roots.get(root, ())

    def _chosen(self, found: Sequence[Entry], mention: Mention, source: Entry) -> Resolution:
        """Choose among sections of one number: by code, by container, by nearness, the living first."""
        candidates = self._of_code(found, mention, source)
        if not candidates:
            return Resolution(reason=Unresolved.NO_SUCH_SECTION)
        if mention.within:
            inside = [c for c in candidates if self._inside(c.path, mention.within, source)]
            if not inside and not is_compound(mention.number):
                return Resolution(reason=Unresolved.NO_SUCH_SECTION)
            candidates = inside or candidates
        for prefer in (
            lambda c: c.key == source.key,
            lambda c: c.document == source.document,
            lambda c: c.citation.casefold().rstrip(". ").endswith(mention.number),
            lambda c: c.standing is Standing.IN_FORCE,
        ):
            preferred = [c for c in candidates if prefer(c)]
            candidates = preferred or candidates
        return _one(_nearest(candidates, lambda c: c.path, source.path))

    def _of_code(self, found: Sequence[Entry], mention: Mention, source: Entry) -> list[Entry]:
        own = [c for c in found if self._codes[c.key] == self._codes[source.key]]
        if mention.law and names_a_code(law_words(mention.law)):
            return [c for c in found if self._meant(mention, self._codes[c.key])]
        # A plain "section 5" is one of the same code; "28-105.1" may stand for a place in another.
        return own or (list(found) if is_compound(mention.number) else [])

    def _inside(self, path: tuple[str, ...], within: Sequence[Part], source: Entry) -> bool:
        """Tell whether a path passes through all the units that a mention names."""
        parts = {(p.unit, plain_number(p.number)) for step in path if (p := part_of_heading(step))}
        for part in within:
            if part.number:
                if (part.unit, plain_number(part.number)) not in parts:
                    return False
                continue
            own = self._own(part.unit, source)
            if own is None and part.unit in _OTHER_WHOLES:
                return False
            if isinstance(own, Container) and path[: len(own.path)] != own.path:
                return False
        return True


def _parts(mention: Mention) -> tuple[Part, ...]:
    return (Part(unit=mention.unit, number=mention.number), *mention.within)


def _other_sort(asked: Iterable[str], own: Iterable[str]) -> bool:
    """Tell whether one name is of regulations and the other of a code: both may be the city's."""
    rules = {"regulation", "regulations", "rules", "regs"}
    return bool(rules & set(asked)) and "code" in own and not rules & set(own)


@cache
def law_words(law: str) -> tuple[str, ...]:
    """Return the words of a law's name in the form that `same_code` compares."""
    return parse_citation(f"{law} § 1").words


def _shorter(number: str) -> list[str]:
    """Return a number and, without the letters that may name a paragraph of it, its stem."""
    numbers = [number]
    if match := re.search(r"(?<=\d)[.\-][a-z][.\-]\w.*$", number):  # "9.03.c.4"
        numbers.append(number[: match.start()])
    while match := re.search(r"(?<=\d)(?:[.\-][a-z]|\([^()]*\))$", numbers[-1]):
        numbers.append(numbers[-1][: match.start()])
    return numbers


def _nearest(
    items: Sequence[T], path_of: Callable[[T], tuple[str, ...]], here: tuple[str, ...]
) -> list[T]:
    """Return the items that share the longest beginning of their path with ours."""
    shared = [_shared(path_of(item), here) for item in items]
    best = max(shared, default=0)
    return [item for item, n in zip(items, shared, strict=True) if n == best]


def _shared(path: Sequence[str], here: Sequence[str]) -> int:
    count = 0
    for a, b in zip(path, here, strict=False):
        if a != b:
            break
        count += 1
    return count


def _one(nodes: Sequence[Node]) -> Resolution:
    if len(nodes) == 1:
        return Resolution(target=nodes[0])
    return Resolution(reason=Unresolved.SEVERAL, candidates=tuple(nodes[:_MOST_SHOWN]))


_OTHERS_LAW = frozenset({"state", "federal", "former", "act"})
_CODES_OF_PLACES = (
    ("city", "code"),
    ("county", "code"),
    ("town", "code"),
    ("municipal", "code"),
    ("code", "of", "ordinances"),
    ("zoning", "ordinance"),
)
# "this compact" set out in a section of a code is not that code.
_OTHER_WHOLES = frozenset({"act", "compact", "agreement", "local law"})
_MOST_SHOWN = 20  # candidates that a clerk would still look through

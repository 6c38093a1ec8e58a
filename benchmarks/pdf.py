"""PDF to text: pages a second, facts found, and words in order against hand-checked XML.

Two ways are measured in the same run, in turn: ours, and the plain page text of
pypdfium2 (what most pipelines index).  The XML is the same by-law, typed and
checked by people; an excerpt of a gazette holds more than that by-law, so that only
what of the by-law is found counts, not what else there is.
"""

from __future__ import annotations

import json
import re
import time
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pypdfium2

from appliance.formats.parsed import Unparsable
from appliance.formats.pdf import parse_pdf
from appliance.formats.strict_xml import Element, name_of, read_xml

# Words in a row that are looked up: long enough to be said once or twice in a by-law.
RUN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Words that a good extraction of a file holds in this order."""

    file: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One file, read in one way."""

    way: str
    file: str
    pages: int
    seconds: float
    words: tuple[str, ...]
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How much of a true text was found, and how much of that in its order."""

    runs: int  # of RUN words in the true text
    found: float  # share of these
    in_order: float  # share of the found ones that also follow one another


# ------------------------------------------------------------------ scores


_QUOTES = str.maketrans({"‘": "'", "’": "'", "`": "'", "´": "'", "“": '"', "”": '"'})
_WORD = re.compile(r"[^\W_]+")
_NOTE_MARK = re.compile(r"\[\^\w+\]")


def words_of(text: str) -> tuple[str, ...]:
    """Return a text's words in small letters: ligatures, quotes, hyphens and pipes are equal."""
    plain = unicodedata.normalize("NFKC", _NOTE_MARK.sub(" ", text)).translate(_QUOTES)
    return tuple(_WORD.findall(plain.replace("\u00ad", "").replace("\ufffe", "-").casefold()))


def holds(words: Sequence[str], fact: Sequence[str]) -> bool:
    """Tell whether the words of a fact follow one another in a text."""
    return f" {' '.join(fact)} " in f" {' '.join(words)} "


def order_of(truth: Sequence[str], found: Sequence[str]) -> Order:
    """Return how many runs of the true text are found, and the share of them in the true order.

    Order is judged on the runs that both texts hold once: the longest series of them
    whose places rise in both.
    """
    true_runs, there = list(_runs(truth)), Counter(_runs(found))
    once = Counter(true_runs)
    hits = sum(1 for r in true_runs if there[r])
    places = {r: i for i, r in enumerate(_runs(found)) if there[r] == 1}
    series = [places[r] for r in true_runs if r in places and once[r] == 1]
    return Order(
        runs=len(true_runs),
        found=hits / len(true_runs) if true_runs else 0.0,
        in_order=longest_rise(series) / len(series) if series else 0.0,
    )


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1))


def longest_rise(places: Sequence[int]) -> int:
    """Return the length of the longest rising series within a series."""
    ends: list[int] = []
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(ends)


# ------------------------------------------------------------------ the two ways


def _ours(raw: bytes) -> tuple[str, int]:
    parsed = parse_pdf(raw, ocr_seconds=0)
    return parsed.body, len(parsed.pages)


def _plain(raw: bytes) -> tuple[str, int]:
    document = pypdfium2.PdfDocument(raw)
    texts = [page.get_textpage().get_text_range() for page in document]
    return "\n".join(texts), len(texts)


WAYS: dict[str, Callable[[bytes], tuple[str, int]]] = {"permitbox": _ours, "plain": _plain}


def read_in_turn(path: Path, name: str, rounds: int) -> list[Read]:
    """Read a file in each way, in turn, and keep the fastest round of each."""
    raw = path.read_bytes()
    best: dict[str, Read] = {}
    for _ in range(rounds):
        for way, read in WAYS.items():
            began = time.perf_counter()
            try:
                text, pages = read(raw)
                refused = ""
            except Unparsable as reason:
                text, pages, refused = "", 0, str(reason)
            took = time.perf_counter() - began
            if way not in best or took < best[way].seconds:
                best[way] = Read(
                    way=way,
                    file=name,
                    pages=pages,
                    seconds=took,
                    words=words_of(text),
                    refused=refused,
                )
    return list(best.values())


def true_text(raw: bytes) -> str:
    """Return the text of an Akoma Ntoso act in document order, a blank between its blocks."""
    root = read_xml(raw)
    return "".join(_said(root))


_SILENT = frozenset({"meta", "remark"})
_BLOCKS = frozenset(
    {"p", "num", "heading", "subheading", "listIntroduction", "td", "th", "longTitle"}
)


def _said(element: Element) -> Iterator[str]:
    if name_of(element) in _SILENT:
        return
    yield element.text or ""
    for child in element:
        yield from _said(child)
        yield child.tail or ""
    if name_of(element) in _BLOCKS:
        yield "\n"


# ------------------------------------------------------------------ the report


def compare(shared: Path, rounds: int) -> Iterator[str]:
    """Yield the report line by line: speed and order by file, facts by kind."""
    reads: dict[str, list[Read]] = {}
    for path in sorted(shared.glob("corpus/pdf-*/*.pdf")):
        name = str(path.relative_to(shared))
        reads[name] = read_in_turn(path, name, rounds)
        yield _file_line(reads[name], path.with_suffix(".akn.xml"))
    yield ""
    yield from _fact_lines(list(_facts(shared)), reads)
    yield _speed_line([r for of in reads.values() for r in of])


def _facts(shared: Path) -> Iterator[Fact]:
    for line in (shared / "eval" / "dev-pdf.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        yield Fact(file=case["file"], kind=case["kind"], text=case["text"])


def _file_line(reads: list[Read], truth: Path) -> str:
    name = Path(reads[0].file).stem
    if reads[0].refused:
        return f"{name:<45} refused: {reads[0].refused}"
    cells = [f"{r.way} {r.pages / r.seconds:6.1f} pages/s" for r in reads]
    if truth.is_file():
        words = words_of(true_text(truth.read_bytes()))
        for read in reads:
            order = order_of(words, read.words)
            cells.append(f"{read.way} found {order.found:.3f} in order {order.in_order:.3f}")
        cells.append(f"n={len(words):,} words")
    return f"{name:<45} {'  '.join(cells)}"


def _fact_lines(facts: list[Fact], reads: dict[str, list[Read]]) -> Iterator[str]:
    for way in WAYS:
        words = {name: next(r.words for r in of if r.way == way) for name, of in reads.items()}
        hits = Counter(f.kind for f in facts if holds(words[f.file], words_of(f.text)))
        total = Counter(f.kind for f in facts)
        kinds = "  ".join(f"{kind} {hits[kind]}/{n}" for kind, n in sorted(total.items()))
        yield f"facts, {way:<10} {sum(hits.values())}/{len(facts)}  {kinds}"


def _speed_line(reads: list[Read]) -> str:
    seconds = {w: sum(r.seconds for r in reads if r.way == w and r.pages) for w in WAYS}
    pages = sum(r.pages for r in reads if r.way == "permitbox")
    ours = {r.file for r in reads if r.way == "permitbox" and r.pages}
    plain = sum(r.seconds for r in reads if r.way == "plain" and r.file in ours)
    rate = pages / seconds["permitbox"] if pages else 0.0
    return (
        f"{pages} pages with text: {rate:.1f} pages/s, {seconds['permitbox'] / plain:.1f} times "
        f"the time of plain page text"
    )

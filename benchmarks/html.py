"""Pages a second of HTML to Markdown, and whether the words and the cells are right.

Ours, the classic way (BeautifulSoup for tables, html2text for the rest), trafilatura and the
converters that were candidates run in turn on the same pages, A B C …, and ratios are taken
round by round: on a shared machine only those mean anything.  Text is scored on the pages of
San Mateo's sections against the publisher's own data; tables on every page of the corpus that
has any, against grids that lxml and a plain reading of the spans give, and against the pipe tables as
markdown-it reads them.  The other converters are in the extra `bench`.
"""

from __future__ import annotations

import io
import json
import re
import statistics
import tarfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

import html2text
import html_to_markdown
import markdownify
import trafilatura
import zstandard
from bs4 import BeautifulSoup
from lxml import etree
from markdown_it import MarkdownIt

from appliance.formats.html import parse_html

Converter = Callable[[bytes], str]
Rows = list[list[str]]

_SECTION_PAGES = "code-san-mateo-ca/raw-html-titles-17-23-26-27.tar.zst"
_SECTIONS = "code-san-mateo-ca/sections.jsonl.zst"
_WITH_TABLES = (
    _SECTION_PAGES,
    "code-spanish-fork-ut/raw-html-titles.tar.zst",
    "code-ray-county-mo/raw-md-and-html.tar.zst",
)
# Two readings of one table share more of their cells than this; below it, ours is another table.
_SAME_TABLE = 0.3
_BLOCKS = ("p", "div", "li", "br", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6")
_LOOSE = ("fixtures-city-pages/*.html", "fixtures-codifier-apis/*/*.htm*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A saved page, and the text that its publisher's data gives it."""

    name: str
    raw: bytes
    truth: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """How the cells of the corpus's tables fared."""

    tables: int
    cells: int
    found: int
    written: int
    missing: int  # tables that it left as paragraphs, or dropped

    @property
    def f1(self) -> float:
        """Return the F1 of cells: of its two sides, the values that are in both."""
        return 2 * self.found / (self.cells + self.written) if self.cells + self.written else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Pages a second of one converter, by round, and the F1 of its words."""

    name: str
    rates: tuple[float, ...]
    words: float
    cells: Cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run measured."""

    pages: int
    speeds: tuple[Speed, ...]

    def lines(self) -> Iterator[str]:
        """Yield the figures as lines; ratios are of ours to the other, round by round."""
        ours = self.speeds[0]
        yield f"pages: {self.pages} of San Mateo's sections, rounds: {len(ours.rates)}"
        for speed in self.speeds:
            ratios = [a / b for a, b in zip(ours.rates, speed.rates, strict=True)]
            yield (
                f"{speed.name}: median {statistics.median(speed.rates):.0f} pages/s, "
                f"ours is {statistics.median(ratios):.1f} times as fast "
                f"({min(ratios):.1f} to {max(ratios):.1f}), words F1 {speed.words:.4f}; "
                f"cells F1 {speed.cells.f1:.4f} in {speed.cells.tables} tables "
                f"({speed.cells.cells} cells), {speed.cells.missing} tables missing"
            )


def measure(corpus: Path, *, rounds: int = 5, every: int = 5) -> Report:
    """Measure on every `every`-th section page of the corpus; all its tables."""
    pages = list(section_pages(corpus))
    sample = pages[::every]
    with_tables = list(pages_with_tables(corpus))
    rates: dict[str, list[float]] = {name: [] for name in CONVERTERS}
    for _ in range(rounds):
        for name, convert in CONVERTERS.items():
            began = time.perf_counter()
            for page in sample:
                convert(page.raw)
            rates[name].append(len(sample) / (time.perf_counter() - began))
    speeds = tuple(
        Speed(
            name=name,
            rates=tuple(rates[name]),
            words=statistics.mean(words_f1(convert(p.raw), p.truth) for p in sample),
            cells=score_tables(convert, with_tables),
        )
        for name, convert in CONVERTERS.items()
    )
    return Report(pages=len(sample), speeds=speeds)


# ------------------------------------------------------------------ converters


def ours(raw: bytes) -> str:
    """Return the body of a page as PermitBox reads it."""
    return parse_html(raw).body


def classic(raw: bytes, parser: str = "html.parser") -> str:
    """Return a page the way it is commonly done: frame away, tables by hand, html2text for the rest."""
    soup = BeautifulSoup(raw.decode("utf-8", "replace"), parser)
    for junk in soup(["script", "style", "nav", "header", "footer"]):
        junk.decompose()
    main = soup.find("main") or soup.body or soup
    tables: list[str] = []
    for table in main.find_all("table"):
        rows = [
            [cell.get_text(" ", strip=True) for cell in row.find_all(["td", "th"])]
            for row in table.find_all("tr")
        ]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, "|" + "---|" * max((len(row) for row in rows), default=1))
        table.replace_with(f"TABLE{len(tables)}MARK")
        tables.append("\n".join(lines))
    writer = html2text.HTML2Text(bodywidth=0)
    writer.ignore_links = writer.ignore_images = writer.ignore_emphasis = True
    body = writer.handle(str(main))
    for number, table_lines in enumerate(tables):
        body = body.replace(f"TABLE{number}MARK", table_lines)
    return str(body)


def classic_on_lxml(raw: bytes) -> str:
    """Return `classic` with BeautifulSoup on its fastest parser."""
    return classic(raw, "lxml")


def extracted(raw: bytes) -> str:
    """Return a page by trafilatura alone."""
    found = trafilatura.extract(
        raw, output_format="markdown", include_tables=True, include_formatting=True
    )
    return found or ""


def rust(raw: bytes) -> str:
    """Return the whole page by html-to-markdown, which is written in Rust."""
    return str(html_to_markdown.convert(raw.decode("utf-8", "replace")).content or "")


def markdownified(raw: bytes) -> str:
    """Return the whole page by markdownify."""
    return str(markdownify.markdownify(raw.decode("utf-8", "replace")))


def html2text_alone(raw: bytes) -> str:
    """Return the whole page by html2text."""
    return str(html2text.HTML2Text(bodywidth=0).handle(raw.decode("utf-8", "replace")))


CONVERTERS: dict[str, Converter] = {
    "ours": ours,
    "classic (html.parser)": classic,
    "classic (lxml)": classic_on_lxml,
    "trafilatura": extracted,
    "html-to-markdown": rust,
    "markdownify": markdownified,
    "html2text": html2text_alone,
}


# ------------------------------------------------------------------ words


def words_f1(text: str, truth: str) -> float:
    """Return the F1 of the words of a text, as bags of words."""
    mine, theirs = (Counter(re.findall(r"\w+", t.casefold())) for t in (text, truth))
    both = mine.total() + theirs.total()
    return 2 * (mine & theirs).total() / both if both else 1.0


def section_pages(corpus: Path) -> Iterator[Page]:
    """Yield San Mateo's pages of one section each, with the section's number, heading and text."""
    records = {}
    with (corpus / _SECTIONS).open("rb") as raw:
        stream = zstandard.ZstdDecompressor().stream_reader(raw)
        for line in io.TextIOWrapper(stream, "utf-8", newline="\n"):
            record = json.loads(line)
            records[str(record["url"]).rsplit("/us/", 1)[-1]] = record
    for name, page in _archived(corpus / _SECTION_PAGES):
        record = records.get(name.rsplit("us/", 1)[-1].removesuffix(".html"))
        if record is not None:
            number = str(record["citation"]).rsplit(maxsplit=1)[-1]
            yield Page(name=name, raw=page, truth=f"{number} {record['heading']}\n{record['text']}")


def pages_with_tables(corpus: Path) -> Iterator[bytes]:
    """Yield every saved page of the corpus that has a table."""
    for archive in _WITH_TABLES:
        yield from (raw for _, raw in _archived(corpus / archive) if b"<table" in raw)
    for pattern in _LOOSE:
        for path in sorted(corpus.glob(pattern)):
            if b"<table" in (raw := path.read_bytes()):
                yield raw


def _archived(path: Path) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as raw:
        data = zstandard.ZstdDecompressor().stream_reader(raw).read()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".html") else None
            if file is not None:
                yield member.name.removeprefix("./"), file.read()


# ------------------------------------------------------------------ tables


def score_tables(convert: Converter, pages: Sequence[bytes]) -> Cells:
    """Compare the pipe tables of a converter with grids that were read independently of them."""
    tables = cells = found = written = missing = 0
    for raw in pages:
        body = convert(raw)
        mine = [
            Counter(text for row in table for text in row if text) for table in pipe_tables(body)
        ]
        for grid in independent_grids(raw):
            truth = Counter(text for row in grid for text in row if text)
            best = max(mine, key=lambda values: _f1(values, truth), default=Counter[str]())
            if _f1(best, truth) < _SAME_TABLE:
                missing += 1
                continue
            mine.remove(best)
            tables += 1
            cells += truth.total()
            written += best.total()
            found += (best & truth).total()
    return Cells(tables=tables, cells=cells, found=found, written=written, missing=missing)


def _f1(mine: Counter[str], truth: Counter[str]) -> float:
    both = mine.total() + truth.total()
    return 2 * (mine & truth).total() / both if both else 0.0


def independent_grids(raw: bytes) -> Iterator[Rows]:
    """Yield the grid of every innermost table of two columns or more, by lxml: spans written out."""
    tree = etree.HTML(raw, etree.HTMLParser(encoding="utf-8", remove_comments=True))
    for table in tree.iter("table"):
        if table.find(".//table") is not None:
            continue
        head = table.findall("thead/tr")
        body = [row for row in table.iter("tr") if row.getparent().tag not in {"thead", "tfoot"}]
        while not head and body and all(cell.tag == "th" for cell in body[len(head)]):
            head.append(body.pop(0))
            if not body:
                body, head = head, []
                break
        rows = [_heading_row(_spread(head)), *_spread(body), *_spread(table.findall("tfoot/tr"))]
        columns = {x for row in rows for x, text in row.items() if text}
        if len(columns) > 1:
            yield [[row.get(x, "") for x in sorted(columns)] for row in rows]


def _heading_row(rows: Sequence[dict[int, str]]) -> dict[int, str]:
    """Return rows of a head as one, values joined by " / ", a value under itself once."""
    columns = sorted({x for row in rows for x in row})
    return {
        x: " / ".join(text for text, _ in groupby(row[x] for row in rows if row.get(x)))
        for x in columns
    }


def _spread(part: Sequence[etree._Element]) -> list[dict[int, str]]:
    """Return the slots of the rows of a part, each cell written where it spans."""
    rows: list[dict[int, str]] = [{} for _ in part]
    for y, row in enumerate(part):
        x = 0
        for cell in row.iterchildren("td", "th"):
            while x in rows[y]:
                x += 1
            deep, wide = int(cell.get("rowspan") or 1), int(cell.get("colspan") or 1)
            for below in range(y, min(y + deep, len(part))):
                for right in range(x, x + wide):
                    rows[below].setdefault(right, _cell_words(cell))
    return rows


def _cell_words(cell: etree._Element) -> str:
    """Return a cell's words, its blocks apart, without what a browser hides."""
    for block in cell.iter(*_BLOCKS):
        block.tail = f" {block.tail or ''}"
        if block.tag != "br":
            block.text = f" {block.text or ''}"
    return " ".join("".join(cell.itertext()).split())


def pipe_tables(body: str) -> list[Rows]:
    """Return the tables of a Markdown body, as markdown-it reads them."""
    tables: list[Rows] = []
    for token, following in pairwise(MarkdownIt("commonmark").enable("table").parse(body)):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in {"td_open", "th_open"}:
            tables[-1][-1].append(following.content)
    return tables

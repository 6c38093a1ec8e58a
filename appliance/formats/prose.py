"""A part of a page to Markdown: headings, outlines with their depth, lists, tables, plain paragraphs.

Emphasis, links and images are plumbing and leave their words only, so that a quotation of
the law is the law's own characters.  What is kept beside the words is what they mean:
struck-out text ("~~") because it is repealed text, and raised digits apart from the digits
before them, because "4,400" with a note 2 is not 44,002.

The depth of an outline is two spaces a level, as in the corpus files.  Labels and texts that a
publisher sets apart ("(a)" in one paragraph, its words in the next) are joined.
It does not know publishers; the marks that it reads are theirs, listed in one place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from appliance.formats.markup import Markup, Walk, attribute
from appliance.formats.tables import data_grid, pipe_table
from appliance.formats.wording import BREAK, LOWERED, RAISED, tidy

_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_BLOCKS = frozenset({
    "p", "div", "section", "article", "main", "aside", "header", "footer", "nav", "hgroup",
    "blockquote", "address", "figure", "figcaption", "center", "fieldset", "legend", "details",
    "summary", "form", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "td",
    "th", "body", "hr", "search",
})  # fmt: skip
_MARKED = frozenset({"p", "div", "td"})  # the blocks whose classes may tell a depth or a heading
_LISTS = frozenset({"ul", "ol", "dir", "menu"})
_BREAKING = _BLOCKS | _LISTS | frozenset(_HEADINGS) | {"li", "pre"}  # they end what was before
_STRUCK = frozenset({"del", "s", "strike"})

# A paragraph that is nothing but the label of the next one: "(a)", "1.", "A.", "(iv)", "(a)(1)", "•".
_LABEL_ONLY = re.compile(
    r"(?:\([A-Za-z0-9]{1,5}\)\s*){1,4}|(?:\d{1,3}|([A-Za-z])\1{0,2}|[ivxlcIVXLC]{2,6})[.)]|[•·▪‣◦●■o–-]"
)
_LABELLED = re.compile(
    r"(?:\([A-Za-z0-9]{1,5}\)|(?:\d{1,3}|([A-Za-z])\1{0,2}|[ivxlc]{2,6})[.)]|-)\s"
)
_BULLETS = frozenset("•·▪‣◦●■o–-")
_STRUCK_NOTHING = re.compile(r"~~\s*~~")
# Notes under a section, and members of a list set in a heading's size; as headings they would be
# sections without a number.
_NOTE_HEADING = re.compile(
    r"(?:history|cross[- ]references?|editor['’]?s?['’]? notes?|notes?|annotations?|"
    r"(?:state|charter|statutory|legal) (?:law )?references?|sources?|case notes)\s*:?"
    r"|[(\[](?:(?:added|amended|adopted|enacted|repealed)\b.{0,20}\b)?(?:ord|res|prior code)\b.*"
    r"|.*(?:[;,]|; or|; and)",
    re.IGNORECASE,
)
# What would begin a heading, a fence, a table or an underline in Markdown, and is text here.
_MEANT_AS_TEXT = re.compile(r"^(?=#{1,6}\s|```|~~~|\||=+$|-+$)", re.MULTILINE)

# How publishers say depth and heading in class names: San Mateo's "text-indent-2", Municode's
# "incr1" (a label), "content2" (its words) and "b3" (a paragraph without a label): content and b
# count from one.
_INDENT = re.compile(r"(?:^|\s)(?:(?:text-)?indent-?|incr)(\d)(?=\s|$)")
_CONTENT = re.compile(r"(?:^|\s)(?:content|b)([1-9])(?=\s|$)")
# Municode's "chunk-title" and Municipal Code Online's "phx-name" are headings in all but the tag.
_TITLE_CLASS = re.compile(r"(?:^|\s)(?:chunk-title|phx-name)(?=\s|$)")
# American Legal sets three no-break spaces before a label for each level.
_NO_BREAKS = re.compile(r"^[ \t\n]*(\u00a0{3,30})[ \t\n]*(?=\()")
_RANKS = (("title", 1), ("chapter", 2), ("article", 3), ("division", 4), ("part", 4))
_SECTION_RANK = 5
_DEEPEST = 9


class Block(NamedTuple):
    """A block of the Markdown to be: "text", "line" (belongs to the one before), "heading", "table", "pre"."""

    kind: str
    depth: int
    text: str


@dataclass(slots=True)
class _OpenList:
    ordered: bool
    style: str  # "1" | "a" | "A" | "i" | "I"
    number: int


@dataclass(slots=True)
class _Writer:
    """What has been written so far, and the state of the walk.  Lives for one `write_markdown`."""

    markup: Markup
    blocks: list[Block] = field(default_factory=list)
    buffer: list[str] = field(default_factory=list)
    lists: list[_OpenList] = field(default_factory=list)
    label: str = ""  # waits for its words
    numbered: bool = False  # whether the label is a list's own number, not the page's text
    label_depth: int = 0
    depth: int = 0
    heading: int = 0  # the level, inside a heading
    struck: int = 0
    layouts: int = 0  # tables around this place that lay out the page
    apart: bool = True  # whether the next text is a paragraph of its own
    images: int = 0


class Prose(NamedTuple):
    """A part of a page as Markdown, and what was met on the way."""

    body: str
    tables: int
    images: int
    hidden: int  # characters of text that a browser would not have shown


def write_markdown(
    root: LexborNode, markup: Markup, *, omitted: frozenset[int] = frozenset()
) -> Prose:
    """Return what a reader sees of an element, as Markdown, without the elements `omitted`."""
    writer = _Writer(markup)
    walk = Walk(root, markup.unseen | omitted)
    for node, tag, entered in walk:
        if tag == "-text":
            writer.buffer.append(node.text_content or "")
            continue
        if tag in _BREAKING and writer.buffer:
            _flush(writer)
        if not entered:
            _leave(writer, node, tag)
        elif _enter(writer, node, tag):
            walk.pass_over()
    _flush(writer)
    _drop_label(writer)
    return Prose(
        body=_joined(_without_stubs(writer.blocks)),
        tables=sum(b.kind == "table" for b in writer.blocks),
        images=writer.images,
        hidden=sum(
            len(" ".join(node.text().split())) for node in walk.passed if node.mem_id not in omitted
        ),
    )


def _enter(writer: _Writer, node: LexborNode, tag: str) -> bool:
    """Take an opening tag; return whether its content is dealt with already."""
    if tag == "table":
        return _enter_table(writer, node)
    if tag == "pre":
        _preformatted(writer, node)
        return True
    if tag in _BLOCKS:
        if tag in _MARKED:
            _read_marks(writer, node)
        writer.apart = tag != "dd"
    elif tag in _LISTS:
        writer.lists.append(_open_list(node, tag))
    elif tag == "li":
        _label_item(writer, node)
    elif tag in _HEADINGS:
        writer.heading = _HEADINGS[tag]
        _own_number(writer, node.attributes)
    else:
        _enter_inline(writer, node, tag)
    return False


def _enter_inline(writer: _Writer, node: LexborNode, tag: str) -> None:
    if tag == "br":
        writer.buffer.append(BREAK)
    elif tag == "sup":
        writer.buffer.append(RAISED)
    elif tag == "img":
        writer.images += 1
        writer.buffer.append(" ")
    elif tag in _STRUCK or node.mem_id in writer.markup.struck:
        writer.struck += 1
        if writer.struck == 1:
            writer.buffer.append("~~")


def _leave(writer: _Writer, node: LexborNode, tag: str) -> None:
    if tag in _BREAKING:
        if tag == "li":
            _drop_label(writer)
        elif tag in _LISTS and writer.lists:
            writer.lists.pop()
        elif tag == "table":
            writer.layouts -= 1
        writer.heading = 0
        writer.depth = _list_depth(writer)
    elif tag == "sup":
        writer.buffer.append(LOWERED)
    elif tag in _STRUCK or node.mem_id in writer.markup.struck:
        writer.struck -= 1
        if writer.struck == 0:
            writer.buffer.append("~~")


def _enter_table(writer: _Writer, node: LexborNode) -> bool:
    grid = data_grid(node, writer.markup.unseen, writer.layouts)
    if grid is None:
        writer.layouts += 1
        return False  # its cells are paragraphs
    _drop_label(writer)
    if grid.caption:
        writer.blocks.append(Block("text", 0, grid.caption))
    writer.blocks.append(Block("table", 0, pipe_table(grid)))
    writer.images += grid.images
    return True


def _read_marks(writer: _Writer, node: LexborNode) -> None:
    """Take depth, heading level and number from a block's attributes."""
    attributes = node.attributes
    if not attributes:
        return
    depth, is_title = _marks_of_class(attributes.get("class") or "")
    if depth is not None:
        writer.depth = min(depth, _DEEPEST)
    if is_title:
        writer.heading = rank_of(node.text())
    elif component := attributes.get("data-component"):  # eCode360: <div data-component="h4">
        writer.heading = _HEADINGS.get(component, 0)
    _own_number(writer, attributes)


@lru_cache(maxsize=4096)
def _marks_of_class(names: str) -> tuple[int | None, bool]:
    """Return (depth or None, whether it is a heading) as class names say it."""
    if match := _INDENT.search(names):
        depth = int(match[1]) - (1 if "indent" in match[0] else 0)
        return max(0, depth), False
    if match := _CONTENT.search(names):
        return int(match[1]) - 1, False
    return None, _TITLE_CLASS.search(names) is not None


def rank_of(heading: str) -> int:
    """Return the level of a heading that has none of its own, by its first word."""
    words = heading.split(maxsplit=1)
    first = words[0].casefold().strip(".") if words else ""
    return next((level for word, level in _RANKS if first == word), _SECTION_RANK)


def _own_number(writer: _Writer, attributes: dict[str, str | None]) -> None:
    """Write the number that MadCap Flare keeps in an attribute, as text or as markup."""
    if number := attributes.get("madcap:autonum"):
        writer.buffer.append(re.sub(r"<[^<>]{0,200}>", "", number) + " ")


def _open_list(node: LexborNode, tag: str) -> _OpenList:
    start = attribute(node, "start")
    style = attribute(node, "type")
    return _OpenList(
        ordered=tag == "ol",
        style=style if style in {"a", "A", "i", "I"} else "1",
        number=int(start) if re.fullmatch(r"-?\d{1,6}", start) else 1,
    )


def _list_depth(writer: _Writer) -> int:
    return min(max(0, len(writer.lists) - 1), _DEEPEST)


def _label_item(writer: _Writer, node: LexborNode) -> None:
    _drop_label(writer)
    writer.depth = _list_depth(writer)
    writer.label_depth = writer.depth
    writer.apart = True
    writer.numbered = True
    if not writer.lists or not writer.lists[-1].ordered:
        writer.label = "-"
        return
    open_ = writer.lists[-1]
    value = attribute(node, "value")
    if re.fullmatch(r"-?\d{1,6}", value):
        open_.number = int(value)
    writer.label = f"{_numeral(open_.number, open_.style)}."
    open_.number += 1


def _numeral(number: int, style: str) -> str:
    if style == "1" or number < 1:
        return str(number)
    if style in "aA":
        letters = ""
        while number:
            number, rest = divmod(number - 1, 26)
            letters = chr(ord(style) + rest) + letters
        return letters
    numeral = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        numeral += letters * min(count, 20)
    return numeral if style == "i" else numeral.upper()


_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def _flush(writer: _Writer) -> None:
    """Make a block of the text collected since the last one."""
    raw = "".join(writer.buffer)
    writer.buffer.clear()
    if not raw or raw.isspace():
        return
    if writer.struck > 0:
        raw += "~~"
        writer.buffer.append("~~")
    text = tidy(_STRUCK_NOTHING.sub(" ", raw) if "~~" in raw else raw)
    if not text:
        return
    if writer.heading:
        _write_heading(writer, text)
        return
    if "\u00a0\u00a0\u00a0" in raw and (match := _NO_BREAKS.match(raw)):
        writer.depth = min(len(match[1]) // 3 - 1, _DEEPEST)
    _write_text(writer, text)


def _write_heading(writer: _Writer, text: str) -> None:
    heading = " ".join(text.split())
    if _NOTE_HEADING.fullmatch(heading):
        _drop_label(writer)
        writer.blocks.append(Block("text", 0, heading))
        return
    if writer.label and not writer.numbered:
        heading = f"{writer.label} {heading}"
    writer.label = ""
    writer.blocks.append(Block("heading", writer.heading, heading))


def _write_text(writer: _Writer, text: str) -> None:
    if _LABEL_ONLY.fullmatch(text):
        _keep_label(writer, "-" if text in _BULLETS else text)
        return
    depth = writer.depth
    if writer.label:
        depth = writer.label_depth
        if not _LABELLED.match(text):  # a label of the publisher's own beats the list's
            text = f"{writer.label} {text}"
        writer.label = ""
    if text[0] in "#`~|=-" or "\n" in text:
        text = _MEANT_AS_TEXT.sub(r"\\", text)
    writer.blocks.append(Block("text" if writer.apart else "line", depth, text))


def _keep_label(writer: _Writer, label: str) -> None:
    """Let a label of the page wait for its words: "(a)", then "(1)", then the text of (a)(1)."""
    if writer.label and not writer.numbered:
        writer.label += f" {label}"
        return
    if not writer.label:
        writer.label_depth = writer.depth
    writer.label, writer.numbered = label, False


def _drop_label(writer: _Writer) -> None:
    """Give up waiting: a label of the page is text of its own, a list's number is nothing."""
    if writer.label and not writer.numbered:
        writer.blocks.append(Block("text", writer.label_depth, writer.label))
    writer.label = ""


def _preformatted(writer: _Writer, node: LexborNode) -> None:
    """Write typewriter text: columns stay as they stand, wrapped prose becomes paragraphs again."""
    lines = node.text().replace("\r", "").expandtabs(4).split("\n")
    columns = sum(bool(re.search(r"\S {3,}\S.* {3,}\S|\S\s*\|\s*\S", line)) for line in lines)
    if columns >= 2 and columns * 4 >= len(lines):
        text = "\n".join(line.rstrip() for line in lines).strip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
        writer.blocks.append(Block("pre", 0, f"{fence}\n{text}\n{fence}"))
        return
    for paragraph in re.split(r"\n(?=\s*\n|\s{2,}\S)", "\n".join(lines)):
        writer.buffer.append(" ".join(paragraph.split()))
        _flush(writer)


def _without_stubs(blocks: list[Block]) -> list[Block]:
    """Leave out headings without text that come again later: a page's own table of contents.

    Spanish Fork's pages hold each section twice so, first empty, then with its text.
    """
    last = {block.text: i for i, block in enumerate(blocks) if block.kind == "heading"}
    kept = []
    for i, block in enumerate(blocks):
        following = blocks[i + 1] if i + 1 < len(blocks) else None
        is_empty = following is None or (
            following.kind == "heading" and following.depth <= block.depth
        )
        if not (block.kind == "heading" and is_empty and last[block.text] > i):
            kept.append(block)
    return kept


def _joined(blocks: list[Block]) -> str:
    """Return the blocks as Markdown: an outline's lines together, all else a blank line apart."""
    parts: list[str] = []
    before: Block | None = None
    for block in blocks:
        together = (
            before is not None and before.kind in {"text", "line"} and _goes_on(before, block)
        )
        if before is not None:
            parts.append("\n" if together else "\n\n")
        parts.append(_set(block, together=together))
        before = block
    return "".join(parts)


def _goes_on(before: Block, block: Block) -> bool:
    """Tell whether a block stands right under the one before it, without a blank line."""
    if block.kind == "line":
        return True
    if block.kind != "text":
        return False
    labelled = _LABELLED.match(block.text) is not None
    return (labelled and (before.depth > 0 or _LABELLED.match(before.text) is not None)) or (
        block.depth > 0
    )


def _set(block: Block, *, together: bool) -> str:
    if block.kind == "heading":
        return f"{'#' * block.depth} {block.text}"
    if block.kind in {"table", "pre"} or not block.depth:
        return block.text
    # After a blank line four spaces would make it code.
    indent = " " * (2 * block.depth if together else min(3, 2 * block.depth))
    return indent + block.text.replace("\n", f"\n{indent}")

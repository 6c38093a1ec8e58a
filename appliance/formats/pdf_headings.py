"""Which blocks of print are headings of the law, and on which level they stand.

Pure: words and looks (bold, centred, capitals, size) to a kind; the kinds of a whole
document to levels.  It knows how codes number their parts, not how a page is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

# From the outermost.  Codes differ in whether a part holds chapters or a chapter parts;
# `levels` looks at the document for that.
CONTAINERS = (
    "title", "subtitle", "part", "subpart", "chapter", "subchapter", "article", "division",
    "subdivision",
)  # fmt: skip
ANNEXES = ("schedule", "appendix", "annexure", "annex", "exhibit", "attachment", "addendum")

_NUMBER = (
    r"(?:[A-Z]{0,2}-?\d[\w.\-–]*|[IVXLC]+|(?!OF|TO|IN|OR|AT|ON|BY|AS|IS)[A-Z]{1,2})"
    r"(?=$|[\s.:;,)\]—–-])"
)
_CONTAINER = re.compile(
    rf"(?P<kind>(?i:{'|'.join((*CONTAINERS, *ANNEXES))}))\s+(?:(?i:no\.?)\s*)?(?P<number>{_NUMBER})"
)
_ANNEX_ALONE = re.compile(rf"(?i:{'|'.join(ANNEXES)})[.:]?")
# "§ 60-200." "Sec. 29" "Section 5:" and, as a heading only if it is printed like one, "55." "4.2".
SECTION = re.compile(
    r"(?:§{1,2}|(?i:sections?|sec\.?))\s*(?P<number>[A-Z]{0,2}-?\d[\w\-–]*(?:[.:]\w[\w\-–]*)*)(?P<after>[.:;)]*)"
)
_BARE = re.compile(r"(?P<number>(?:[A-Z]-)?\d+[A-Z]?(?:[.\-–]\w+)*)\.?\s+(?=[‘“\"'(\[]?[A-Z])")
# A reference, not a heading, whatever stands before it: "Chapter 40A of the General Laws".
_REFERENCE = re.compile(
    r"[\s,]*(?:of|to|and|or|in|through|shall|is|are|was|above|below|hereof)\b|,"
)

LONGEST = 160  # letters of a heading
# Bold ones with a number carry their history in brackets: a dozen amendments and more.
LONGEST_NUMBERED = 600
SMALL = 0.88  # of the running text's size: footnotes are set in 0.85 and less
# What a code says about itself, often in bold: "(Amended 7/2000)", "Last revised January 2024".
_HISTORY = re.compile(
    r"(?:last |as )?(?:added|amended|adopted|approved|effective|enacted|posted|repealed|revised"
    r"|updated|voted)\b",
    re.IGNORECASE,
)


class Kind(Enum):
    """What a block is, beside text."""

    CONTAINER = "container"  # "ARTICLE II"
    ANNEX = "annex"  # "SCHEDULE 3"
    BANNER = "banner"  # centred or in capitals, without a number
    SECTION = "section"  # "§ 60-200. Pets and other animals."
    CAPTION = "caption"  # bold and at the left, without a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a block is printed."""

    bold: bool
    centred: bool
    lines: int
    size: float  # 1 for the size of the document's running text


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A block that is a heading."""

    kind: Kind
    word: str = ""  # of a container: "chapter"
    bare: bool = False  # a number without its title yet


def heading_of(text: str, look: Look) -> Heading | None:
    """Return what heading a block is; None for running text."""
    numbered = look.bold and SECTION.match(text)
    if len(text) > (LONGEST_NUMBERED if numbered else LONGEST) or look.size < SMALL:
        return None
    if text[0] in "[(" or not any(c.isalpha() for c in text) or _ends_open(text):
        return None
    if _leads_to_page(text) or _HISTORY.match(text):
        return None
    return _numbered(text, look) or _unnumbered(text, look)


def _ends_open(text: str) -> bool:
    return text[-1] in ",;" or text.endswith((" and", " or", " the", " of"))


_LEADERS = re.compile(r"(?:\.\s?){4,}|…|_{4,}")


def _leads_to_page(text: str) -> bool:
    """Tell whether this is a line of a table of contents, or of a form."""
    return _LEADERS.search(text) is not None


def _numbered(text: str, look: Look) -> Heading | None:
    if _ANNEX_ALONE.fullmatch(text):
        return Heading(kind=Kind.ANNEX, bare=True)
    match = _CONTAINER.match(text)
    if match and _stands_alone(text[match.end() :], look):
        word = match["kind"].casefold()
        bare = not text[match.end() :].strip(" .:—–-")
        kind = Kind.ANNEX if word in ANNEXES else Kind.CONTAINER
        return Heading(kind=kind, word=word, bare=bare)
    match = SECTION.match(text)
    if match and _stands_alone(text[match.end() :], look):
        return Heading(kind=Kind.SECTION)
    if look.bold and _BARE.match(text) and look.lines <= 3:
        return Heading(kind=Kind.SECTION)
    return None


def _stands_alone(rest: str, look: Look) -> bool:
    """Tell whether what follows a number is a title, or nothing."""
    if _REFERENCE.match(rest):
        return False
    striking = look.bold or look.centred or look.size > 1.1
    title = rest.strip(" .:;)—–-")
    return striking or (look.lines == 1 and len(title) <= 80 and not title[:1].islower())


def _unnumbered(text: str, look: Look) -> Heading | None:
    if len(text.split()) > 16 or look.lines > 3 or (text[-1] == "." and len(text.split()) > 6):
        return None
    letters = [c for c in text if c.isalpha()]
    capitals = all(c.isupper() for c in letters) and len(letters) >= 4
    striking = look.bold or look.size > 1.15
    if look.centred and (striking or capitals):
        return Heading(kind=Kind.BANNER)
    if striking and capitals:
        return Heading(kind=Kind.BANNER)
    if striking and text[-1] != ":" and text[0].isupper() and len(letters) >= 4:
        return Heading(kind=Kind.CAPTION)
    return None


def run_in(text: str, bold: str) -> int:
    """Return where a heading ends that stands at the head of its own text; 0 if there is none.

    "Section 2: The annual meeting …" has a number; "§ 5. Fees. A fee is …" a title too,
    as far as it is bold.
    """
    match = SECTION.match(text)
    if match is None or not (match["after"] or bold) or _REFERENCE.match(text[match.end() :]):
        return 0
    end = match.end()
    if text.startswith(bold) and len(bold) > end and len(bold) <= LONGEST:
        end = len(bold)
    return end if len(text) > end + 1 else 0


# ------------------------------------------------------------------ levels


def levels(headings: Sequence[Heading]) -> list[int]:
    """Return each heading's level (1 to 6), the same for the same kind all through a document."""
    containers = _nesting(headings)
    depth = len(containers)
    kinds = {h.kind for h in headings}
    banner = depth + 1
    section = banner + (Kind.BANNER in kinds)
    caption = section + (Kind.SECTION in kinds)
    of = {Kind.ANNEX: 1, Kind.BANNER: banner, Kind.SECTION: section, Kind.CAPTION: caption}
    return [
        min(6, containers.index(h.word) + 1 if h.kind is Kind.CONTAINER else of[h.kind])
        for h in headings
    ]


def _nesting(headings: Sequence[Heading]) -> list[str]:
    """Return the words of the containers, outermost first.

    What usually is the outer one is the inner one here if it appears later and more often.
    """
    words = [h.word for h in headings if h.kind is Kind.CONTAINER]
    count = Counter(words)
    order = [w for w in CONTAINERS if w in count]
    for _ in order:
        for i in range(len(order) - 1):
            outer, inner = order[i], order[i + 1]
            if words.index(outer) > words.index(inner) and count[outer] > count[inner]:
                order[i], order[i + 1] = inner, outer
    return order

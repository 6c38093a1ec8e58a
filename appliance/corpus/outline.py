"""The outline inside a section: which titled subdivisions stand over each place of its text.

Pure.  Codes number what is inside a section in a dozen styles, with titles
("(c) Natural stormwater conveyance systems. When …", "A.", "General.", "1.") or
without.  What is found are spans of the text; nothing is written.  It is used to
say where a chunk stands, never to decide what a citation is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from appliance.domain import Span

# What begins a subdivision: at the start of a line, or after the end of a clause where a publisher's
# export has lost its lines.
_MARK = re.compile(
    r"""(?:(?<=\A)|(?<=\n)|(?<=[.;:—]\s))[ \t]*+
    (?P<mark>
        (?P<hash>\#{1,6})
        |\((?P<paren>[a-z]{1,4}|[A-Z]{1,3}|\d{1,3})\)
        |(?P<dot>[A-Z]{1,2}|[a-z]|[ivx]{1,5}|\d{1,3})[.)]
    )
    (?=\s)""",
    re.VERBOSE,
)
# A title: capitalised, a few words, ended by a stop, a colon, a dash or the line's end.
_TITLE = re.compile(r"\s*(?P<title>[A-Z“\"][^.:;—\n|]{2,79}?)[ \t]*(?:[.:—]|\n|\Z)")
_MOST_WORDS = 9
# A mark that the publisher lost, or that stands in the middle of a line, is skipped.
MOST_MISSING = 3
# A short sentence is no title.
_VERB = re.compile(
    r"\b(?:shall|must|may|will|is|are|was|were|has|have|means|includes?|does|do|cannot|can)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subdivision:
    """One marked place of a text."""

    at: int  # where its mark begins
    mark: str  # "c", "12", "iv", "##": without its brackets
    style: str  # how it is marked: "(1)", "A.", "##"; equal styles are siblings
    title: Span | None  # mark and title together; None if it has no title


class Outline:
    """The subdivisions of a text, to be asked what stands over a place."""

    def __init__(self, text: str) -> None:
        self._places: list[int] = []
        self._open: list[tuple[Subdivision, ...]] = [()]  # after each subdivision
        for match in _MARK.finditer(text):
            above, new = _placed(self._open[-1], match, _title(text, match))
            self._places.append(new.at)
            self._open.append((*above, new))

    def over(self, place: int) -> tuple[Span, ...]:
        """Return the titles that stand over a place, outermost first.

        A title at the very place is how the text there begins, and not over it.
        """
        i = bisect_left(self._places, place)
        at_place = i < len(self._places) and self._places[i] == place
        above = self._open[i + 1][:-1] if at_place else self._open[i]
        titles = (level.title for level in above)
        return tuple(title for title in titles if title is not None and title.end <= place)


def _placed(
    open_: tuple[Subdivision, ...], match: re.Match[str], title: Span | None
) -> tuple[tuple[Subdivision, ...], Subdivision]:
    """Return the subdivisions that a new one stands under, and the new one.

    It takes the place of its elder sibling.  One that is the first of its kind opens a level below;
    one that is neither belongs to a level whose beginning was not seen: nothing is known to stand
    over it.
    """
    mark = match["hash"] or match["paren"] or match["dot"]
    levels = {level.style: depth for depth, level in enumerate(open_)}
    styles = _styles(match)
    for style in styles:
        depth = levels.get(style)
        if depth is not None and _follows(open_[depth], mark):
            return open_[:depth], _subdivision(match, style, title)
    for style in styles:
        if match["hash"] or mark == _FIRST[style.strip("().")]:
            # Where the level is open already its numbering has begun anew.
            return open_[: levels.get(style, len(open_))], _subdivision(match, style, title)
    return (), _subdivision(match, styles[0], title)


def _subdivision(match: re.Match[str], style: str, title: Span | None) -> Subdivision:
    mark = match["hash"] or match["paren"] or match["dot"]
    return Subdivision(at=match.start("mark"), mark=mark, style=style, title=title)


_FIRST = {"1": "1", "A": "A", "a": "a", "i": "i"}


def _styles(match: re.Match[str]) -> tuple[str, ...]:
    """Return how a mark can be meant: "(i)" follows "(h)", or begins "(i)", "(ii)", "(iii)"."""
    if match["hash"]:
        return (match["hash"],)
    inner = match["paren"] or match["dot"]
    kinds: tuple[str, ...]
    if inner.isdigit():
        kinds = ("1",)
    elif inner[0].isupper():
        kinds = ("A",)
    elif set(inner) <= set("ivxl"):
        kinds = ("a", "i") if len(inner) == 1 else ("i",)
    else:
        kinds = ("a",)
    return tuple(f"({k})" if match["paren"] else f"{k}." for k in kinds)


def _follows(elder: Subdivision, mark: str) -> bool:
    """Tell whether a mark can come after its elder sibling's; a few may be missing between them."""
    if elder.style[0] == "#":
        return True
    if mark.isdigit():
        return 0 < int(mark) - int(elder.mark) <= MOST_MISSING
    if elder.style.strip("().") == "i":
        return True
    # "z" is followed by "aa" or "a1".
    return len(mark) > len(elder.mark) or 0 < ord(mark[0]) - ord(elder.mark[0]) <= MOST_MISSING


def _title(text: str, match: re.Match[str]) -> Span | None:
    if match["hash"]:
        line = text.find("\n", match.end("mark"))
        return Span(start=match.start("mark"), end=len(text) if line < 0 else line)
    title = _TITLE.match(text, match.end("mark"))
    if title is None:
        return None
    words = title["title"]
    if len(words.split()) > _MOST_WORDS or _VERB.search(words):
        return None
    return Span(start=match.start("mark"), end=title.end("title"))

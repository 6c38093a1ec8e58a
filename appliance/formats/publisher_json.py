"""Answers of code publishers' APIs, which wrap HTML in JSON, to Markdown.

Knows the shapes of Municode (`Docs` of a chunk group), American Legal (`html`, `title`) and
Municipal Code Online (`Text`).  Does not fetch: sections whose text the publisher left out are
counted in a note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from appliance.formats.html import fragment_to_markdown
from appliance.formats.outline import Block, heading, markdown, ready
from appliance.formats.parsed import Parsed, Unparsable

Fields = Mapping[str, object]

_NAME = re.compile(r"<div[^>]*class=['\"]phx-name[^>]*>(?P<name>.*?)</div>", re.DOTALL)
_MARK = re.compile(r"<[^>]*>")
_HEADING = re.compile(r"\A\s*#{1,6}[ \t]+(?P<text>[^\n]*)\n?")


def parse_publisher_json(raw: bytes) -> Parsed:
    """Return the sections of a publisher's answer as Markdown.  Raises Unparsable."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise Unparsable("the file is not valid JSON") from None
    if isinstance(value, list):
        return _municode(value)
    if isinstance(value.get("Docs"), list):
        return _municode(value["Docs"])
    if "Content" in value:
        return _municode([value])
    if "html" in value:
        return _one_section(str(value["title"]), str(value["html"]))
    match = _NAME.search(value["Text"])
    title = _MARK.sub("", match["name"]) if match else ""
    return _one_section(title, _NAME.sub("", value["Text"], count=1))


def _one_section(title: str, html: str) -> Parsed:
    title = " ".join(title.split())
    text = _without_heading(fragment_to_markdown(html), title)
    return _parsed(title, [heading(1, title), ready(text)])


# ------------------------------------------------------------------ Municode


def _municode(docs: Sequence[Fields]) -> Parsed:
    """Return a chunk group: its documents in their order, each under a heading of its depth."""
    ordered = sorted(docs, key=lambda d: _number(d, "DocOrderId"))
    top = min(_number(d, "NodeDepth") for d in ordered)
    blocks: list[Block] = []
    missing = 0
    for doc in ordered:
        title = " ".join(str(doc.get("Title") or "").split())
        content = doc.get("Content")
        missing += content is None
        blocks.append(heading(_number(doc, "NodeDepth") - top + 1, title))
        text = fragment_to_markdown(content) if isinstance(content, str) else ""
        blocks.append(ready(_below(_without_heading(text, title))))
    notes: tuple[str, ...] = ()
    if missing:
        notes = (f"The publisher left the text of {missing:,} sections out of this answer.",)
    return _parsed(" ".join(str(ordered[0].get("Title") or "").split()), blocks, notes)


def _number(doc: Fields, name: str) -> int:
    value = doc.get(name)
    return value if isinstance(value, int) else 0


def _below(text: str) -> str:
    """Return a section's text without headings: within a section they only print larger."""
    return re.sub(r"^#{1,6}[ \t]+(?=\S)", "", text, flags=re.MULTILINE)


def _without_heading(text: str, title: str) -> str:
    """Return a text without the heading that only repeats its title."""
    match = _HEADING.match(text)
    if match and _letters(match["text"]) == _letters(title):
        return text[match.end() :]
    return text


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def _parsed(title: str, blocks: Sequence[Block], notes: tuple[str, ...] = ()) -> Parsed:
    return Parsed(
        format="publisher-json",
        title=title,
        body=markdown(blocks),
        notes=(*notes, "The answer does not say when the text takes effect."),
    )

"""The names under which sections can be looked up: own number, tables in them, chapters over them.

Pure.  A label's weight says how much it is the section's own: 0 its citation's
number, 1 the number in its heading, 2 a table captioned there, 3 a table only
mentioned, 4 a chapter or article that it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from appliance.corpus.hidden import hidden_numbers
from appliance.corpus.references import find_references, normalise_whole
from appliance.corpus.sections import number_in_heading
from appliance.domain import Section
from appliance.ports import Label

OWN, IN_HEADING, CAPTION, MENTIONED, CONTAINER = range(5)

_LINE_START = re.compile(r"(?:^|\n)[\s|*#>]*$")


def labels_of(body: str, sections: Sequence[Section]) -> tuple[Label, ...]:
    """Return the labels of a document's sections, each once with its least weight."""
    best: dict[tuple[int, str, str], int] = {}
    for position, section in enumerate(sections):
        found = [*_labels(body, section), *_of_record(sections[0], section)]
        for kind, number, weight in found:
            key = (position, kind, number)
            best[key] = min(weight, best.get(key, weight))
    return tuple(
        Label(section=p, kind=k, number=n, weight=w)
        for (p, k, n), w in best.items()
        if len(n) <= 200
    )


def _labels(body: str, section: Section) -> Iterator[tuple[str, str, int]]:
    yield "whole", normalise_whole(section.citation), OWN
    if section.number:
        yield *_kind_and_number(section.number), OWN
    heading_number, _ = number_in_heading(section.heading)
    if heading_number:
        yield *_kind_and_number(heading_number), IN_HEADING
    for hidden in hidden_numbers(body, section):
        yield "section", hidden, IN_HEADING
    yield from _tables(section.span.of(body))
    for level in section.path:
        number, _ = number_in_heading(level)
        if number:
            kind, plain = _kind_and_number(number)
            yield (kind if kind != "section" else "chapter"), plain, CONTAINER


def _of_record(record: Section, section: Section) -> Iterator[tuple[str, str, int]]:
    """Yield the record's names for a section that hides in it: it is cited by either."""
    if section is not record and section.external_id == record.external_id:
        yield "whole", normalise_whole(record.citation), IN_HEADING
        if record.number:
            yield *_kind_and_number(record.number), IN_HEADING


def _kind_and_number(number: str) -> tuple[str, str]:
    """Split "chapter 15.04" into its kind and number; a plain number is a section's."""
    word, _, rest = number.partition(" ")
    return (word, rest) if rest else ("section", number)


def _tables(text: str) -> Iterator[tuple[str, str, int]]:
    if "able" not in text and "ABLE" not in text:
        return
    for reference in find_references(text):
        if reference.kind == "table":
            captioned = _LINE_START.search(
                text[max(0, reference.span.start - 40) : reference.span.start]
            )
            yield "table", reference.number, CAPTION if captioned else MENTIONED

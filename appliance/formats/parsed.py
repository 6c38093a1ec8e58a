"""What every parser gives: a Markdown body with its title, or one sentence on why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from appliance.domain import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A document as a parser understood it; the gate has not seen it yet."""

    format: str  # html | pdf | docx | doc | akn | law-xml | markdown | rst | text
    title: str  # "" if the file does not say
    body: str  # Markdown: headings as "#", tables as pipe rows
    pages: tuple[Span, ...] = ()  # of a PDF: where each page's text lies in the body
    notes: tuple[str, ...] = ()  # what was lost or guessed, a sentence each
    url: str | None = None  # where the file itself says that it was published
    effective_from: date | None = None  # None: the file does not say
    effective_until: date | None = None
    link_share: float = 0.0  # of a web page: the part of its text that was links


class Unparsable(ValueError):
    """The bytes hold no document of this format that can be read; the message says why."""

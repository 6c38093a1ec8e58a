"""HTML to structured Markdown: a page of a code, a fragment of a codifier's answer, a page of a city.

Bytes become characters (`charset`), characters a tree without what is hidden
(`markup`), the tree gives the part that matters (`lawpage` for law text, `webpage` where
boilerplate must go), and that part becomes Markdown (`prose`, `tables`).

The converter is our own walk over lexbor's tree, not a library: on pages of sections all say the same
words (F1 .9999 against .9997 of html-to-markdown, 190 pages without spans), but only ours joins labels
to their words, keeps the depth of outlines, leaves out what is hidden and writes spanned cells where
they span (cell F1 .997 against .914, 127 tables).  A whole page takes it 0.4 ms, a seventeenth of
BeautifulSoup and html2text.  The figures are in eval/ledger/005-html.md.

It does no I/O, knows no city, and judges nothing: whether the page is a bot wall or worth
keeping is the gate's to say.
"""

from __future__ import annotations

from appliance.formats.charset import decode
from appliance.formats.lawpage import law_part, navigation, page_title, published_at, share_of_links
from appliance.formats.markup import read_markup
from appliance.formats.parsed import Parsed, Unparsable
from appliance.formats.prose import Prose, write_markdown
from appliance.formats.webpage import own_matter

# A page is one document; a city's whole code on one page was 14 MB of text.
LARGEST = 64_000_000
# Hidden words below this are labels of buttons, not worth a sentence.
_HIDDEN_WORTH_A_NOTE = 40


def parse_html(raw: bytes, *, url: str | None = None) -> Parsed:
    """Return a page as Markdown.  `url` is where it was fetched, for pages that do not say.

    Raises Unparsable if no word of it would be seen without running its scripts.
    """
    if len(raw) > LARGEST:
        raise Unparsable(
            f"The page has {len(raw):,} bytes, more than {LARGEST:,}: split it by chapter."
        )
    decoded = decode(raw)
    markup = read_markup(decoded.text)
    part = law_part(markup)
    if part is not None:
        prose = write_markdown(part, markup, omitted=navigation(part))
    else:
        part, prose = own_matter(markup)
    if not prose.body:
        part, prose = markup.body, write_markdown(markup.body, markup)
    title = page_title(markup, part)
    if not prose.body:
        raise Unparsable(
            "The page shows no text before its scripts run: save it from a browser and parse that."
        )
    return Parsed(
        format="html",
        title=title or _first_heading(prose.body),
        body=prose.body,
        notes=tuple(filter(None, (decoded.note, *_losses(prose)))),
        url=published_at(markup) or url,
        link_share=share_of_links(part, prose.body),
    )


def fragment_to_markdown(html: str) -> str:
    """Return the Markdown of a piece of HTML that is law from end to end: an API's `Content`, `html`."""
    markup = read_markup(html)
    return write_markdown(markup.body, markup, omitted=navigation(markup.body)).body


def _first_heading(body: str) -> str:
    line = body.split("\n", 1)[0]
    return line.lstrip("#").strip() if line.startswith("#") else ""


def _losses(prose: Prose) -> tuple[str, ...]:
    notes = []
    if prose.images:
        notes.append(f"Pictures of the page that are not in the text: {prose.images}.")
    if prose.hidden >= _HIDDEN_WORTH_A_NOTE:
        notes.append(f"Characters that the page hides and that were left out: {prose.hidden}.")
    return tuple(notes)

"""The page of a city site: its own matter without menus, banners, footers and teasers.

trafilatura decides what is boilerplate.  It reads tables without their spans, so each table goes
through it as one paragraph of its words with a mark, and comes back as it was.  What it drops as
too little is kept by our own cut: the main part without navigation.  It does not know law pages.
"""

from __future__ import annotations

import re
from html import escape

from selectolax.lexbor import LexborNode

from appliance.formats.lawpage import main_part, navigation
from appliance.formats.markup import Markup, Walk, read_markup
from appliance.formats.prose import Prose, write_markdown
from appliance.formats.tables import data_grid

# trafilatura's trees are libxml2's, which stops at a depth of 256 or 2,048; city pages are 15 to 40
# deep.  Its help for pages with little text (jusText) takes the square of the number of paragraphs:
# 60 seconds for 40,000 elements, half a second for 4,000.  A city's page with all its menus has 3,000.
_DEEPEST = 200
_MOST_ELEMENTS = 4_000
# What trafilatura found is taken unless it is shorter than this and than this share of our own cut.
_LITTLE = 400
_TOO_LITTLE = 0.2
_KEPT = frozenset({"class", "id", "role", "href", "itemprop", "lang"})
_VOID = frozenset({"br", "hr", "img", "wbr", "col", "area", "input", "source", "track", "embed"})
_LONGEST_HEADING = 16  # tags and texts of which a heading is made
_HEADING_END = re.compile(r"</h[1-6]>")
_MARKED = re.compile(r"<p>\s*(tablemark\d+x)\b.*?</p>|(tablemark\d+x)", re.DOTALL)


def own_matter(markup: Markup) -> tuple[LexborNode, Prose]:
    """Return the element that holds a page's own matter, and that matter as Markdown."""
    own = main_part(markup)
    cut = write_markdown(own, markup, omitted=navigation(own))
    html, tables = _for_extraction(markup)
    found = _extracted(html) if html else ""
    if not found or not all(mark in found for mark in tables):
        return own, cut
    extracted = read_markup(_with_tables(found, tables))
    prose = write_markdown(extracted.body, extracted)
    if len(prose.body) < min(_LITTLE, _TOO_LITTLE * len(cut.body)):
        return own, cut
    return extracted.body, Prose(
        body=prose.body, tables=prose.tables, images=cut.images, hidden=cut.hidden
    )


def _extracted(html: str) -> str:
    """Return the page's matter as HTML, "" where trafilatura finds none."""
    import trafilatura  # late: a second of imports that pages of law do without

    # `favor_recall`: a lost paragraph of rules costs more than a kept line of a menu.
    found = trafilatura.extract(
        html,
        output_format="html",
        include_tables=True,
        include_links=True,
        include_formatting=True,
        include_comments=False,
        favor_recall=True,
    )
    return found or ""


def _for_extraction(markup: Markup) -> tuple[str, dict[str, str]]:
    """Return the page as it is seen, tables as marked paragraphs, and the tables by their marks.

    A heading right above a table goes with it: between tables trafilatura drops them.  The HTML is "" for a
    page that is too deep or has too many elements for trafilatura.
    """
    parts: list[str] = []
    tables: dict[str, str] = {}
    depth = elements = 0
    layouts = 0  # tables around this place that lay out the page
    walk = Walk(markup.body, markup.unseen)
    for node, tag, entered in walk:
        if tag == "-text":
            parts.append(escape(node.text_content or "", quote=False))
            continue
        if not entered:
            depth -= 1
            layouts -= tag == "table"
            parts.append("" if tag in _VOID else f"</{tag}>")
            continue
        elements += 1
        if tag == "table" and data_grid(node, markup.unseen, layouts) is not None:
            heading = _taken_heading(parts)
            mark = f"tablemark{len(tables)}x"
            tables[mark] = heading + (node.html or "")
            words = " ".join(node.text(separator=" ").split())
            parts.append(f"<p>{mark} {escape(words, quote=False)}</p>")
            walk.pass_over()
            continue
        depth += 1
        layouts += tag == "table"
        if depth > _DEEPEST or elements > _MOST_ELEMENTS:
            return "", {}
        parts.append(_opening(node, tag))
    return f"<html><body>{''.join(parts)}</body></html>", tables


def _taken_heading(parts: list[str]) -> str:
    """Take the heading off the end of what was written, if it ends with one."""
    end = len(parts)
    while end and parts[end - 1].isspace():
        end -= 1
    if not end or not _HEADING_END.fullmatch(parts[end - 1]):
        return ""
    for start in range(end - 2, max(-1, end - _LONGEST_HEADING), -1):
        if parts[start].startswith(parts[end - 1].replace("</", "<")[:3]):
            heading = "".join(parts[start:end])
            del parts[start:]
            return heading
    return ""


def _opening(node: LexborNode, tag: str) -> str:
    """Return an opening tag with what extraction looks at: no styles, no event handlers."""
    kept = "".join(
        f' {name}="{escape(value)}"'
        for name, value in node.attributes.items()
        if value and name in _KEPT and not value.lstrip().casefold().startswith("javascript:")
    )
    return f"<{tag}{kept}>"


def _with_tables(html: str, tables: dict[str, str]) -> str:
    """Return extracted HTML with the tables in the places of their marks."""
    return _MARKED.sub(lambda match: tables.get(match[1] or match[2], ""), html)

"""Whether a page holds law text, and which part of it that is.

A page is law text if its markup says so in a way that a publisher of codes uses, or if
its main part has a section's number at the head of a heading ("§ 15.04.010",
"Sec. 4201", "17.02.020 Heights"), or if it has no frame at all (an answer of an API, a page
saved from Word).  Then nothing of its main part may be thought boilerplate but navigation:
a short section is no advertisement.  Any other page goes to `webpage`.  How often the rule
is right is in eval/ledger/005-html.md.

It does not know Markdown.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from appliance.corpus.sections import number_in_heading
from appliance.formats.markup import Markup, attribute

# What only publishers of codes write: Municode's chunks, eCode360, American Legal (React's spelling of
# `class` reaches its answers), enCodePlus, Municipal Code Online, Open Law Library, MadCap Flare.
_PUBLISHERS = (
    ".chunk-content,.chunk-title,.section_content,[data-full-title],.toc-destination,[classname],"
    "[data-secid],.phx-name,[data-ref-path],meta[itemprop=ref-path],madcap\\:xref,[madcap\\:autonum]"
)
# Where a page keeps its own matter, best first.
_MAIN = ("article[data-ref-path]", "main", "[role=main]", "article")
# Parts that lead elsewhere.  The publishers' class names are eCode360's, enCodePlus's, Sphinx's.
_NAVIGATION = (
    "nav,footer,[role=navigation],[role=banner],[role=contentinfo],[role=search],[role=menu],"
    ".breadcrumb,.breadcrumbs,.breadCrumbs,.skip-link,.pagination,.pageControls,.toc-widget,"
    ".sphinxsidebar,.related,.nullValue,.wy-breadcrumbs,.wy-nav-side,.rst-footer-buttons"
)
# A page with none of these has nothing that could be cut away.
_FRAME = "nav,header,footer,script,[role=navigation],[role=banner],[role=contentinfo]"
_HEADINGS = "h1,h2,h3,h4,h5,h6"
# "Section 8 Housing" is a programme and "Section 3" a duty of contractors: in a page of prose a number
# without a point or a sign is no section of a code.
_LAW_NUMBER = re.compile(r"§|\d[.\-–:]\d|^\W*sec\.", re.IGNORECASE)
_BARS = re.compile(r"\s+(?:[|»·]|::)\s+")
_PLACE = re.compile(r"(?:city|county|town|township|village|borough) of\b", re.IGNORECASE)
# A page may have hundreds of headings; the first ones decide.
_MOST_HEADINGS = 200
# The share of the main part's text that an `article` must hold to be the main part itself.
_WHOLE = 0.8


def law_part(markup: Markup) -> LexborNode | None:
    """Return the element of a page that holds its law text, None if the page is not law."""
    tree = markup.tree
    if tree.css_first(_PUBLISHERS) is not None or _has_no_frame(markup):
        return main_part(markup)
    part = main_part(markup)
    return part if any(_is_law_heading(h) for h in part.css(_HEADINGS)[:_MOST_HEADINGS]) else None


def main_part(markup: Markup) -> LexborNode:
    """Return the element with the page's own matter: the only one that says so, or the body."""
    for selector in _MAIN:
        found = [n for n in markup.tree.css(selector) if n.mem_id not in markup.unseen]
        if len(found) == 1 and _holds_most(found[0], markup.body, selector):
            return found[0]
    return markup.body


def navigation(part: LexborNode) -> frozenset[int]:
    """Return the elements of a part that lead elsewhere, by `mem_id`, and MadCap Flare's breadcrumbs."""
    elements = {node.mem_id for node in part.css(_NAVIGATION)}
    for link in part.css("madcap\\:xref"):
        parent = link.parent
        if parent is not None and parent.tag == "p" and " > " in " ".join(parent.text().split()):
            elements.add(parent.mem_id)
    return frozenset(elements)


def _has_no_frame(markup: Markup) -> bool:
    """Tell whether there is nothing around the text: a fragment, or a page saved from Word."""
    return markup.tree.css_first(_FRAME) is None


def _holds_most(part: LexborNode, body: LexborNode, selector: str) -> bool:
    if selector != "article":
        return True
    return len(part.text()) >= _WHOLE * len(body.text())


def _is_law_heading(node: LexborNode) -> bool:
    text = " ".join(node.text().split())[:200]
    return bool(_LAW_NUMBER.search(text)) and number_in_heading(text)[1]


def page_title(markup: Markup, part: LexborNode) -> str:
    """Return the title of a page: the heading that the head names too, else what the head says.

    What a site adds of itself around a bar or a colon ("… | San Mateo Law Library", "City of Chicago ::
    …") is left out; after a hyphen only its own name, as titles hold hyphens of their own.
    """
    own = attribute(markup.body, "data-page-string")  # eCode360
    if own:
        return own
    named = _meta(markup, "og:title") or _title_of_head(markup)
    headings = [
        heading
        for node in part.css("h1")[:5] or markup.tree.css("h1")[:5]
        if (heading := " ".join(node.text().replace("¶", "").split()))
    ]
    if not named:
        return headings[0] if len(headings) == 1 else ""
    for heading in headings:
        if heading.casefold() in named.casefold():
            return heading
    return _without_site(named, _meta(markup, "og:site_name"))


def _title_of_head(markup: Markup) -> str:
    title = markup.tree.css_first("title")
    return " ".join(title.text().split()) if title is not None else ""


def _without_site(title: str, site: str) -> str:
    parts = _BARS.split(title)
    if len(parts) > 1 and _PLACE.match(parts[0]):
        parts = parts[1:]
    if site:
        return re.sub(rf"\s+[-–—]\s+{re.escape(site)}$", "", parts[0])
    return parts[0]


def _meta(markup: Markup, name: str) -> str:
    node = markup.tree.css_first(f'meta[property="{name}"]')
    return " ".join(attribute(node, "content").split()) if node is not None else ""


def published_at(markup: Markup) -> str | None:
    """Return the web address that the page gives as its own, if it gives one."""
    canonical = markup.tree.css_first("link[rel=canonical]")
    address = attribute(canonical, "href").strip() if canonical is not None else ""
    address = address or _meta(markup, "og:url")
    return address if re.match(r"https?://[^\s<>\"]+$", address, re.IGNORECASE) else None


def share_of_links(part: LexborNode, body: str) -> float:
    """Return the part of the body's text that is the text of links."""
    length = len(body) - body.count(" ") - body.count("\n")
    if not length:
        return 0.0
    linked = sum(len("".join(a.text().split())) for a in part.css("a[href]"))
    return min(1.0, linked / length)

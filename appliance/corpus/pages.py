"""What a page shows to a reader: its own words, apart from menus, links and scripts.  Pure.

Reads HTML with lexbor, and Markdown, into the same small record, so that one set of rules
judges both.  Does not know what a page ought to show.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

# Elements whose text no reader sees, and those that hold a site's menus.
_UNSEEN = ("script", "style", "noscript", "template", "svg", "head", "select", "iframe", "object")
_CHROME = ("nav", "footer", "aside")
# Frames that single-page applications mount into, by the frameworks' own defaults.
_MOUNT = re.compile(
    r"""\bng-app\b|<app-root\b|\bdata-reactroot\b|\bdata-server-rendered\b|\bng-version=|
    \bid\s*=\s*["']?(?:root|app|__next|__nuxt|q-app|svelte|ember-app|application|main-app|
    app-root|react-root|app-mount|app-container|gatsby-focus-wrapper|___gatsby)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\n]{0,1000}\)")
_HEADING = re.compile(r"^#{1,3}\s+(.+)$", re.MULTILINE)
_MOST_HEADINGS = 20
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a reader sees of a page, and what its frame gives away."""

    title: str
    headings: tuple[str, ...]  # of the first three levels
    text: str  # words outside links and menus, white space folded
    links: int  # how many links there are
    link_characters: int  # how much of the page's text they are
    noscript: str = ""  # what it says to a reader without scripts
    markup: str = ""  # "" for Markdown
    scripts: int = 0
    password: bool = False  # a field for a password
    mount: bool = False  # an element that a script would fill

    @property
    def link_share(self) -> float:
        """Return which part of the visible text is links, 0 to 1."""
        return self.link_characters / max(1, self.link_characters + len(self.text))


def page_of_markdown(body: str, title: str = "") -> Page:
    """Return what a Markdown text shows."""
    links = _LINK.findall(body)
    own = _LINK.sub(" ", body) if links else body
    return Page(
        title=title,
        headings=tuple(_HEADING.findall(body[:20_000])),
        text=_folded(own),
        links=len(links),
        link_characters=sum(len(text) for text in links),
    )


def page_of_html(markup: str) -> Page:
    """Return what a web page shows."""
    tree = LexborHTMLParser(markup)
    title = tree.css_first("title")
    noscript = " ".join(_words_of(n) for n in tree.css("noscript")[:5])
    password = tree.css_first('input[type="password" i]') is not None
    scripts = len(tree.css("script"))
    title_text = _words_of(title) if title is not None else ""
    tree.strip_tags([*_UNSEEN, *_CHROME])
    headings = [_words_of(h) for h in tree.css("h1, h2, h3")[:_MOST_HEADINGS]]
    links = [_words_of(a) for a in tree.css("a")]
    tree.strip_tags(["a"])
    return Page(
        title=title_text,
        headings=tuple(h for h in headings if h),
        text=_words_of(tree.body) if tree.body is not None else "",
        links=len(links),
        link_characters=sum(map(len, links)),
        noscript=noscript,
        markup=markup,
        scripts=scripts,
        password=password,
        mount=bool(_MOUNT.search(markup)),
    )


def _words_of(node: LexborNode) -> str:
    return _folded(node.text(deep=True, separator=" "))


def _folded(text: str) -> str:
    return _SPACE.sub(" ", text).strip()

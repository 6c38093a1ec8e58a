"""The tree of a page, and the walk through what a reader of it sees: no scripts, styles, hidden parts.

The tree is lexbor's (selectolax): it follows the HTML standard, so that tables with
forgotten tags stand as in a browser, and it takes 10,000 nested tags, at which
libxml2 gives up and returns nothing.  Nothing here recurses.  It does not know which
part of a page is law, nor how Markdown looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from appliance.formats.parsed import Unparsable

# What runs, what is drawn, and what is asked of the visitor.  `form` is not here: pages of ASP.NET
# are one form from top to bottom.
UNREAD = frozenset({
    "script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "svg",
    "canvas", "audio", "video", "map", "link", "base", "meta", "title", "head", "button", "input",
    "select", "textarea", "datalist", "progress", "meter", "dialog", "-comment", "-doctype",
})  # fmt: skip
# Hidden by an attribute, or by the class names that Bootstrap, WordPress and Drupal give to text
# for screen readers alone; the last is Sphinx's pilcrow beside a heading.
_HIDDEN = (
    "[hidden],[aria-hidden=true],.sr-only,.visually-hidden,.screen-reader-text,.element-invisible,"
    "a.headerlink"
)
_HIDING_STYLE = re.compile(
    r"""display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)
    |(?<![-\w])opacity\s*:\s*[0.]+\s*(?:[;!]|$)
    |font-size\s*:\s*[0.]+(?:px|pt|r?em|%|ex|vw)?\s*(?:[;!]|$)
    |(?:left|right|top|bottom|indent)\s*:\s*-\s*(?:\d{4}|[5-9]\d\d)
    |clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?
    |clip-path\s*:\s*inset\(\s*(?:50|100)%
    |transform\s*:\s*scale\(\s*0\s*[,)]""",
    re.IGNORECASE | re.VERBOSE,
)
# Control characters that no text needs; `wording` uses three of them for its own marks.
_CONTROLS = bytes((*range(9), 11, *range(14, 32), 127))
# Attributes of one tag are compared with one another: 50,000 of them take the parser 7 seconds.  A tag
# of more than 500 loses them; only pages that could hold enough to matter are looked through.
_OVERLOADED_TAG = re.compile(
    r"(<[A-Za-z]\w{0,20})(?:\s+[^\s<>=]{1,100}(?:=[^\s<>]{0,200})?+){500,}+[^<>]*+>?+"
)
_LONG_PAGE = 50_000
# Rules of a page's own style sheet that hide a class or an id outright.  Rules inside "@media" do
# not match: a brace stands before the first of them.
_HIDING_RULE = re.compile(
    r"(?:^|\})\s*([^{}@]{1,300})\{[^{}]{0,300}?(?:display\s*:\s*none|visibility\s*:\s*hidden)",
    re.IGNORECASE,
)
_SIMPLE_SELECTOR = re.compile(r"[.#][A-Za-z_][\w-]{0,60}")
# The most rules of a style sheet that are looked up (each is a walk over the tree), and the most
# of its text that is read.
_MOST_RULES = 50
_MOST_STYLE = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Markup:
    """A page's tree, and which of its elements a reader does not see or is shown as struck out."""

    tree: LexborHTMLParser
    body: LexborNode
    unseen: frozenset[int]  # by `mem_id`; their descendants are not listed
    struck: frozenset[int]


class Walk:
    """A walk over an element in document order: each node once on entering and once on leaving.

    Text comes on entering alone; what is unread or unseen does not come at all.
    """

    def __init__(self, root: LexborNode, unseen: frozenset[int] = frozenset()) -> None:
        self._root = root
        self._unseen = unseen
        self._descend = True
        self.passed: list[LexborNode] = []  # the hidden elements that were met

    def pass_over(self) -> None:
        """Do not go into the element just entered; it will not be left either."""
        self._descend = False

    def __iter__(self) -> Iterator[tuple[LexborNode, str, bool]]:
        """Yield (node, tag, whether it is entered) below the root, the root not included."""
        unseen = self._unseen
        end = self._root.mem_id
        node = self._root.child
        while node is not None:
            tag = node.tag or ""
            if tag == "-text":
                yield node, tag, True
            elif tag not in UNREAD:
                if unseen and node.mem_id in unseen:
                    self.passed.append(node)
                else:
                    yield node, tag, True
                    if self._descend:
                        child = node.child
                        if child is not None:
                            node = child
                            continue
                        yield node, tag, False
                    self._descend = True
            following = node.next
            while following is None:
                node = node.parent
                if node is None or node.mem_id == end:
                    return
                yield node, node.tag or "", False
                following = node.next
            node = following


def read_markup(html: str) -> Markup:
    """Return the tree of a page or of a part of one; nothing is too broken for it.

    Raises Unparsable for no characters at all.
    """
    if len(html) > _LONG_PAGE:
        html = _OVERLOADED_TAG.sub(r"\1>", html)
    tree = LexborHTMLParser(html.encode("utf-8", "replace").translate(None, _CONTROLS))
    body = tree.body or tree.root  # a frameset has no body
    if body is None:
        raise Unparsable("The page is empty: fetch it again.")
    hiding = [_HIDDEN, *_hiding_rules(tree)]
    unseen = {node.mem_id for selector in hiding for node in tree.css(selector)}
    struck = set()
    if "style=" in html:
        for node in tree.css("[style]"):
            style = node.attributes.get("style") or ""
            if _HIDING_STYLE.search(style):
                unseen.add(node.mem_id)
            elif "line-through" in style:
                struck.add(node.mem_id)
    # A page caught behind a dialog marks its whole body so.
    unseen.discard(body.mem_id)
    return Markup(tree=tree, body=body, unseen=frozenset(unseen), struck=frozenset(struck))


def attribute(node: LexborNode, name: str) -> str:
    """Return an attribute's value, "" if it is absent or empty."""
    return node.attributes.get(name) or ""


def _hiding_rules(tree: LexborHTMLParser) -> tuple[str, ...]:
    selectors: dict[str, None] = {}
    for style in tree.css("style"):
        for rule in _HIDING_RULE.finditer(style.text()[:_MOST_STYLE]):
            for part in rule[1].split(","):
                if _SIMPLE_SELECTOR.fullmatch(part.strip()):
                    selectors[part.strip()] = None
    return tuple(selectors)[:_MOST_RULES]

"""Pages that stand in place of the page: bot walls, error pages, logins, shells, menus.  Pure.

Two kinds of evidence.  Marks of a guard's own machinery in the markup name the vendor; a
site may carry them on good pages, too (most sites behind Cloudflare do), so that they count
only where the page says little itself.  Wording counts by what such a page must say to its
reader ("prove that you are human", "this page does not exist"), in whatever words; two weak
signs make one strong.  Both are silent on a page that reads like law.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice

from appliance.corpus.objection import Objection
from appliance.corpus.pages import Page, page_of_markdown

# A wall's own words are few: the longest real one at hand, Cloudflare's captcha page, has 1,050
# characters.  Of 54,035 real sections, 16,000 are shorter, so that length alone says nothing.
_SHORT = 2_500
# Below this a page has nothing to say (the bound for navigation stubs).
_LITTLE = 200
# Without a strong sign so many weak ones are needed, and few words around them: law, too, speaks of
# security, denial and error.
_WEAK_ALONE = 3
_WEAK_LENGTH = 600
# How law speaks, and walls do not.  One such word in so many characters, up to three, make a page law.
# ("Ordinance" and "chapter" are not among them: "the ordinance that you asked for was not found".)
_LAW_EVERY = 500
_MOST_LAW_WORDS = 3
_LAW = re.compile(
    r"\b(?:shall|pursuant|hereby|thereof|therein|herein|hereinafter|subsections?|notwithstanding|aforesaid"
    r"|ord\. no\.|amended|means any|(?:sec(?:tion)?s?\.?|chapters?|articles?) [\dIVX]+[\d.-]*)\b|§",
    re.IGNORECASE,
)


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# ------------------------------------------------------------------ the signs


@dataclass(frozen=True, slots=True)
class _Family:
    """How pages of one kind speak."""

    objection: Objection
    sentence: str
    strong: re.Pattern[str]
    weak: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Signs:
    """What `walls.toml` holds."""

    guards: tuple[tuple[str, re.Pattern[str]], ...]
    families: tuple[_Family, ...]
    headlines: re.Pattern[str]
    stale: re.Pattern[str]
    visitor: re.Pattern[str]
    matter: re.Pattern[str]


def _signs() -> _Signs:
    held = tomllib.loads(files("appliance.corpus").joinpath("walls.toml").read_text("utf-8"))
    words = {f"<{name}>": pattern for name, pattern in held["words"].items()}

    def pattern(signs: list[str]) -> re.Pattern[str]:
        text = "|".join(signs)
        for name, meaning in words.items():
            text = text.replace(name, meaning)
        return re.compile(text, re.IGNORECASE | re.MULTILINE)

    return _Signs(
        guards=tuple((name, pattern(marks)) for name, marks in held["guards"].items()),
        families=tuple(
            _Family(
                Objection(f["objection"]), f["sentence"], pattern(f["strong"]), pattern(f["weak"])
            )
            for f in held["family"]
        ),
        headlines=pattern(held["headlines"]["whole"]),
        stale=pattern(held["notices"]["stale"]),
        visitor=pattern(held["few_words"]["visitor"]),
        matter=pattern(held["few_words"]["matter"]),
    )


_SIGNS = _signs()

# Few words may still be a whole notice ("A fence permit costs $50."); these are not.
_SENTENCE = re.compile(r"[A-Z][^.!?]{15,}[.!](?:\s|$)")


# ------------------------------------------------------------------ the rules


def wall_of(page: Page) -> str | None:
    """Return the reason why this is not the page that was asked for, or None."""
    if reads_like_law(page.text):
        return _bare(page)
    short = len(page.text) < _SHORT
    if short and (reason := _guarded(page)):
        return reason
    if (short or _headline_of(page)) and (reason := _worded(page)):
        return reason
    if reason := _headline_of(page):
        return Objection.SOFT_404.because(f"its headline says {reason!r}")
    return _bare(page)


def reads_like_law(text: str) -> bool:
    """Tell whether the text has as many words of law as its length lets expect."""
    wanted = min(_MOST_LAW_WORDS, 1 + len(text) // _LAW_EVERY)
    return sum(1 for _ in islice(_LAW.finditer(text), wanted)) == wanted


def _guarded(page: Page) -> str | None:
    """Judge a page with little text by the marks of a guard; a captcha may also stand by a form."""
    guard = next((name for name, marks in _SIGNS.guards if marks.search(page.markup)), None)
    if guard is None:
        return None
    says = any(any(_weight(f, page)) for f in _SIGNS.families if f.objection is Objection.BOT_WALL)
    if says or len(page.text) < _LITTLE:
        return Objection.BOT_WALL.because(f"{guard} challenge instead of the page")
    return None


def _worded(page: Page, enough: int = 2) -> str | None:
    """Return the reason of the family whose wording weighs most, the earlier of equals."""
    weights = {family.objection: _weight(family, page) for family in _SIGNS.families}
    best = max(_SIGNS.families, key=lambda f: 2 * weights[f.objection][0] + weights[f.objection][1])
    strong, weak = weights[best.objection]
    if page.password and strong < 2:
        return Objection.LOGIN_WALL.because("the page is a form that asks for a password")
    alone = weak >= _WEAK_ALONE and len(page.text) < _WEAK_LENGTH
    if (strong or alone) and 2 * strong + weak >= enough:
        return best.objection.because(best.sentence)
    return None


def _weight(family: _Family, page: Page) -> tuple[int, int]:
    """Return how many strong and how many weak signs of the family the page shows."""
    said = "\n".join(
        (page.title, *page.headings[:3], _own_words(page)[:_SHORT], page.noscript[:300])
    )
    strong = {m[0].casefold() for m in family.strong.finditer(said)}
    weak = {m[0].casefold() for m in family.weak.finditer(said)}
    return len(strong), len(weak)


def _headline_of(page: Page) -> str | None:
    lines = (page.title, *page.headings[:1])
    return next((line[:80] for line in lines if _SIGNS.headlines.search(line)), None)


def _own_words(page: Page) -> str:
    """Return the text without its headings, which may be good where the text is not."""
    text = page.text
    for heading in page.headings:
        text = text.replace(heading, "", 1)
    return text.strip()


def _bare(page: Page) -> str | None:
    """Judge a page that says next to nothing: a frame, a menu, or too few words."""
    text = _own_words(page)
    if page.mount and len(text) < _LITTLE:
        return Objection.APP_SHELL.because("an application's empty frame was saved, not its text")
    if page.scripts and not text and not page.links:
        return Objection.APP_SHELL.because("the page holds only scripts")
    if len(text) < _LITTLE and not _says_something(text):
        return Objection.NAVIGATION.because(
            f"{len(text):,} characters, and no whole sentence about anything but the site"
        )
    return None


def _says_something(text: str) -> bool:
    """Tell whether few words are a whole sentence, and about more than the site and its visitor."""
    if not _SENTENCE.search(text):
        return False
    return (
        reads_like_law(text)
        or not _SIGNS.visitor.search(text)
        or _SIGNS.matter.search(text) is not None
    )


# ------------------------------------------------------------------ records

# No wall is told in fewer characters than "Access denied".
_SHORTEST_WALL, _LONGEST_WALL = 12, 1_500
# A record is only turned away for wording that weighs more than twice what a page is turned away for.
_CERTAIN = 5
# One of these is in every wall's words; law without them, which is nearly all, is passed at once.
_OF_PAGES = (
    *(
        "brows",
        "script",
        "cookie",
        "captcha",
        "robot",
        " bot",
        "denied",
        "blocked",
        "forbidden",
        "not found",
    ),
    *(
        "page",
        " url",
        "website",
        "web site",
        "error",
        "unavailable",
        "maintenance",
        "password",
        "log in",
    ),
    *(
        "login",
        "sign in",
        "loading",
        "verif",
        "invalid",
        "unusual traffic",
        "not exist",
        "not configured",
    ),
)


def wall_in_record(body: str) -> str | None:
    """Return the reason why a record's text is surely a wall and no law, or None."""
    if not _SHORTEST_WALL <= len(body) < _LONGEST_WALL or "shall" in body or "§" in body:
        return None
    folded = body.casefold()
    if not any(word in folded for word in _OF_PAGES) or _LAW.search(body):
        return None
    return _worded(page_of_markdown(body), _CERTAIN)


# ------------------------------------------------------------------ menus

# City pages at hand are links by up to .72 of their text, contents lists by .88 and more.
_MENU_SHARE = 0.8


def menu_of(page: Page, link_share: float = 0.0) -> str | None:
    """Return the reason why the page is only a menu or a list of links, or None.

    `link_share` is what the parser of the page saw before it took the links out.
    """
    share = max(page.link_share, link_share)
    if page.links >= 5 and (len(page.text) < _LITTLE or share > _MENU_SHARE):
        return Objection.NAVIGATION.because(
            f"{page.links:,} links and {len(page.text):,} characters of text beside them"
        )
    return None


# ------------------------------------------------------------------ notices of age

_TOP, _BOTTOM = 800, 400  # where pages say it


def outdated(text: str) -> str | None:
    """Say by which words of its own the text is an archived or replaced version."""
    ends = text if len(text) <= _TOP + _BOTTOM else f"{text[:_TOP]}\n\n{text[-_BOTTOM:]}"
    notice = _SIGNS.stale.search(ends)
    return f"it says so itself: “{' '.join(notice[0].split())[:100]}”" if notice else None

"""Breaks good documents on purpose: one fault of a named kind at a time.  Pure and seeded.

Every kind takes a good text and a source of chance, and draws wording, vendor, place and extent
from it, so that no two faults of a kind are alike.  The wording in `faults.toml` was written after
the gate's and apart from it: this module does not know the gate's rules, nor which fault it finds.
"""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from appliance.corpus.gate import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Good:
    """A sound document to be broken."""

    title: str
    body: str
    city: str  # whose law it is: "San Mateo, CA"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A broken document, and what was accepted before it where the fault is a copy of that."""

    candidate: Candidate
    before: Candidate | None = None


Break = Callable[[Good, Random], Fault]


@cache
def _wording() -> Mapping[str, Any]:
    return tomllib.loads(files("benchmarks").joinpath("faults.toml").read_text("utf-8"))


# ------------------------------------------------------------------ pages in place of the page


def _page_instead(kind: str) -> Break:
    """Return the fault that serves a page of this kind of wording instead of the document."""

    def broken(good: Good, random: Random) -> Fault:
        title, said = (_filled(t, good, random) for t in random.choice(_wording()[kind]["pages"]))
        if random.random() < 0.25:  # what a text extractor leaves of it
            return Fault(candidate=Candidate(body=f"# {title}\n\n{said}\n", title=title))
        return Fault(candidate=_web(title, _blocks(said, random), random))

    return broken


def _filled(text: str, good: Good, random: Random) -> str:
    city = good.city.split(",")[0]
    values = {
        "city": f"City of {city}",
        "host": f"www.{city.lower().replace(' ', '')}.gov",
        "id": f"{random.getrandbits(64):016x}",
        "ip": ".".join(str(random.randrange(1, 255)) for _ in range(4)),
        "n": str(random.randrange(10, 99)),
    }
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _blocks(said: str, random: Random) -> str:
    """Return sentences as markup, in one piece or several."""
    tag = random.choice(("p", "div", "span", "h2"))
    pieces = re.split(r"(?<=[.!?]) ", said) if random.random() < 0.5 else [said]
    return "\n".join(f"<{tag}>{html.escape(piece)}</{tag}>" for piece in pieces)


def _web(title: str, inside: str, random: Random, *, body: str | None = None) -> Candidate:
    """Return a web page as a browser would save it, with a site's menu around it or without."""
    menu = _menu(random, random.randrange(6, 40)) if random.random() < 0.4 else ""
    script = f"<script src='/assets/{random.getrandbits(32):x}.js'></script>"
    markup = (
        f"<!DOCTYPE html>\n<html lang='en'><head><title>{html.escape(title)}</title>"
        f"{script * random.randrange(3)}</head>\n<body>{menu}<main><h1>{html.escape(title)}</h1>\n"
        f"{inside}</main></body></html>"
    )
    words = html.unescape(re.sub(r"<[^>]+>", " ", inside))
    return Candidate(body=words if body is None else body, title=title, markup=markup)


def _menu(random: Random, links: int) -> str:
    labels = random.choices(_wording()["menus"]["labels"], k=links)
    items = "".join(f"<li><a href='/{random.getrandbits(20):x}'>{x}</a></li>" for x in labels)
    return random.choice(("<nav><ul>{}</ul></nav>", "<div class='menu'><ul>{}</ul></div>")).format(
        items
    )


def _shell(good: Good, random: Random) -> Fault:
    mount = random.choice((
        "<div id='root'></div>", "<app-root></app-root>", "<div id='__next'></div>",
        "<my-library></my-library>", "<div id='municipal-viewer'></div>", "<div data-view='codes'></div>",
        "<div id='app'><div class='spinner'></div></div>", "<div id='content'>Loading…</div>",
        "<noscript>This application works best with JavaScript enabled.</noscript><div id='mount'></div>",
        "<div ng-view></div>",
    ))  # fmt: skip
    bundle = f"<script src='/static/main.{random.getrandbits(32):x}.js'></script>"
    inside = mount + bundle * random.randrange(1, 6)
    title = random.choice((good.title, "Code Library", "Online Codes", ""))
    head = f"<head><title>{html.escape(title)}</title></head>"
    markup = f"<!doctype html><html>{head}<body>{inside}</body></html>"
    return Fault(candidate=Candidate(body="", title=title, markup=markup))


def _links_only(good: Good, random: Random) -> Fault:
    links = random.randrange(6, 120)
    if random.random() < 0.5:
        labels = random.choices(_wording()["menus"]["labels"], k=links)
        lines = [f"- [{x}](/{random.getrandbits(20):x})" for x in labels]
        return Fault(
            candidate=Candidate(body="\n".join([f"# {good.title}", *lines]), title=good.title)
        )
    return Fault(candidate=_web(good.title, _menu(random, links), random))


def _few_words(good: Good, random: Random) -> Fault:
    said = random.choice((
        "Home > Departments > Building", "Please choose a chapter from the list on the left.",
        "Skip to main content", "Updated {n} days ago", "Chapter {n}", "Coming soon", "Print | Share",
        "Welcome to the code of {city}. Select a title to begin.", "(c) 20{n} {city}", "View PDF ({n} KB)",
        "Contents", "Back to top", "This page is left blank", "TBD", "Building Code", "Loading results",
    ))  # fmt: skip
    text = _filled(said, good, random)
    if random.random() < 0.5:
        return Fault(candidate=Candidate(body=text, title=good.title))
    return Fault(candidate=_web(good.title, f"<p>{html.escape(text)}</p>", random))


# ------------------------------------------------------------------ characters

_TYPESET = (
    ("'", "’"),
    (' "', " “"),
    ('"', "”"),
    ("Section ", "§ "),
    ("Sec. ", "§ "),
    (" - ", " – "),
)


def _typeset(text: str) -> str:
    """Return the text with the typographic characters that codes are set in."""
    for plain, set_ in _TYPESET:
        text = text.replace(plain, set_)
    words = text.split(" ")
    for i in range(0, len(words), 60):  # a defined term in every other paragraph or so
        words[i] = f"“{words[i]}”"
    return " ".join(words)


def _misread(good: Good, random: Random) -> Fault:
    codec = random.choice(("cp1252", "latin-1", "mac_roman", "cp437", "cp1251", "cp1250"))
    text = _typeset(good.body)
    for _ in range(random.choice((1, 1, 2))):
        text = text.encode("utf-8").decode(codec, "replace")
    return Fault(candidate=Candidate(body=text, title=good.title))


def _lost_signs(good: Good, random: Random) -> Fault:
    text = _typeset(good.body)
    mark = random.choice(
        ("\ufffd", "\ufffd\ufffd", "&#xfffd;", "&amp;#8217;", "\\u2019", "=E2=80=99")
    )
    return Fault(
        candidate=Candidate(body=re.sub(r"[^\x00-\x7f]", lambda _: mark, text), title=good.title)
    )


def _binary(good: Good, random: Random) -> Fault:
    at = random.randrange(len(good.body))
    junk = "".join(chr(random.choice((0, 0, 1, 2, 14, 31))) for _ in range(random.randrange(1, 40)))
    return Fault(
        candidate=Candidate(body=good.body[:at] + "\0" + junk + good.body[at:], title=good.title)
    )


def _foreign(good: Good, random: Random) -> Fault:
    sentences = re.split(r"(?<=[.。]) ?", random.choice(_wording()["language"]["texts"]))
    said = [random.choice(sentences) for _ in range(random.randrange(8, 30))]
    heading = good.title if random.random() < 0.5 else ""
    return Fault(candidate=Candidate(body=f"# {heading}\n\n{' '.join(said)}\n", title=heading))


# ------------------------------------------------------------------ ends


def _cut(good: Good, random: Random) -> Fault:
    """Cut the text within a sentence, mostly within a word."""
    body = good.body
    places = [
        m.end()
        for m in re.finditer(r"\b[a-z]{2,}(?: [a-z]+){3,} [a-z]{1,4}", body)
        if m.end() > len(body) // 4 and body[m.end() :].lstrip()[:1] not in ".;:"
    ]
    at = random.choice(places)
    return Fault(candidate=Candidate(body=body[:at], title=good.title))


def _half_file(good: Good, random: Random) -> Fault:
    whole = _web(good.title, _paragraphs(good.body), random)
    markup = whole.markup or ""
    start = markup.index("<main>") + 50
    return Fault(
        candidate=replace(whole, markup=markup[: random.randrange(start, len(markup) - 16)])
    )


def _paragraphs(body: str) -> str:
    return "\n".join(f"<p>{html.escape(line)}</p>" for line in body.split("\n") if line.strip())


def _teaser(good: Good, random: Random) -> Fault:
    sentences = re.split(r"(?<=\.) ", good.body)
    kept = " ".join(sentences[: max(1, len(sentences) // 2)]).rstrip(". \n")
    words = kept.rsplit(" ", random.randrange(1, 3))[0]
    end = random.choice((
        "...", "…", " […]", " [...]", "... Read more", "… Continue reading", "... [Show more]",
        " (continued on next page)", " [truncated]", "... View full text", "... more »",
        " (more...)", " [text truncated at {n} characters]",
    ))  # fmt: skip
    return Fault(candidate=Candidate(body=words + _filled(end, good, random), title=good.title))


def _promised(good: Good, random: Random) -> Fault:
    """Announce sections in a table of contents and hold only some of them."""
    parts = random.randrange(5, 25)
    chapter = f"{random.randrange(1, 40)}.{random.randrange(1, 99):02}"
    names = random.choices(_wording()["menus"]["labels"], k=parts)
    numbers = [f"{chapter}.{10 * (i + 1):03}" for i in range(parts)]
    lead = random.choice(("Sections:", "Contents", "## Table of Contents", "**Contents**"))
    listed = [
        f"{random.choice(('- ', ''))}{n} {name}." for n, name in zip(numbers, names, strict=True)
    ]
    kept = sorted(random.sample(range(parts), random.randrange(1, max(2, parts * 2 // 3))))
    held = [f"## {numbers[i]} {names[i]}\n\n{good.body[:400].rsplit('.', 1)[0]}.\n" for i in kept]
    body = "\n".join([f"# {good.title}", "", lead, "", *listed, "", *held])
    return Fault(candidate=Candidate(body=body, title=good.title))


# ------------------------------------------------------------------ copies


def _accepted(good: Good) -> Candidate:
    return Candidate(body=good.body, title=good.title, name="the first copy")


def _again(good: Good, random: Random) -> Fault:
    change: Callable[[str], str] = random.choice(
        (
            str,
            lambda t: t.replace("\n", "\n\n"),
            lambda t: re.sub(r" +", "  ", t),
            lambda t: f"{t}\n\n",
        )
    )
    title = random.choice((good.title, f"{good.title} (copy)", "Untitled"))
    return Fault(candidate=Candidate(body=change(good.body), title=title), before=_accepted(good))


def _nearly(good: Good, random: Random) -> Fault:
    """Change about one word in a hundred, or add a banner."""
    words = good.body.split(" ")
    if random.random() < 0.3:
        banner = f"Printed from the city's site. {good.title}.\n\n"
        return Fault(
            candidate=replace(_accepted(good), body=banner + good.body), before=_accepted(good)
        )
    for i in random.sample(range(len(words)), max(1, len(words) // 100)):
        words[i] = random.choice(("any", "the", "each", "such", "applicable", "required"))
    return Fault(candidate=replace(_accepted(good), body=" ".join(words)), before=_accepted(good))


def _other_numbers(good: Good, random: Random) -> Fault:
    share = random.choice((0.1, 0.3, 0.6, 1.0))
    first = True

    def changed(match: re.Match[str]) -> str:
        nonlocal first
        if not first and random.random() > share:
            return match[0]
        first = False
        return str(int(match[0]) + random.randrange(1, 90))

    body = re.sub(r"(?<!\d)\d{1,4}(?!\d)", changed, good.body)
    title = re.sub(r"\d+", changed, good.title) if random.random() < 0.5 else good.title
    return Fault(candidate=Candidate(body=body, title=title), before=_accepted(good))


# ------------------------------------------------------------------ place, tables, age


def _elsewhere(good: Good, random: Random) -> Fault:
    """File the text under a city that is not its own, or put another city's name in it."""
    own = good.city.split(",")[0].removesuffix(" County")
    other = random.choice([name for name in _wording()["places"]["names"] if name != own])
    if random.random() < 0.5:
        return Fault(candidate=Candidate(body=good.body, title=good.title, city=f"{other}, VA"))
    body = re.sub(re.escape(own), other, good.body, flags=re.IGNORECASE)
    return Fault(candidate=Candidate(body=body, title=good.title, city=good.city))


def _flattened(good: Good, random: Random) -> Fault:
    """Show a table in the page that the text has lost, or has run together."""
    rows = [
        [
            random.choice(("R", "C", "M", "PD")) + f"-{i}",
            *(str(random.randrange(5, 9_000)) for _ in range(3)),
        ]
        for i in range(random.randrange(2, 20))
    ]
    head = "<tr><th>District</th><th>Lot area</th><th>Width</th><th>Height</th></tr>"
    table = "".join(f"<tr>{''.join(f'<td>{c}</td>' for c in row)}</tr>" for row in rows)
    run_together = " ".join(" ".join(row) for row in rows) if random.random() < 0.5 else ""
    inside = f"{_paragraphs(good.body)}<table>{head}{table}</table>"
    return Fault(candidate=_web(good.title, inside, random, body=f"{good.body}\n\n{run_together}."))


def _outdated(good: Good, random: Random) -> Fault:
    notice = _filled(random.choice(_wording()["stale"]["notices"]), good, random)
    where = random.choice(("top", "top", "below the title", "bottom"))
    body = {
        "top": f"{notice}\n\n{good.body}",
        "below the title": f"# {good.title}\n\n**{notice}**\n\n{good.body}",
        "bottom": f"{good.body}\n\n{notice}",
    }[where]
    return Fault(candidate=Candidate(body=body, title=good.title))


FAULTS: Mapping[str, Break] = {
    "challenge": _page_instead("challenge"),
    "refusal": _page_instead("refusal"),
    "missing page": _page_instead("missing"),
    "server failure": _page_instead("failure"),
    "unconfigured site": _page_instead("unconfigured"),
    "login": _page_instead("login"),
    "consent": _page_instead("consent"),
    "fresh wording": _page_instead("fresh"),
    "empty shell": _shell,
    "links only": _links_only,
    "few words": _few_words,
    "misread characters": _misread,
    "lost characters": _lost_signs,
    "binary": _binary,
    "foreign language": _foreign,
    "cut text": _cut,
    "half a file": _half_file,
    "teaser": _teaser,
    "missing parts": _promised,
    "duplicate": _again,
    "near-duplicate": _nearly,
    "other numbers": _other_numbers,
    "wrong city": _elsewhere,
    "lost table": _flattened,
    "outdated": _outdated,
}

# Kinds that the gate was not changed for: what it does with words that nobody thought of.
HELD_OUT: Mapping[str, Break] = {"fresher wording": _page_instead("fresher")}

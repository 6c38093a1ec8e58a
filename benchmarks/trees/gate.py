"""The gate task: the look of a text in, good or broken out.

The learners see only what can be counted in a text; the rules of the gate know phrases, places and
dates besides.  The question is whether a learner would catch what the rules miss.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

from appliance.corpus.gate import Candidate, judge
from benchmarks.faults import FAULTS, Good
from benchmarks.trees.learners import LEARNERS, SMALL, learn_c45, learn_small_lightgbm
from benchmarks.trees.sections import Labelled, labelled_sections
from benchmarks.trees.trial import Case, Outcome, table, tried
from models.trees import Example

Break = Callable[[Good, Random], Candidate]
Spoil = Callable[[Good, Random], str]

_WORD = re.compile(r"[^\W\d_]+")
_STOP = re.compile(
    r"the|of|and|to|in|an?|or|for|be|shall|any|by|as|is|that|such|with|not|this|on|are|at|from|may"
)
_LINK = re.compile(r"\[[^\]\n]*\]\([^)\n]*\)|https?://\S+")
_CODE = re.compile(r"[{}<>;=]")
_MISREAD = re.compile(r"[ÃÂâ][\u0080-\u00bf\u2010-\u2122€]|\ufffd")
_WALLS = re.compile(
    r"javascript|captcha|not a robot|access denied|blocked|not found|cookies|log ?in|redirect|ray id"
)
_MOST = 880  # of each label: forty of every way of breaking
_LONG = 1_500  # a text to cut must hold sentences that end


def look(text: str) -> dict[str, float]:
    """Return what can be counted in a text without knowing what it should be."""
    size = max(1, len(text))
    words = [w.casefold() for w in _WORD.findall(text)]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    counted = max(1, len(words))
    return {
        "characters": float(len(text)),
        "words": float(len(words)),
        "word length": sum(map(len, words)) / counted,
        "different words": len(set(words)) / counted,
        "stop words": sum(_STOP.fullmatch(w) is not None for w in words) / counted,
        "single letters": sum(len(w) == 1 for w in words) / counted,
        "digits": sum(c.isdigit() for c in text) / size,
        "capitals": sum(c.isupper() for c in text) / size,
        "not ASCII": sum(not c.isascii() for c in text) / size,
        "misread": 100 * len(_MISREAD.findall(text)) / size,
        "code": len(_CODE.findall(text)) / size,
        "links": sum(map(len, _LINK.findall(text))) / size,
        "words a line": counted / max(1, len(lines)),
        "repeated lines": 1 - len(set(lines)) / max(1, len(lines)),
        "full stop at the end": float(text.rstrip()[-1:] in {".", ")", ";", ":", '"', "]", "|"}),
        "words of walls": float(len(_WALLS.findall(text.casefold()))),
    }


# ------------------------------------------------------------------ ways of breaking a text


def _script(good: Good, lots: Random) -> str:
    names = lots.choices(_WORD.findall(good.body), k=80)
    return "\n".join(
        f"var {name} = window.{name} || function(e) {{ return e; }};" for name in names
    )


def _spaced(good: Good, _: Random) -> str:
    return " ".join(good.body[:4000].replace(" ", "  "))


def _stuck(good: Good, lots: Random) -> str:
    line = good.body.strip().split("\n")[0][:300]
    return "\n".join([line] * lots.randint(10, 40))


def _shuffled(good: Good, lots: Random) -> str:
    return "".join(lots.sample(good.body[:4000], min(4000, len(good.body))))


def _columns(good: Good, _: Random) -> str:
    """Return half-lines of two places in turn, as a page of two columns is read by a bad reader."""
    words = good.body.split()
    half = len(words) // 2
    pairs = zip(range(0, half, 5), range(half, len(words), 5), strict=False)
    return " ".join(" ".join(words[a : a + 5] + words[b : b + 5]) for a, b in pairs)


# The injector's faults that show in the text; copies, other places and lost tables need more than it.
_SHOWN = (
    "challenge",
    "refusal",
    "missing page",
    "server failure",
    "unconfigured site",
    "login",
    "consent",
    "links only",
    "few words",
    "misread characters",
    "lost characters",
    "binary",
    "foreign language",
    "cut text",
    "teaser",
    "missing parts",
    "outdated",
)


def _injected(name: str) -> Break:
    return lambda good, lots: replace(FAULTS[name](good, lots).candidate, markup=None)


def _spoilt(spoil: Spoil) -> Break:
    return lambda good, lots: Candidate(body=spoil(good, lots), title=good.title)


BREAKS: dict[str, Break] = {
    **{name: _injected(name) for name in _SHOWN},
    "script": _spoilt(_script),
    "letters apart": _spoilt(_spaced),
    "one line again and again": _spoilt(_stuck),
    "letters shuffled": _spoilt(_shuffled),
    "columns read across": _spoilt(_columns),
}


# ------------------------------------------------------------------ the trial


def report(corpus: Path) -> str:
    """Return the table of the learners and of the gate's own rules, and what each break costs."""
    found = cases(labelled_sections(corpus))
    outcomes = tried(found, {**LEARNERS, SMALL: learn_small_lightgbm})
    good = sum(c.label == "good" for c in found)
    head = f"{good} good and {len(found) - good} broken texts, {len(BREAKS)} ways of breaking."
    return "\n\n".join(
        [head, table(outcomes, len(found)), _blocked(outcomes, good), _unseen(found)]
    )


def cases(sections: list[Labelled]) -> list[Case]:
    """Return each of some sections whole, and broken in one way, the ways in turn."""
    long = [s for s in sections if len(s.body) >= _LONG]
    chosen = long[:: max(1, len(long) // _MOST)][:_MOST]
    ways = list(BREAKS.items())
    found = []
    for number, section in enumerate(chosen):
        way, broken = ways[number % len(ways)]
        good = Good(title=section.heading, body=section.body, city=section.place)
        whole = Candidate(body=section.body, title=section.heading)
        found.append(_case(whole, section.place, "good"))
        # A seed of its own makes every case the same in every run.
        spoilt = broken(good, Random(number))  # noqa: S311
        found.append(_case(spoilt, section.place, "broken", way))
    return found


def _case(candidate: Candidate, place: str, label: str, way: str = "") -> Case:
    return Case(
        place=place,
        row=look(candidate.body),
        label=label,
        ruled="broken" if judge(candidate) else "good",
        way=way,
    )


def _blocked(outcomes: Mapping[str, Outcome], good: int) -> str:
    """Return how many good texts each would turn away: the gate may lose one in a hundred."""
    lost = {
        name: sum(counts["good", "broken"] for counts in outcome.confusions.values())
        for name, outcome in outcomes.items()
    }
    told = ", ".join(f"{name} {n}" for name, n in sorted(lost.items(), key=lambda item: item[1]))
    return f"Good texts turned away, of {good}: {told}."


def _unseen(found: list[Case]) -> str:
    """Return the share caught of each way of breaking: by the rules, and by trees that never saw it."""
    lines = [
        "| broken by | n | gate's rules | C4.5, never saw it | LightGBM, small, never saw it |"
    ]
    lines.append("|---|---|---|---|---|")
    for way in BREAKS:
        held = [c for c in found if c.way == way]
        rest = [Example(row=c.row, label=c.label) for c in found if c.way != way]
        ruled = sum(c.ruled == "broken" for c in held)
        caught = [
            learn(rest).judge([c.row for c in held]).count("broken")
            for learn in (learn_c45, learn_small_lightgbm)
        ]
        shares = " | ".join(f"{n / len(held):.2f}" for n in (ruled, *caught))
        lines.append(f"| {way} | {len(held)} | {shares} |")
    return "\n".join(lines)

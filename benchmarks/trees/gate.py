"""The gate task: the look of a text in, good or broken out.

The learners see only what can be counted in a text; the rules of the gate know phrases, places and
dates besides.  The question is whether a learner would catch what the rules miss.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from appliance.corpus.gate import Candidate, judge
from benchmarks.trees.learners import LEARNERS, SMALL, learn_c45, learn_small_lightgbm
from benchmarks.trees.sections import Labelled, labelled_sections
from benchmarks.trees.trial import Case, Outcome, table, tried
from models.trees import Example

Break = Callable[[str, Random], str]

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
_MOST = 400  # of each label: enough for an interval, and the rules of the gate take their time


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


def _cut(body: str, lots: Random) -> str:
    return body[: int(len(body) * lots.uniform(0.3, 0.9))].rstrip(' .;:)]|"\n')


def _wall(_: str, lots: Random) -> str:
    opening = lots.choice(
        ["Attention required!", "One more step", "Checking your browser", "Access denied"]
    )
    asks = lots.choice(
        [
            "Please complete the captcha.",
            "You have been blocked.",
            "Enable cookies and reload the page.",
        ]
    )
    return f"{opening}\n\n{asks}\n\nRay ID: {lots.getrandbits(48):x}\n" * lots.randint(1, 3)


def _shell(_: str, lots: Random) -> str:
    return lots.choice(
        [
            "You need to enable JavaScript to run this app.",
            "Loading...\n\nPlease wait while the application starts.",
            "Skip to main content\n\nThis site requires JavaScript.\n\nTop",
        ]
    )


def _lost(_: str, lots: Random) -> str:
    apology = lots.choice(
        ["The page you requested was not found.", "Sorry, this page has moved or no longer exists."]
    )
    return f"# Page not found\n\n{apology}\n\nReturn to the home page or search the site.\n"


def _menu(body: str, lots: Random) -> str:
    words = _WORD.findall(body)
    names = [
        " ".join(lots.choices(words, k=lots.randint(1, 3))).title()
        for _ in range(lots.randint(20, 60))
    ]
    return "\n".join(f"- [{name}](/{name.casefold().replace(' ', '-')})" for name in names)


def _misread(body: str, _: Random) -> str:
    quoted = body.replace("'", "’").replace('"', "“").replace("Sec", "§").replace(", ", " – ")
    return quoted.encode().decode("cp1252", "replace")


def _script(body: str, lots: Random) -> str:
    names = lots.choices(_WORD.findall(body), k=80)
    return "\n".join(
        f"var {name} = window.{name} || function(e) {{ return e; }};" for name in names
    )


def _spaced(body: str, _: Random) -> str:
    return " ".join(body[:4000].replace(" ", "  "))


def _stuck(body: str, lots: Random) -> str:
    line = body.strip().split("\n")[0][:300]
    return "\n".join([line] * lots.randint(10, 40))


def _shuffled(body: str, lots: Random) -> str:
    return "".join(lots.sample(body[:4000], min(4000, len(body))))


def _columns(body: str, _: Random) -> str:
    """Two columns read across: every other half-line of two places of the text."""
    words = body.split()
    half = len(words) // 2
    pairs = zip(range(0, half, 5), range(half, len(words), 5), strict=False)
    return " ".join(" ".join(words[a : a + 5] + words[b : b + 5]) for a, b in pairs)


BREAKS: dict[str, Break] = {
    "cut off": _cut,
    "bot wall": _wall,
    "empty shell": _shell,
    "soft 404": _lost,
    "menu only": _menu,
    "mojibake": _misread,
    "script": _script,
    "letters apart": _spaced,
    "one line again and again": _stuck,
    "letters shuffled": _shuffled,
    "columns read across": _columns,
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
    chosen = sections[:: max(1, len(sections) // _MOST)][:_MOST]
    ways = list(BREAKS.items())
    found = []
    for number, section in enumerate(chosen):
        way, broken = ways[number % len(ways)]
        text = broken(section.body, Random(number))  # noqa: S311 - repeatable, no secret
        found.append(_case(section.body, section, "good"))
        found.append(_case(text, section, "broken", way))
    return found


def _case(text: str, section: Labelled, label: str, way: str = "") -> Case:
    reasons = judge(Candidate(body=text, title=section.heading))
    return Case(
        place=section.place,
        row=look(text),
        label=label,
        ruled="broken" if reasons else "good",
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

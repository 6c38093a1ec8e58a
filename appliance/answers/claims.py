"""A text to its sentences, and a sentence to what is wrong with it.  Pure.

A claim is one sentence (or line of a list) of an answer.  One that states a rule, or a number, and that
no proven quote carries is withheld from the reader: a wrong answer is worse than a shorter one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from appliance.answers.harmless import foreign, strays
from appliance.answers.numbers import trace_numbers, untraced
from appliance.corpus.references import find_references
from appliance.corpus.words import terms
from appliance.domain import Citation, Flag, Span

MOST_CITATIONS = 2  # of a claim; "[1][2]…[12]" says no more than its best two

# How proofs stand in a draft while it is checked: private characters, which no draft may bring along.
PROVEN = re.compile("(?<![ \t])[ \t]*+\ue000(\\d+)\ue001")
FAILED = "\ue002"
PRIVATE = str.maketrans("", "", "\ue000\ue001\ue002")

# What ends a sentence, with the quotation marks and proofs that belong to it; and a line before the
# next of a list, or before an empty one.
_END = re.compile(
    r"[.!?]++[\"'”’)]*+(?:[ \t]*+(?:\ue000\d+\ue001|\ue002))*+(?=\s|\Z)"
    r"|\n(?=[ \t]{0,20}(?:[-*•]|\d{1,3}[.)]|\n))"
)
# A full stop after these ends no sentence, or none if a number follows: "Sec. 4", "No. 12".
_ABBREVIATED = re.compile(
    r"(?<![^\W_])(?:subsec|admin|approx|e\.g|i\.e|cf|vs|mr|mrs|ms|dr|st|[a-z])\.\Z", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"(?<![^\W_])(?:secs?|nos?|arts?|chs?|figs?|tits?|apps?|pts?|paras?|subsecs?|ords?)\.\Z",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\s+(?:\W?\d|[A-Z]{1,2}\b)")
_SMALL = re.compile(r"\s+[a-z]")  # "4 ft. in height"
# The number of a list's line.
_LISTED = re.compile(r"\A\s*(?:step\s+)?\d{1,3}[.):]\s+", re.IGNORECASE)
_RULE = re.compile(
    r"\b(?:must|shall|may(?:\s+not|\s+only)?|can(?:not|not|'t)?|need(?:s|ed)?|require[sd]?|prohibit\w*"
    r"|permitted|allowed|forbidden|exempt\w*|limit\w*|minimum|maximum|at\s+(?:least|most)|not\s+(?:less|more|exceed)\w*"
    r"|no\s+(?:more|less|fewer)\s+than|up\s+to|unlawful|illegal|legal|subject\s+to|have\s+to|has\s+to)\b",
    re.IGNORECASE,
)


def sentences(text: str) -> list[Span]:
    """Return the sentences and lines of a text, with what follows each; together they are the text."""
    spans, start = [], 0
    for end in _ends(text):
        spans.append(Span(start=start, end=end))
        start = end
    if start < len(text):
        spans.append(Span(start=start, end=len(text)))
    return spans


def _ends(text: str) -> Iterator[int]:
    at = 0
    while found := _END.search(text, at):
        at = found.end()
        while at < len(text) and text[at].isspace():
            at += 1
        if found[0] == "\n" or at == len(text) or not _goes_on(text, found, at):
            yield at


def _goes_on(text: str, stop: re.Match[str], after: int) -> bool:
    """Tell whether a full stop is only that of an abbreviation."""
    if "\n" in text[stop.end() : after]:
        return False
    head = text[max(0, stop.start() - 12) : stop.start() + 1]
    if _ABBREVIATED.search(head) or _SMALL.match(text, stop.end()):
        return True
    return bool(_NUMBERED.search(head) and _NUMBER.match(text, stop.end()))


def states_a_rule(sentence: str) -> bool:
    """Tell whether a sentence says what must, may or need not be: such a sentence needs proof."""
    return _RULE.search(sentence) is not None


def faults(
    sentence: str,
    own: Sequence[Citation],
    others: Sequence[Citation],
    *,
    failed: bool,
    known: Collection[tuple[str, str]],
    question: str,
    strange: Sequence[str],
) -> tuple[Flag, ...]:
    """Return what is wrong with a sentence (without its marks) that cites `own`.

    `failed`: a proof of the sentence's was none; `strange` are its figures from nowhere.  A sentence
    without a citation may repeat what the `others` of the answer hold, and any may repeat the question.
    """
    if not sentence:
        return ()
    grounds = (
        question,
        *(t for c in own or others for t in (c.quote, *c.over, c.section.citation)),
    )
    found = []
    if not own and (failed or states_a_rule(sentence)):
        found.append(Flag.UNPROVEN)
    if strange:
        found.append(Flag.UNTRACED_NUMBER)
    if phantoms(sentence, known):
        found.append(Flag.PHANTOM)
    if not own and not found and strays(sentence, grounds):
        found.append(Flag.UNPROVEN)
    if foreign(sentence, grounds):
        found.append(Flag.FOREIGN)
    return tuple(found)


def strange_numbers(sentence: str, citations: Sequence[Citation], question: str) -> tuple[str, ...]:
    """Return the figures of a sentence that stand neither in what is cited nor in the question."""
    said = _LISTED.sub("", sentence)
    return untraced(trace_numbers(said, citations, question=question))


def best(sentence: str, citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Return the citations that share most with the sentence, MOST_CITATIONS of them, in their order."""
    if len(citations) <= MOST_CITATIONS:
        return tuple(citations)
    said = frozenset(terms(sentence))
    shared = [len(said.intersection(terms(c.quote))) for c in citations]
    order = sorted(range(len(citations)), key=lambda i: -shared[i])[:MOST_CITATIONS]
    return tuple(citations[i] for i in sorted(order))


def named_numbers(text: str) -> list[str]:
    """Return the normalised numbers that a text names, for a look-up in the registry."""
    return sorted({r.number for r in find_references(text) if r.kind in ("section", "table")})


def phantoms(text: str, known: Collection[tuple[str, str]]) -> tuple[str, ...]:
    """Return the sections and tables that a text names and the registry does not have, as written."""
    missing = []
    for reference in find_references(text):
        if reference.bare or reference.kind not in ("section", "table"):
            continue
        kinds = {"section": ("section", "chapter", "article"), "table": ("table",)}[reference.kind]
        if not any((kind, reference.number) in known for kind in kinds):
            missing.append(reference.span.of(text))
    return tuple(dict.fromkeys(missing))

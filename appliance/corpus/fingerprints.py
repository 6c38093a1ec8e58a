"""Have we this text already?  Fingerprints of accepted texts, and what a new one is to them.  Pure.

A fingerprint keeps the smallest hashes of the text's five-word runs (Broder's bottom-k
sketch, 1997), in which every number is the same, and the numbers apart.  Texts with the same
runs and other numbers are one page with its numbers changed: what a trap for robots serves
without end.  The same holds for true laws that repeat a form ("R-1 district", "R-2 district"),
so that sections of one code are not compared with one another, only pages and documents.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from datetime import date

from appliance.corpus.objection import Objection
from appliance.domain import Digest, digest_of

_RUN = 5  # words: long enough that runs of two texts agree by copying only
_KEPT = 256  # hashes: an estimate of .95 is off by .014 on average
# Below so many words a text is a form by nature ("This section is reserved."); the same few words of
# two cities are no copy.
FEWEST_WORDS = 80
# Of 30,474 sections of 100 words or more, a pair with other words than numbers that is alike
# by .85 is one form or an older wording of the same section (130 pairs).
_NEAR = 0.85
# A changed number leaves all runs as they are; the rest is for dates written in words.
_SAME = 0.97
_MOST_WORDS = 60_000
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What is kept of an accepted text to know it again."""

    name: str  # how a reason calls it: its file or address
    url: str | None
    effective_from: date | None
    words: int
    digest: Digest  # of the words, so that spacing and marks do not matter
    title: str  # folded, numbers masked
    runs: frozenset[int]
    numbers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The fingerprints of what was accepted; `with_` gives a larger one and changes nothing."""

    fingerprints: tuple[Fingerprint, ...] = ()
    by_digest: dict[Digest, Fingerprint] = field(default_factory=dict)

    def with_(self, fingerprint: Fingerprint) -> Seen:
        """Return what was seen, and this."""
        return Seen(
            fingerprints=(*self.fingerprints, fingerprint),
            by_digest={fingerprint.digest: fingerprint, **self.by_digest},
        )


def fingerprint_of(
    body: str,
    *,
    name: str,
    title: str = "",
    url: str | None = None,
    effective_from: date | None = None,
) -> Fingerprint:
    """Return the fingerprint of a text."""
    words = _WORD.findall(body.casefold())
    masked = ["0" if _is_number(w) else w for w in words[:_MOST_WORDS]]
    return Fingerprint(
        name=name,
        url=url,
        effective_from=effective_from,
        words=len(words),
        digest=digest_of(" ".join(words)),
        title=" ".join("0" if _is_number(w) else w for w in _WORD.findall(title.casefold())),
        runs=_smallest_runs(masked),
        numbers=tuple(w for w in words if _is_number(w)),
    )


def _is_number(word: str) -> bool:
    return any(c.isdigit() for c in word)


def _smallest_runs(words: list[str]) -> frozenset[int]:
    ends = range(_RUN, max(len(words), _RUN) + 1)
    runs = {zlib.crc32(" ".join(words[i - _RUN : i]).encode("utf-8", "replace")) for i in ends}
    return frozenset(sorted(runs)[:_KEPT])


def likeness(one: Fingerprint, other: Fingerprint) -> float:
    """Return about which share of all five-word runs of the two both have (Jaccard)."""
    union = sorted(one.runs | other.runs)[:_KEPT]
    return sum(h in one.runs and h in other.runs for h in union) / max(1, len(union))


def copy_of(new: Fingerprint, seen: Seen) -> str | None:
    """Return the reason why the text is one that was accepted before, or None."""
    if new.words < FEWEST_WORDS:
        return None
    if same := seen.by_digest.get(new.digest):
        return (
            None
            if _later(new, same)
            else Objection.DUPLICATE.because(f"the same text as {same.name}")
        )
    return next((r for old in seen.fingerprints if (r := _copied(new, old))), None)


def _copied(new: Fingerprint, old: Fingerprint) -> str | None:
    if old.words < FEWEST_WORDS or not 0.8 <= new.words / old.words <= 1.25 or _later(new, old):
        return None
    # Nearly all pairs have next to nothing in common, and this is ten times quicker to see.
    if 2 * len(new.runs & old.runs) < min(len(new.runs), len(old.runs)):
        return None
    alike = likeness(new, old)
    changed = sum((Counter(new.numbers) - Counter(old.numbers)).values())
    if alike >= _SAME and changed:
        return Objection.MUTATED_COPY.because(
            f"the same text as {old.name} with {changed:,} of {len(new.numbers):,} numbers changed"
        )
    # Sections of one code that repeat a form have headings of their own.
    if alike >= (_NEAR if new.title == old.title else _SAME):
        return Objection.NEAR_DUPLICATE.because(f"{alike:.0%} the same text as {old.name}")
    return None


def _later(new: Fingerprint, old: Fingerprint) -> bool:
    """Tell whether the text says itself that it is another version: the same law of another day."""
    return None not in (new.effective_from, old.effective_from) and (
        new.effective_from != old.effective_from
    )
